import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, Fault } from '../../api/client.ts';
import type { User } from '../../api/contract.ts';
import { isoDay } from '../../base/format.ts';
import { say } from '../../base/notice.ts';
import { Panel } from '../../base/panel.ts';
import { session } from '../../base/session.ts';
import { browserZone } from '../../base/zone.ts';
import { Button, Dialog, FaultNote, Field } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';

/** The users: administrators, and readers with what they may see. */
export function Users() {
  const panel = useMemo(() => new Panel<readonly User[]>(), []);
  const [edited, setEdited] = useState<User | 'new'>();
  useEffect(() => {
    void panel.load(
      async (signal) =>
        (await call<{ users: User[] }>('GET', '/admin/api/users', undefined, signal)).users,
    );
    return () => panel.cancel();
  }, []);
  const remove = async (user: User): Promise<void> => {
    try {
      await call('DELETE', `/admin/api/users/${user.id}`);
      say(`${user.name} is deleted, and sessions of that user have ended.`);
    } catch (error) {
      if (error instanceof Fault) say(error.message);
    }
    panel.reload();
  };
  return (
    <div class="page">
      {panel.fault.value !== undefined && (
        <FaultNote fault={panel.fault.value} retry={() => panel.reload()} />
      )}
      <header class="page-head">
        <h1>Users</h1>
        <Button kind="main" icon="plus" onClick={() => setEdited('new')}>
          New user
        </Button>
      </header>
      <div class="box">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Role</th>
              <th scope="col">Sees</th>
              <th scope="col">Since</th>
              <th scope="col">
                <span class="off-screen">More</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {panel.data.value?.map((user) => (
              <tr key={user.id}>
                <th scope="row">
                  {user.name}{' '}
                  {user.name === session.value?.name && <span class="quiet-text">(you)</span>}
                </th>
                <td>{user.role === 'admin' ? 'Administrator' : 'Reader'}</td>
                <td>
                  {user.security_filter === null ? (
                    'all events'
                  ) : (
                    <code>{user.security_filter}</code>
                  )}
                </td>
                <td>{isoDay(Date.parse(user.created), browserZone())}</td>
                <td class="number">
                  <Menu
                    label={`${user.name}: more`}
                    choices={() => [
                      { name: 'Change', icon: 'edit', run: () => setEdited(user) },
                      null,
                      { name: 'Delete', icon: 'trash', run: () => void remove(user) },
                    ]}
                  >
                    <Icon name="more" />
                  </Menu>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {edited !== undefined && (
        <UserForm
          one={edited === 'new' ? undefined : edited}
          close={() => setEdited(undefined)}
          changed={() => panel.reload()}
        />
      )}
    </div>
  );
}

interface UserFormProps {
  one: User | undefined;
  close: () => void;
  changed: () => void;
}

function UserForm({ one, close, changed }: UserFormProps) {
  const [name, setName] = useState(one?.name ?? '');
  const [role, setRole] = useState<string>(one?.role ?? 'reader');
  const [filter, setFilter] = useState(one?.security_filter ?? '');
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<string>();
  const about = (word: string): string | undefined =>
    fault?.startsWith(word) === true ? fault : undefined;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const security = filter.trim() === '' ? null : filter.trim();
    const body = {
      ...{ name, role },
      ...(password === '' ? {} : { password }),
      ...(one === undefined && security === null
        ? {}
        : { security_filter: role === 'admin' ? null : security }),
    };
    try {
      await call(
        one === undefined ? 'POST' : 'PATCH',
        `/admin/api/users${one === undefined ? '' : `/${one.id}`}`,
        body,
      );
      changed();
      close();
    } catch (error) {
      setFault(error instanceof Fault ? error.message : String(error));
    }
  };
  const isElsewhere =
    fault !== undefined &&
    [about('name'), about('password'), about('security_filter')].every(
      (each) => each === undefined,
    );
  return (
    <Dialog title={one?.name ?? 'New user'} close={close}>
      <form class="form" onSubmit={submit}>
        <Field label="Name" fault={about('name')}>
          <input
            class="input"
            value={name}
            required
            autoComplete="off"
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Field>
        <Field
          label={one === undefined ? 'Password' : 'New password'}
          hint="12 to 256 characters"
          fault={about('password')}
        >
          <input
            class="input"
            type="password"
            autoComplete="new-password"
            value={password}
            required={one === undefined}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        </Field>
        <Field label="Role">
          <select
            class="input"
            value={role}
            onChange={(event) => setRole(event.currentTarget.value)}
          >
            <option value="reader">Reader: sees events</option>
            <option value="admin">Administrator: manages everything</option>
          </select>
        </Field>
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
