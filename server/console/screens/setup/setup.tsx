import { useState } from 'preact/hooks';
import { go } from '../../base/address.ts';
import { setUp } from '../../base/session.ts';
import { Button } from '../../parts/controls.tsx';
import { Form, TextField } from '../../parts/form.tsx';
import { Mark } from '../../parts/icon.tsx';

/** The first start: the link's token stands behind `#`, which no server sees, and makes the first administrator. */
export function Setup() {
  const [token, setToken] = useState(location.hash.replace(/^#(?:token=)?/, ''));
  const hadToken = useState(token !== '')[0];
  const [name, setName] = useState('admin');
  const [password, setPassword] = useState('');
  const send = async (): Promise<void> => {
    await setUp(token.trim(), name, password);
    go('/send', { replace: true });
  };
  return (
    <main class="center">
      <Form
        {...{ send, class: 'card', labelledBy: 'setup-title' }}
        actions={(isBusy) => (
          <Button kind="main" type="submit" disabled={isBusy}>
            Begin
          </Button>
        )}
      >
        <Mark size={40} />
        <h1 id="setup-title">Welcome to Logseam</h1>
        <p>
          Make the first administrator. Others can be invited later, or read by keys without an
          account.
        </p>
        {!hadToken && (
          <TextField
            label="Set-up token"
            name="token"
            hint="It is in the file setup-token of the data folder."
            value={token}
            required
            set={setToken}
          />
        )}
        <TextField
          label="Name"
          name="name"
          value={name}
          required
          autoComplete="username"
          set={setName}
        />
        <TextField
          label="Password"
          hint="12 to 256 characters"
          name="password"
          type="password"
          value={password}
          required
          autoComplete="new-password"
          set={setPassword}
        />
      </Form>
    </main>
  );
}
