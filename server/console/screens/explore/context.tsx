import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask } from '../../api/client.ts';
import type { ContextResult, ListedEvent } from '../../api/contract.ts';
import type { Json } from '../../api/exact.ts';
import { ExactNumber, textOf } from '../../api/exact.ts';
import { rowTime } from '../../base/format.ts';
import { Panel } from '../../base/panel.ts';
import { question } from '../../base/question.ts';
import { termOf } from '../../base/terms.ts';
import { Button, Dialog, FaultNote } from '../../parts/controls.tsx';
import { type Leaf, LogText, leavesOf, lineOf, shownName, visible } from '../../parts/log-text.tsx';
import { contextOf } from './reading.ts';

const EVENTS_FIRST = 20;
const EVENTS_MAX = 500;
/** Attributes that are offered first. */
const LIKELY = [
  ...['syslog.hostname', 'custom.host', 'custom.hostname'],
  ...['syslog.appname', 'custom.service', 'custom.app'],
];
/** Characters of values that are offered. */
const VALUE_CHARACTERS_MAX = 500;
const SHOWN_CHARACTERS = 60;

/** The events before an event and after it that have the same values of chosen attributes. */
export function Context() {
  const event = contextOf.value;
  return event === undefined ? null : <Shown key={event.id} centre={event} />;
}

function Shown({ centre }: { centre: ListedEvent }) {
  const all = useMemo(() => keepableOf(centre), [centre]);
  const [offered, setOffered] = useState(() => all.filter(({ path }) => LIKELY.includes(path)));
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
  const add = (path: string): void => {
    setOffered([...offered, ...all.filter((leaf) => leaf.path === path)]);
    setKept([...kept, path]);
  };
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
            {leafText({ path, value })}
          </label>
        ))}
        <Others leaves={all.filter((leaf) => !offered.includes(leaf))} add={add} />
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

/** The choice of a further attribute of the event. */
function Others({ leaves, add }: { leaves: readonly Leaf[]; add: (path: string) => void }) {
  if (leaves.length === 0) return null;
  return (
    <select
      class="input small"
      aria-label="Another attribute that is the same"
      value=""
      onChange={(event) => add(event.currentTarget.value)}
    >
      <option value="">Another attribute</option>
      {leaves.map((leaf) => (
        <option value={leaf.path}>{leafText(leaf)}</option>
      ))}
    </select>
  );
}

function leafText({ path, value }: Leaf): string {
  const text = visible(textOf(value).slice(0, SHOWN_CHARACTERS));
  return `${shownName(path)} = ${text}`;
}

/** Attributes whose value others can have too: hosts and applications first. */
function keepableOf({ event }: ListedEvent): Leaf[] {
  const leaves = [...leavesOf(event as Json | undefined)].filter(
    ({ path, value }) => path !== 'date' && isPlain(value),
  );
  const rank = ({ path }: Leaf): number => {
    const at = LIKELY.indexOf(path);
    return at < 0 ? LIKELY.length : at;
  };
  return leaves.sort((left, right) => rank(left) - rank(right));
}

/** Reports whether a value is a single one that a search can have. */
function isPlain(value: Json): boolean {
  if (value === null || textOf(value).length > VALUE_CHARACTERS_MAX) return false;
  return typeof value !== 'object' || value instanceof ExactNumber;
}
