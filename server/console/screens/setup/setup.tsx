import { useState } from 'preact/hooks';
import { Fault } from '../../api/client.ts';
import { go } from '../../base/address.ts';
import { setUp } from '../../base/session.ts';
import { Button, TextField } from '../../parts/controls.tsx';
import { Mark } from '../../parts/icon.tsx';

/** The first start: the link's token stands behind `#`, which no server sees, and makes the first administrator. */
export function Setup() {
  const [token, setToken] = useState(location.hash.replace(/^#(?:token=)?/, ''));
  const hadToken = useState(token !== '')[0];
  const [name, setName] = useState('admin');
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<Fault>();
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await setUp(token.trim(), name, password);
      go('/send', { replace: true });
    } catch (error) {
      if (error instanceof Fault) setFault(error);
    }
  };
  const about = (word: string): string | undefined =>
    fault?.message.startsWith(word) ? fault.message : undefined;
  return (
    <main class="center">
      <form class="card" onSubmit={submit} aria-labelledby="setup-title">
        <Mark size={40} />
        <h1 id="setup-title">Welcome to Logseam</h1>
        <p>
          Make the first administrator. Others can be invited later, or read by keys without an
          account.
        </p>
        {!hadToken && (
          <TextField
            label="Set-up token"
            hint="It is in the file setup-token of the data folder."
            value={token}
            required
            set={setToken}
          />
        )}
        <TextField
          label="Name"
          fault={about('name')}
          value={name}
          required
          autoComplete="username"
          set={setName}
        />
        <TextField
          label="Password"
          hint="12 to 256 characters"
          fault={about('password')}
          type="password"
          value={password}
          required
          autoComplete="new-password"
          set={setPassword}
        />
        {fault !== undefined && about('name') === undefined && about('password') === undefined && (
          <p class="field-fault" role="alert">
            {fault.message}
          </p>
        )}
        <Button kind="main" type="submit">
          Begin
        </Button>
      </form>
    </main>
  );
}
