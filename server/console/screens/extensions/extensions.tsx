import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, Fault } from '../../api/client.ts';
import type { Extension } from '../../api/contract.ts';
import { addressWith, change, place } from '../../base/address.ts';
import { say } from '../../base/notice.ts';
import { Panel } from '../../base/panel.ts';
import { FaultNote } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icon.tsx';
import { brief, visible } from '../../parts/log-text.tsx';
import { Menu } from '../../parts/menu.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { PATH } from './drafts.ts';
import { ExtensionForm } from './extension-form.tsx';

const NEW = 'new';

const COLUMNS: readonly Column<Extension>[] = [
  { name: 'Runs', class: 'number', cell: ({ position }) => position + 1 },
  {
    ...{ name: 'Name', isHead: true },
    cell: ({ id, name }) => <a href={addressWith({ id })}>{visible(name)}</a>,
  },
  {
    name: 'State',
    cell: ({ enabled }) => (
      <span class={`state ${enabled ? 'on' : ''}`}>
        {enabled && <Icon name="check" size={14} />} {enabled ? 'on' : 'off'}
      </span>
    ),
  },
  { name: 'Kind', class: 'when', cell: ({ kind }) => <code>{kind}</code> },
  { name: 'Events', cell: ({ filter }) => (filter === '' ? 'all' : <code>{brief(filter)}</code>) },
  { name: 'Description', cell: ({ description }) => brief(description) },
];

/** The parsing extensions in the order in which they run, or the editor of the one that the address names. */
export function Extensions() {
  const panel = useMemo(() => new Panel<readonly Extension[]>(), []);
  const [refused, setRefused] = useState<Fault>();
  useEffect(() => {
    void panel.load(async (signal) => {
      const { extensions } = await call<{ extensions: Extension[] }>(
        ...(['GET', PATH, undefined, signal] as const),
      );
      return extensions;
    });
    return () => panel.cancel();
  }, []);
  const all = panel.data.value;
  const wanted = place.value.params.get('id');
  const one = all?.find(({ id }) => id === wanted);
  if (all !== undefined && wanted !== null && (one !== undefined || wanted === NEW)) {
    const close = (): void => change({ id: undefined });
    return <ExtensionForm key={wanted} {...{ one, close, changed: () => panel.reload() }} />;
  }
  const ask = async (method: string, { id }: Extension, body?: object): Promise<void> => {
    try {
      const answer = await call<{ warning?: { message: string } }>(method, `${PATH}/${id}`, body);
      setRefused(undefined);
      if (answer.warning !== undefined) say(answer.warning.message);
    } catch (error) {
      if (error instanceof Fault) setRefused(error);
    }
    panel.reload();
  };
  const moreOf = (each: Extension) => {
    const { name, id, enabled, position } = each;
    const move = (by: number) => () => void ask('PATCH', each, { position: position + by });
    return (
      <Menu
        label={`${name}: more`}
        choices={() => [
          { name: 'Rehearse and change', icon: 'edit', run: () => change({ id }) },
          {
            ...{ name: enabled ? 'Turn off' : 'Turn on', icon: enabled ? 'close' : 'check' },
            run: () => void ask('PATCH', each, { enabled: !enabled }),
          },
          ...(position === 0 ? [] : [{ name: 'Earlier', icon: 'up' as const, run: move(-1) }]),
          ...(position + 1 === all?.length
            ? []
            : [{ name: 'Later', icon: 'down' as const, run: move(1) }]),
          null,
          { name: 'Delete', icon: 'trash', run: () => void ask('DELETE', each) },
        ]}
      >
        <Icon name="more" />
      </Menu>
    );
  };
  const more = { name: 'More', isUnnamed: true, class: 'number', cell: moreOf };
  return (
    <>
      <header class="page-head">
        <h1>Extensions</h1>
        <a class="button main" href={addressWith({ id: NEW })}>
          <Icon name="plus" /> New extension
        </a>
      </header>
      <p class="quiet-text">
        An extension reads more out of events as they come in. Rehearse one on the newest events
        before you turn it on.
      </p>
      {[panel.fault.value, refused].map(
        (fault) => fault !== undefined && <FaultNote fault={fault} />,
      )}
      <div class="box">
        <Table
          label="Extensions"
          rows={all ?? []}
          keyOf={({ id }) => id}
          columns={[...COLUMNS, more]}
        />
      </div>
    </>
  );
}
