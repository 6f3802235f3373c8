import { useState } from 'preact/hooks';
import { call, Fault } from '../../api/client.ts';
import type { User } from '../../api/contract.ts';
import { Button, Dialog, Field, TextField } from '../../parts/controls.tsx';

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
  const [fault, setFault] = useState<string>();
  const about = (word: string): string | undefined =>
    fault?.startsWith(word) === true ? fault : undefined;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await save(one, { name, role, password, filter });
      changed();
      close();
    } catch (error) {
      setFault(error instanceof Fault ? error.message : String(error));
    }
  };
  const isElsewhere = fault !== undefined && !/^(?:name|password|security_filter)/.test(fault);
  return (
    <Dialog title={one?.name ?? 'New user'} close={close}>
      <form class="form" onSubmit={submit}>
        <TextField
          label="Name"
          fault={about('name')}
          value={name}
          required
          autoComplete="off"
          set={setName}
        />
        <TextField
          label={one === undefined ? 'Password' : 'New password'}
          hint="12 to 256 characters"
          fault={about('password')}
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
            hint="A search: the user sees the events that it finds. Empty: all events."
            fault={about('security_filter')}
          >
            <textarea
              class="input"
              value={filter}
              onInput={(event) => setFilter(event.currentTarget.value)}
            />
          </Field>
        )}
        {isElsewhere && (
          <p class="field-fault" role="alert">
            {fault}
          </p>
        )}
        <div class="actions">
          <Button onClick={close}>Cancel</Button>
          <Button kind="main" type="submit">
            {one === undefined ? 'Make the user' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function RoleChoice({ role, choose }: { role: string; choose: (role: string) => void }) {
  return (
    <Field label="Role">
      <select class="input" value={role} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="reader">Reader: sees events</option>
        <option value="admin">Administrator: manages everything</option>
      </select>
    </Field>
  );
}
