import { useEffect, useMemo } from 'preact/hooks';
import { ask } from '../../api/client.ts';
import type { AggregateResult, AttributesResult } from '../../api/contract.ts';
import { type Json, textOf } from '../../api/exact.ts';
import { percent, whole } from '../../base/format.ts';
import { Panel } from '../../base/panel.ts';
import { askFor, filtersOf, question, range, timeOf } from '../../base/question.ts';
import { termOf, withTerm } from '../../base/terms.ts';
import { Dialog, FaultNote } from '../../parts/controls.tsx';
import { Exactness, type Wholeness } from '../../parts/exactness.tsx';
import { brief, shownName } from '../../parts/log-text.tsx';
import { list } from './panels.ts';
import { statistics } from './reading.ts';

const METRICS = ['sum', 'avg', 'median', 'pc95', 'pc99'];
const VALUES = 20;
const NEAR = 'percentiles of more than 100 values within 0.1 %';

interface Facts {
  readonly whole: Wholeness;
  readonly attribute: AttributesResult['attributes'][number] | undefined;
  readonly metrics: Readonly<Record<string, Json>>;
}

/** Coverage, values and numbers of an attribute, in the events that the question finds. */
export function Statistics() {
  const path = statistics.value;
  return path === undefined ? null : <Shown key={path} path={path} />;
}

function Shown({ path }: { path: string }) {
  const panel = useMemo(() => new Panel<Facts>(), []);
  useEffect(() => {
    void panel.load((signal) => factsOf(path, signal));
    return () => panel.cancel();
  }, [path]);
  const close = (): void => {
    statistics.value = undefined;
  };
  const facts = panel.data.value;
  return (
    <Dialog title={shownName(path)} close={close}>
      {panel.fault.value !== undefined && (
        <FaultNote fault={panel.fault.value} retry={() => panel.reload()} />
      )}
      {facts === undefined && panel.isLoading.value && <div class="loading" aria-busy="true" />}
      {facts !== undefined && <Table path={path} facts={facts} close={close} />}
    </Dialog>
  );
}

async function factsOf(path: string, signal: AbortSignal): Promise<Facts> {
  const asking = range.peek();
  const { query, zone } = question.peek();
  if (asking === undefined) return { attribute: undefined, metrics: {}, whole: {} };
  const base = { time: { ...timeOf(asking), timezone: zone }, filters: filtersOf(query) };
  const { attributes, damaged } = await ask<AttributesResult>(
    '/beta/discover/attributes',
    { ...base, attributes: [path], values: VALUES },
    signal,
  );
  const [attribute] = attributes;
  if (attribute?.kinds.includes('number') !== true)
    return { attribute, metrics: {}, whole: { damaged } };
  const compute = METRICS.map((name) => ({ metric: { id: `${name}:${path}`, output: name } }));
  const { aggregates, ...whole } = await ask<AggregateResult>(
    '/beta/events/aggregate',
    { ...base, compute, hints: false },
    signal,
  );
  return {
    ...{ attribute, metrics: (aggregates[0]?.values ?? {}) as Record<string, Json> },
    whole: { ...whole, damaged: whole.damaged ?? damaged, near: NEAR },
  };
}

function Table({ path, facts, close }: { path: string; facts: Facts; close: () => void }) {
  const { attribute, metrics } = facts;
  const all = list.data.value?.rows.total ?? 0;
  if (attribute === undefined) return <p>No event of this time has the attribute.</p>;
  const { events, distinct, kinds, values, min, max } = attribute;
  const numbers: [string, Json | undefined][] = [
    ...[
      ['min', min],
      ['max', max],
    ].map(([name, value]) => [name, value] as [string, Json | undefined]),
    ...Object.entries(metrics),
  ];
  return (
    <>
      <Exactness whole={facts.whole} />
      <dl class="facts">
        <Fact name="Events" text={`${whole(events)} of ${whole(all)} (${percent(events, all)})`} />
        <Fact name="Kinds" text={kinds.join(', ')} />
        <Fact
          name="Distinct values"
          text={distinct === undefined ? 'more than are counted' : whole(distinct)}
        />
        {numbers
          .filter(([, value]) => value !== undefined && value !== null)
          .map(([name, value]) => (
            <Fact name={name} text={brief(textOf(value))} />
          ))}
      </dl>
      {values !== undefined && values !== null && (
        <ul class="bars">
          {values.map(({ value, count }) => (
            <li>
              <button
                type="button"
                class="bar-row"
                onClick={() => {
                  close();
                  askFor({ query: withTerm(question.peek().query, termOf(path, value)) });
                }}
              >
                <span
                  class="bar"
                  style={{ width: `${(100 * count) / Math.max(1, values[0]?.count ?? 1)}%` }}
                />
                <span class="bar-name">{brief(textOf(value)) || '""'}</span>
                <span class="bar-count">
                  {whole(count)} · {percent(count, events)}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Fact({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </div>
  );
}
