import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { User } from '../../api/contract.ts';
import { Button, Dialog } from '../../parts/controls.tsx';
import { Field, Form, TextField } from '../../parts/form.tsx';
import { visible } from '../../parts/log-text.tsx';

interface UserFormProps {
  one: User | undefined;
  close: () => void;
  changed: () => void;
}

/** Makes a user of what a form has, or changes one. Rejects with Fault. */
function save(
  one: User | undefined,
  { name, role, password, filter }: Record<'name' | 'role' | 'password' | 'filter', string>,
): Promise<unknown> {
  const security = role === 'admin' || filter.trim() === '' ? null : filter.trim();
  const body = {
    ...{ name, role },
    ...(password === '' ? {} : { password }),
    ...(one === undefined && security === null ? {} : { security_filter: security }),
  };
  if (one === undefined) return call('POST', '/admin/api/users', body);
  return call('PATCH', `/admin/api/users/${one.id}`, body);
}

/** The form that makes a user, or changes one. */
export function UserForm({ one, close, changed }: UserFormProps) {
  const [name, setName] = useState(one?.name ?? '');
  const [role, setRole] = useState<string>(one?.role ?? 'reader');
  const [filter, setFilter] = useState(one?.security_filter ?? '');
  const [password, setPassword] = useState('');
  const send = async (): Promise<void> => {
    await save(one, { name, role, password, filter });
    changed();
    close();
  };
  return (
    <Dialog title={one === undefined ? 'New user' : visible(one.name)} close={close}>
      <Form
        send={send}
        actions={(isBusy) => (
          <div class="actions">
            <Button onClick={close}>Cancel</Button>
            <Button kind="main" type="submit" disabled={isBusy}>
              {one === undefined ? 'Make the user' : 'Save'}
            </Button>
          </div>
        )}
      >
        <TextField
          label="Name"
          name="name"
          value={name}
          required
          autoComplete="off"
          set={setName}
        />
        <TextField
          label={one === undefined ? 'Password' : 'New password'}
          name="password"
          hint="12 to 256 characters"
          type="password"
          autoComplete="new-password"
          value={password}
          required={one === undefined}
          set={setPassword}
        />
        <RoleChoice role={role} choose={setRole} />
        {role === 'reader' && (
          <Field
            label="Security filter"
            name="security_filter"
            hint="A search: the user sees the events that it finds. Empty: all events."
          >
            <textarea
              class="input"
              value={filter}
              onInput={(event) => setFilter(event.currentTarget.value)}
            />
          </Field>
        )}
      </Form>
    </Dialog>
  );
}

function RoleChoice({ role, choose }: { role: string; choose: (role: string) => void }) {
  return (
    <Field label="Role" name="role">
      <select class="input" value={role} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="reader">Reader: sees events</option>
        <option value="admin">Administrator: manages everything</option>
      </select>
    </Field>
  );
}
