import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { say } from '../../base/notice.ts';
import { session } from '../../base/session.ts';
import { Button } from '../../parts/controls.tsx';
import { Form, TextField } from '../../parts/form.tsx';
import { visible } from '../../parts/log-text.tsx';

/** One's own account: another password. */
export function Account() {
  const [password, setPassword] = useState('');
  const [next, setNext] = useState('');
  const send = async (): Promise<void> => {
    await call('POST', '/account/password', { password, new_password: next });
    setPassword('');
    setNext('');
    say('The password is changed. Other sessions of yours have ended.');
  };
  return (
    <div class="page narrow">
      <h1>{visible(session.value?.name ?? '')}</h1>
      {session.value?.type === 'key' ? (
        <p>You have logged in by a read key: it has no password.</p>
      ) : (
        <Form
          send={send}
          actions={(isBusy) => (
            <Button kind="main" type="submit" disabled={isBusy}>
              Change the password
            </Button>
          )}
        >
          <TextField
            label="Password in force"
            name="password"
            type="password"
            autoComplete="current-password"
            required
            value={password}
            set={setPassword}
          />
          <TextField
            label="New password"
            hint="12 to 256 characters"
            name="new_password"
            type="password"
            autoComplete="new-password"
            required
            value={next}
            set={setNext}
          />
        </Form>
      )}
    </div>
  );
}
