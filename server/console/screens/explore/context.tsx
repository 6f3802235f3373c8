import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask } from '../../api/client.ts';
import type { ContextResult, ListedEvent } from '../../api/contract.ts';
import type { Json } from '../../api/exact.ts';
import { textOf } from '../../api/exact.ts';
import { rowTime } from '../../base/format.ts';
import { Panel } from '../../base/panel.ts';
import { nameOf, termOf } from '../../base/terms.ts';
import { Button, Dialog, FaultNote } from '../../parts/controls.tsx';
import { LogText, lineOf, valueAt } from '../../parts/log-text.tsx';
import { question } from './question.ts';
import { contextOf } from './reading.ts';

const EVENTS_FIRST = 20;
const EVENTS_MAX = 500;
const KEPT = [
  'syslog.hostname',
  'custom.host',
  'custom.hostname',
  'syslog.appname',
  'custom.service',
  'custom.app',
];
const OFFERED = 6;

/** The events before an event and after it that have the same values of chosen attributes. */
export function Context() {
  const event = contextOf.value;
  return event === undefined ? null : <Shown key={event.id} centre={event} />;
}

function Shown({ centre }: { centre: ListedEvent }) {
  const offered = useMemo(() => offeredOf(centre), [centre]);
  const [kept, setKept] = useState<readonly string[]>(offered.slice(0, 1).map(({ path }) => path));
  const [count, setCount] = useState(EVENTS_FIRST);
  const panel = useMemo(() => new Panel<ContextResult>(), []);
  const { zone } = question.value;
  useEffect(() => {
    const terms = offered
      .filter(({ path }) => kept.includes(path))
      .map(({ path, value }) => termOf(path, value));
    const filters = terms.map((search) => ({ search }));
    const body = {
      id: centre.id,
      before: count,
      after: count,
      filters,
      event: true,
      timezone: zone,
    };
    void panel.load((signal) => ask<ContextResult>('/beta/events/context', body, signal));
    return () => panel.cancel();
  }, [centre, kept, count]);
  const toggle = (path: string): void =>
    setKept(kept.includes(path) ? kept.filter((each) => each !== path) : [...kept, path]);
  const around = panel.data.value;
  return (
    <Dialog
      title="Context"
      wide
      close={() => {
        contextOf.value = undefined;
      }}
    >
      <fieldset class="keeps">
        <legend>Only events with the same</legend>
        {offered.map(({ path, value }) => (
          <label class="check">
            <input type="checkbox" checked={kept.includes(path)} onChange={() => toggle(path)} />
            {nameOf(path)} <b>{textOf(value).slice(0, 60)}</b>
          </label>
        ))}
      </fieldset>
      {panel.fault.value !== undefined && (
        <FaultNote fault={panel.fault.value} retry={() => panel.reload()} />
      )}
      {around === undefined && panel.isLoading.value && <div class="loading" aria-busy="true" />}
      {around !== undefined && (
        <ol class="context">
          {[...around.before, around.event, ...around.after].map((event) => (
            <li
              class={event.id === centre.id ? 'context-row centre' : 'context-row'}
              ref={(row) => {
                if (event.id === centre.id && count === EVENTS_FIRST)
                  row?.scrollIntoView({ block: 'center' });
              }}
            >
              <time dateTime={event.date}>{rowTime(Date.parse(event.date), zone)}</time>
              <span>
                <LogText text={lineOf(event)} words={[]} />
              </span>
            </li>
          ))}
        </ol>
      )}
      <Button
        icon="plus"
        disabled={count >= EVENTS_MAX}
        onClick={() => setCount(Math.min(EVENTS_MAX, count * 2.5))}
      >
        More before and after
      </Button>
    </Dialog>
  );
}

/** Attributes that can be kept: hosts and applications first, then others with short texts. */
function offeredOf({ event }: ListedEvent): { path: string; value: Json }[] {
  const json = event as Json | undefined;
  return KEPT.map((path) => ({ path, value: valueAt(json, path) ?? null }))
    .filter(({ value }) => value !== null)
    .slice(0, OFFERED);
}
