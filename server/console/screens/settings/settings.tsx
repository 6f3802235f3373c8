import type { ComponentType } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, Fault } from '../../api/client.ts';
import type { Definitions } from '../../api/contract.ts';
import { addressWith, place } from '../../base/address.ts';
import { say } from '../../base/notice.ts';
import { Panel } from '../../base/panel.ts';
import { Button, FaultNote } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icon.tsx';
import { brief, visible } from '../../parts/log-text.tsx';
import { Menu } from '../../parts/menu.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Extensions } from '../extensions/extensions.tsx';
import { DefinitionForm } from './definition-form.tsx';
import { type Definition, KINDS, type Kind } from './drafts.ts';
import { Retention } from './retention.tsx';

/** All definitions by their resource. */
type All = { readonly [K in Kind]: readonly Definitions[K][] };

const NAMES = Object.keys(KINDS) as Kind[];
const KIND = 'kind';

const COLUMNS: readonly Column<Definition>[] = [
  {
    ...{ name: 'Name', isHead: true, order: ({ name }) => name },
    cell: ({ name }) => visible(name),
  },
  { name: 'Id', order: ({ id }) => id, cell: ({ id }) => <code>{visible(id)}</code> },
  { name: 'What', cell: (one) => <What one={one} /> },
  { name: 'Description', cell: ({ description }) => brief(description) },
];
const MORE = { name: 'More', isUnnamed: true, class: 'number' };

/** Other settings, each a part with a screen of its own. */
const OTHERS: Readonly<Record<string, { name: string; Part: ComponentType }>> = {
  extensions: { name: 'Extensions', Part: Extensions },
  retention: { name: 'Retention', Part: Retention },
};

/** The definitions, and what else is set. */
export function Settings() {
  const asked = place.value.params.get(KIND) ?? '';
  const kind = NAMES.find((name) => name === asked) ?? 'fields';
  const other = OTHERS[asked];
  const shown = other === undefined ? kind : asked;
  return (
    <div class="page">
      <nav class="tabs" aria-label="Settings">
        {[...Object.entries(KINDS), ...Object.entries(OTHERS)].map(([id, { name }]) => (
          <a
            class="button"
            href={addressWith({ [KIND]: id, id: undefined })}
            {...(id === shown ? { 'aria-current': 'page' } : {})}
          >
            {name}
          </a>
        ))}
      </nav>
      {other === undefined ? <DefinitionsOf kind={kind} /> : <other.Part />}
    </div>
  );
}

function DefinitionsOf({ kind }: { kind: Kind }) {
  const panel = useMemo(() => new Panel<All>(), []);
  const [edited, setEdited] = useState<Definition | 'new'>();
  const [refused, setRefused] = useState<Fault>();
  useEffect(() => {
    void panel.load(loadAll);
    return () => panel.cancel();
  }, []);
  useEffect(() => setRefused(undefined), [kind]);
  const all = panel.data.value;
  const remove = async ({ id, name }: Definition): Promise<void> => {
    try {
      await call('DELETE', `/admin/api/${kind}/${id}`);
      setRefused(undefined);
      say(`${name} is deleted.`);
    } catch (error) {
      if (error instanceof Fault) setRefused(error);
    }
    panel.reload();
  };
  const moreOf = (one: Definition) => (
    <Menu
      label={`${one.name}: more`}
      choices={() => [
        { name: 'Change', icon: 'edit', run: () => setEdited(one) },
        null,
        { name: 'Delete', icon: 'trash', run: () => void remove(one) },
      ]}
    >
      <Icon name="more" />
    </Menu>
  );
  return (
    <>
      {panel.fault.value !== undefined && (
        <FaultNote fault={panel.fault.value} retry={() => panel.reload()} />
      )}
      <header class="page-head">
        <h1>{KINDS[kind].name}</h1>
        <Button kind="main" icon="plus" onClick={() => setEdited('new')}>
          New {KINDS[kind].one}
        </Button>
      </header>
      <p class="quiet-text">{KINDS[kind].about}</p>
      {refused !== undefined && <FaultNote fault={refused} />}
      <div class="box">
        <Table
          label={KINDS[kind].name}
          rows={(all?.[kind] ?? []) as readonly Definition[]}
          keyOf={({ id }) => id}
          columns={[...COLUMNS, { ...MORE, cell: moreOf }]}
        />
        {all?.[kind].length === 0 && <p class="quiet-text">There is none.</p>}
      </div>
      {edited !== undefined && all !== undefined && (
        <DefinitionForm
          kind={kind}
          one={edited === 'new' ? undefined : edited}
          members={{ fields: [...all.fields, ...all.tagsets], metrics: all.metrics }}
          close={() => setEdited(undefined)}
          changed={() => panel.reload()}
        />
      )}
    </>
  );
}

async function loadAll(signal: AbortSignal): Promise<All> {
  const lists = await Promise.all(
    NAMES.map((name) => call<Partial<All>>('GET', `/admin/api/${name}`, undefined, signal)),
  );
  return Object.assign({}, ...lists) as All;
}

/** The meaning of a definition in a few words. */
function What({ one }: { one: Definition }) {
  if ('tags' in one) {
    return (
      <ul class="tags">
        {one.tags.map(({ name, color }) => (
          <li>
            <span class="swatch" style={{ background: color }} />
            {visible(name)}
          </li>
        ))}
      </ul>
    );
  }
  if ('kind' in one) return <code>{`${one.kind} ${one.time.from} to ${one.time.to}`}</code>;
  if ('fields' in one) return <>{[...one.fields, ...one.metrics].map(visible).join(', ')}</>;
  if ('formula' in one && one.formula !== undefined) return <code>{visible(one.formula)}</code>;
  if ('aggregation' in one) {
    return <code>{visible(`${one.aggregation} of ${one.attribute}`)}</code>;
  }
  return 'attribute' in one ? (
    <code>{visible(one.attribute ?? '')}</code>
  ) : (
    <>the number of events</>
  );
}
