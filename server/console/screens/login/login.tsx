import { useState } from 'preact/hooks';
import { logIn } from '../../base/session.ts';
import { Button } from '../../parts/controls.tsx';
import { Form, TextField } from '../../parts/form.tsx';
import { Mark } from '../../parts/icon.tsx';

/** Logging in, by name and password or by a read key; one stays at the address where one was. */
export function Login() {
  const [byKey, setByKey] = useState(false);
  const [name, setName] = useState('');
  const [secret, setSecret] = useState('');
  const send = (): Promise<void> =>
    logIn(byKey ? { read_key: secret.trim() } : { name, password: secret });
  return (
    <main class="center">
      <Form
        {...{ send, class: 'card', labelledBy: 'login-title' }}
        actions={(isBusy) => (
          <>
            <Button kind="main" type="submit" disabled={isBusy}>
              Log in
            </Button>
            <p class="quiet-text">
              The first user is made by the set-up link, which the service prints when it starts and
              keeps in the file setup-token of its data folder.
            </p>
          </>
        )}
      >
        <Mark size={40} />
        <h1 id="login-title">Logseam</h1>
        <div class="tabs" role="group" aria-label="Way of logging in">
          <Button isOn={!byKey} onClick={() => setByKey(false)}>
            Name and password
          </Button>
          <Button isOn={byKey} onClick={() => setByKey(true)}>
            Read key
          </Button>
        </div>
        {!byKey && (
          <TextField
            label="Name"
            value={name}
            required
            autoComplete="username"
            autocapitalize="off"
            set={setName}
          />
        )}
        <TextField
          label={byKey ? 'Read key' : 'Password'}
          hint={byKey ? 'You see what the key may see, without an account.' : undefined}
          type="password"
          value={secret}
          required
          autoComplete={byKey ? 'off' : 'current-password'}
          set={setSecret}
        />
      </Form>
    </main>
  );
}
