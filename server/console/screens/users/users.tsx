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
import { visible } from '../../parts/log-text.tsx';
import { Menu } from '../../parts/menu.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { UserForm } from './user-form.tsx';

const COLUMNS: readonly Column<User>[] = [
  {
    ...{ name: 'Name', isHead: true, order: ({ name }) => name },
    cell: ({ name }) => (
      <>
        {visible(name)} {name === session.value?.name && <span class="quiet-text">(you)</span>}
      </>
    ),
  },
  {
    ...{ name: 'Role', order: ({ role }) => role },
    cell: ({ role }) => (role === 'admin' ? 'Administrator' : 'Reader'),
  },
  {
    name: 'Sees',
    cell: ({ security_filter: filter }) =>
      filter === null ? 'all events' : <code>{visible(filter)}</code>,
  },
  {
    ...{ name: 'Since', order: ({ created }) => created },
    cell: ({ created }) => isoDay(Date.parse(created), browserZone()),
  },
];
const MORE = { name: 'More', isUnnamed: true, class: 'number' };

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
  const moreOf = (user: User) => (
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
  );
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
        <Table
          label="Users"
          rows={panel.data.value ?? []}
          keyOf={({ id }) => id}
          columns={[...COLUMNS, { ...MORE, cell: moreOf }]}
        />
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
