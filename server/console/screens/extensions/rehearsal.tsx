import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask, call, type Fault } from '../../api/client.ts';
import type { ExtensionTestResult, ListResult } from '../../api/contract.ts';
import { type Json, printJson, textOf } from '../../api/exact.ts';
import { counted, percent } from '../../base/format.ts';
import { Panel } from '../../base/panel.ts';
import { FaultNote } from '../../parts/controls.tsx';
import { TextField } from '../../parts/form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { LogText, leavesOf, visible } from '../../parts/log-text.tsx';
import { PATH } from './drafts.ts';

/** An attribute that an event has, had or has otherwise. */
interface Difference {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** An event of a rehearsal. */
interface Tried {
  readonly line: string;
  readonly matched: boolean;
  readonly differences: readonly Difference[];
}

/** Findings of a rehearsal. */
interface Findings {
  readonly events: readonly Tried[];
  readonly us: number;
  readonly failed: number;
}

const SAMPLES = 100;
/** All samples together fit into a rehearsal, whatever characters they have. */
const LINE_CHARACTERS_MAX = 3_000;
const TEXT_CHARACTERS = 400;
const SHOWN = 12;
const DIFFERENCES = 12;
const NAMES = 20;
const PAUSE_MS = 300;

interface RehearsalProps {
  extension: Readonly<Record<string, unknown>>;
  /** Receives what the service refuses of the extension, and `undefined` when that is nothing. */
  refuse: (message: string | undefined) => void;
}

/** Shows what an extension makes of the newest events. Nothing is stored or turned on. */
export function Rehearsal({ extension, refuse }: RehearsalProps) {
  const [search, setSearch] = useState('');
  const panel = useMemo(() => new Panel<Findings>(), []);
  const text = JSON.stringify(extension);
  const isEmpty = extension['rules'] === '';
  useEffect(() => {
    if (isEmpty) return refuse(undefined);
    const timer = setTimeout(async () => {
      await panel.load((signal) => rehearse(JSON.parse(text), search, signal));
      refuse(refusalIn(panel.fault.value));
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, search, isEmpty]);
  useEffect(() => () => panel.cancel(), []);
  const found = panel.data.value;
  const fault = panel.fault.value;
  return (
    <section class="rehearsal" aria-label="Rehearsal">
      <h2>On the newest events</h2>
      <TextField
        {...{ label: 'Try it on', value: search, set: setSearch }}
        hint="A search for events. Empty: all"
      />
      {fault !== undefined && refusalIn(fault) === undefined && <FaultNote fault={fault} />}
      {isEmpty && <p class="quiet-text">Write a rule, and what it reads shows here.</p>}
      {!isEmpty && found !== undefined && fault === undefined && <FindingsBox {...found} />}
    </section>
  );
}

function FindingsBox({ events, us, failed }: Findings) {
  const read = events.filter(({ matched }) => matched);
  const names = new Map<string, number>();
  for (const { path, before, after } of read.flatMap(({ differences }) => differences)) {
    if (before === undefined && after !== undefined) names.set(path, (names.get(path) ?? 0) + 1);
  }
  const shown = [...read, ...events.filter(({ matched }) => !matched)].slice(0, SHOWN);
  return (
    <>
      <p role="status">
        Reads <b>{percent(read.length, events.length)}</b> of {counted(events.length, 'event')},{' '}
        <b>{Number(us.toPrecision(2))} µs</b> each.
      </p>
      {failed > 0 && (
        <p class="field-fault">
          <Icon name="warning" /> It was left out for {counted(failed, 'event')}: its patterns could
          cost too much there.
        </p>
      )}
      {names.size > 0 && (
        <p>
          New attributes:{' '}
          {[...names].slice(0, NAMES).map(([path, count]) => (
            <>
              <code>{visible(path)}</code> ({count}){' '}
            </>
          ))}
          {names.size > NAMES && `and ${names.size - NAMES} more`}
        </p>
      )}
      {shown.map(({ line, matched, differences }) => (
        <div class="box">
          <code class={matched ? '' : 'quiet-text'}>
            <LogText text={line} words={[]} max={TEXT_CHARACTERS} />
          </code>
          {!matched && <span class="quiet-text">not read</span>}
          {differences.slice(0, DIFFERENCES).map(({ path, before, after }) => (
            <code class="difference">
              <b>{visible(path)}</b> {before !== undefined && <del>{cut(before)}</del>}{' '}
              {after !== undefined && <ins>{cut(after)}</ins>}
            </code>
          ))}
          {differences.length > DIFFERENCES && (
            <span class="quiet-text">and {differences.length - DIFFERENCES} more</span>
          )}
        </div>
      ))}
    </>
  );
}

function cut(text: string): string {
  return visible(text.slice(0, TEXT_CHARACTERS)) || '""';
}

/** The refusal of the extension, if it is not the search for events that is refused. */
function refusalIn(fault: Fault | undefined): string | undefined {
  const isOfExtension = fault?.status === 400 && !fault.message.startsWith('filters');
  return isOfExtension ? fault.message : undefined;
}

/** Tries an extension on the newest events, as lines of which they can be made again. Rejects with Fault. */
async function rehearse(extension: object, search: string, signal: AbortSignal): Promise<Findings> {
  const { events: listed } = await ask<ListResult>(
    '/beta/events/list',
    {
      ...{ time: { from: 'now-7d', to: 'now+1d' }, event: true, limit: SAMPLES, hints: false },
      filters: search.trim() === '' ? [] : [{ search }],
    },
    signal,
  );
  const samples = listed
    .map(({ event }) => {
      const { custom, ...rest } = event as unknown as { custom: { [name: string]: Json } };
      return printJson({ ...custom, ...rest });
    })
    .filter((line) => line.length <= LINE_CHARACTERS_MAX);
  if (samples.length === 0) return { events: [], us: 0, failed: 0 };
  const body = { extension, samples, rehearse: true };
  const result = await call<ExtensionTestResult>('POST', `${PATH}/test`, body, signal);
  const events = result.events.map(({ event, date, matched, before }, at) => ({
    ...{ line: messageOf(before?.event) || (samples[at] ?? ''), matched },
    differences: differencesOf(textsOf(before?.event, before?.date), textsOf(event, date)),
  }));
  return { events, us: result.us ?? 0, failed: result.failed ?? 0 };
}

function messageOf(event: unknown): string {
  return textOf((event as { message?: Json } | undefined)?.message);
}

/** The texts of an event by their paths, its date among them. */
function textsOf(event: unknown, date = ''): Map<string, string> {
  const leaves = [...leavesOf(event as Json)];
  return new Map([
    ['date', date],
    ...leaves.map(({ path, value }) => [path, textOf(value)] as const),
  ]);
}

function differencesOf(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Difference[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((path) => ({ path, before: before.get(path), after: after.get(path) }))
    .filter((each) => each.before !== each.after);
}
