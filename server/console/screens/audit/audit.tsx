import { useEffect, useMemo, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { fullTime } from '../../base/format.ts';
import { Panel } from '../../base/panel.ts';
import { browserZone } from '../../base/zone.ts';
import { Button, FaultNote } from '../../parts/controls.tsx';
import { visible } from '../../parts/log-text.tsx';
import { type Column, Table } from '../../parts/table.tsx';

/** A line of the audit log. */
interface Line {
  at: string;
  who: string;
  what: string;
  peer?: string;
  resource?: string;
  name?: string;
  id?: string;
  [more: string]: unknown;
}

const NAMED = new Set(['at', 'who', 'what', 'peer', 'resource', 'name', 'id']);

const COLUMNS: readonly Column<Line>[] = [
  {
    ...{ name: 'When', class: 'when', order: ({ at }) => at },
    cell: ({ at }) => fullTime(Date.parse(at), browserZone()).slice(0, 19),
  },
  { name: 'Who', order: ({ who }) => who, cell: ({ who }) => visible(who) },
  { name: 'From', order: ({ peer }) => peer ?? '', cell: ({ peer }) => peer },
  {
    ...{ name: 'What', order: ({ what, resource }) => `${what} ${resource}` },
    cell: ({ what, resource, name, id }) => (
      <>
        {what} {resource} <b>{visible(String(name ?? id ?? ''))}</b>
      </>
    ),
  },
  { name: 'More', cell: (line) => <code>{visible(restOf(line))}</code> },
];

/** Who changed what, from where, and who logged in. */
export function Audit() {
  const panel = useMemo(() => new Panel<readonly Line[]>(), []);
  const [sought, setSought] = useState('');
  useEffect(() => {
    void panel.load(
      async (signal) =>
        (await call<{ audit: Line[] }>('GET', '/admin/api/audit', undefined, signal)).audit,
    );
    return () => panel.cancel();
  }, []);
  const lines = panel.data.value ?? [];
  const found = lines.filter((line) =>
    JSON.stringify(line).toLowerCase().includes(sought.toLowerCase()),
  );
  return (
    <div class="page">
      <header class="page-head">
        <h1>Audit log</h1>
        <Button icon="refresh" onClick={() => panel.reload()}>
          Again
        </Button>
      </header>
      <p class="quiet-text">
        The newest 500 changes and logins. The file audit.log of the data folder has all.
      </p>
      {panel.fault.value !== undefined && (
        <FaultNote fault={panel.fault.value} retry={() => panel.reload()} />
      )}
      <input
        class="input"
        type="search"
        aria-label="Find in the audit log"
        placeholder="Find a user, an address, a key"
        value={sought}
        onInput={(event) => setSought(event.currentTarget.value)}
      />
      <div class="box">
        <Table
          label="Audit log"
          rows={found}
          keyOf={(line) => lines.indexOf(line)}
          columns={COLUMNS}
        />
      </div>
    </div>
  );
}

function restOf(line: Line): string {
  const rest = Object.entries(line).filter(([name]) => !NAMED.has(name));
  return rest
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ')
    .slice(0, 200);
}
