import { useState } from 'preact/hooks';
import { call, Fault } from '../../api/client.ts';
import { say } from '../../base/notice.ts';
import { session } from '../../base/session.ts';
import { Button, TextField } from '../../parts/controls.tsx';

/** One's own account: another password. */
export function Account() {
  const [password, setPassword] = useState('');
  const [next, setNext] = useState('');
  const [fault, setFault] = useState<Fault>();
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await call('POST', '/account/password', { password, new_password: next });
      setPassword('');
      setNext('');
      setFault(undefined);
      say('The password is changed. Other sessions of yours have ended.');
    } catch (error) {
      if (error instanceof Fault) setFault(error);
    }
  };
  return (
    <div class="page narrow">
      <h1>{session.value?.name}</h1>
      {session.value?.type === 'key' ? (
        <p>You have logged in by a read key: it has no password.</p>
      ) : (
        <form class="form" onSubmit={submit}>
          <TextField
            label="Password in force"
            fault={fault?.status === 403 ? fault.message : undefined}
            type="password"
            autoComplete="current-password"
            required
            value={password}
            set={setPassword}
          />
          <TextField
            label="New password"
            hint="12 to 256 characters"
            fault={fault !== undefined && fault.status !== 403 ? fault.message : undefined}
            type="password"
            autoComplete="new-password"
            required
            value={next}
            set={setNext}
          />
          <Button kind="main" type="submit">
            Change the password
          </Button>
        </form>
      )}
    </div>
  );
}
