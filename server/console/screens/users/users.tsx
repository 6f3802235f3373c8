import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, Fault } from '../../api/client.ts';
import type { User } from '../../api/contract.ts';
import { isoDay } from '../../base/format.ts';
import { say } from '../../base/notice.ts';
import { Panel } from '../../base/panel.ts';
import { session } from '../../base/session.ts';
import { browserZone } from '../../base/zone.ts';
import { Button, FaultNote } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { UserForm } from './user-form.tsx';

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
              <UserRow
                key={user.id}
                user={user}
                change={() => setEdited(user)}
                remove={() => void remove(user)}
              />
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

function UserRow({ user, change, remove }: { user: User; change: () => void; remove: () => void }) {
  return (
    <tr>
      <th scope="row">
        {user.name} {user.name === session.value?.name && <span class="quiet-text">(you)</span>}
      </th>
      <td>{user.role === 'admin' ? 'Administrator' : 'Reader'}</td>
      <td>{user.security_filter === null ? 'all events' : <code>{user.security_filter}</code>}</td>
      <td>{isoDay(Date.parse(user.created), browserZone())}</td>
      <td class="number">
        <Menu
          label={`${user.name}: more`}
          choices={() => [
            { name: 'Change', icon: 'edit', run: change },
            null,
            { name: 'Delete', icon: 'trash', run: remove },
          ]}
        >
          <Icon name="more" />
        </Menu>
      </td>
    </tr>
  );
}
