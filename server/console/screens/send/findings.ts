import { ask, call, Fault } from '../../api/client.ts';
import type { ListResult } from '../../api/contract.ts';
import { type Json, printJson, textOf } from '../../api/exact.ts';
import { type Leaf, leavesOf, valueAt } from '../../parts/log-text.tsx';
import { candidateFor, type Lack, type NewExtension } from './candidates.ts';

/** An event that came in, and what an extension would make of it. */
export interface Effect {
  readonly before: Json;
  /** Its date now. */
  readonly date: string | undefined;
  /** Attributes that the event would have besides, its date among them. */
  readonly gained: readonly Leaf[];
}

/** A parsing extension that would read more out of what came in. */
export interface Advice {
  readonly name: string;
  readonly description: string;
  /** Parts that many events lack and that it gives them. */
  readonly lacks: readonly Lack[];
  /** The id of one that is there, or one that would be made. */
  readonly extension: string | NewExtension;
  /** Events of the sample that it reads, and what becomes of the first of them. */
  readonly matched: number;
  readonly effects: readonly Effect[];
}

/** Findings of a look at the newest events. */
export interface Findings {
  readonly advice: readonly Advice[];
  /** How many events lack something that no advice gives them. */
  readonly unsolved: readonly { lack: Lack; events: number }[];
  /** The events that were looked at. */
  readonly samples: number;
}

interface Extension {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly kind: string;
  readonly enabled: boolean;
}

/** An extension that was tried. */
type Trial = Omit<Advice, 'lacks'>;

/** Events that came in, and lines of which they can be made again. */
interface Sample {
  readonly events: readonly Json[];
  readonly dates: readonly string[];
  readonly lines: readonly string[];
}

/** A line that was tried; `date` is missing when none was read. */
interface Tried {
  readonly event: Json;
  readonly date: string | undefined;
  readonly matched: boolean;
}

const SAMPLES = 20;
const SHARE_MIN = 0.2;
const LINE_CHARACTERS_MAX = 20_000;
const EFFECTS_MAX = 3;
/** Of those who gain more one example is enough. */
const SHORT_MAX = 3;
const BODY = { time: { from: 'now-1d', to: 'now+1d' }, event: true, limit: SAMPLES, hints: false };
/** Those that read what another one has found: of no use before that is on. */
const BEHIND_OTHERS = new Set(['url', 'user_agent', 'query_string']);
/** A line that has no date: what is dated like it has none either. */
const UNDATED = '-';
const LACKS: readonly Lack[] = ['date', 'message', 'severity'];
/** Attributes that an advice gains when it gives events what they lack. */
const GAINED: Readonly<Record<Lack, string>> = {
  ...{ date: 'date', message: 'message', severity: 'syslog.severity' },
};

/** Looks at the newest events and at what extensions that are off would read out of them. Rejects with Fault. */
export async function findings(signal: AbortSignal): Promise<Findings> {
  const sample = await newest(signal);
  const samples = sample.events.length;
  if (samples === 0) return { advice: [], unsolved: [], samples };
  const isMany = (events: number): boolean => events >= SHARE_MIN * samples;
  const isOfUse = ({ matched, effects }: Trial): boolean => effects.length > 0 && isMany(matched);
  const ready = (await triedOut(sample, signal)).filter(isOfUse);
  const now = await tryOut({ all: true }, sample.lines, signal);
  const lacks = LACKS.map((lack) => ({ lack, events: lacking(lack, sample, now) })).filter(
    ({ events }) => isMany(events.length),
  );
  const made = await Promise.all(
    lacks
      .filter(({ lack }) => !gives(ready, lack))
      .map(({ lack, events }) => candidate(lack, events, sample, signal)),
  );
  const trials = [...made.flatMap((each) => each ?? []).filter(isOfUse), ...ready];
  return {
    advice: trials
      .toSorted((left, right) => right.matched - left.matched)
      .map((trial) => {
        const given = lacks.filter(({ lack }) => gives([trial], lack));
        return { ...trial, lacks: given.map(({ lack }) => lack) };
      }),
    // Whoever tells no severity has none.
    unsolved: lacks
      .filter(({ lack }) => lack !== 'severity' && !gives(trials, lack))
      .map(({ lack, events }) => ({ lack, events: events.length })),
    samples,
  };
}

/** The newest events, but for long ones. */
async function newest(signal: AbortSignal): Promise<Sample> {
  const { events: listed } = await ask<ListResult>('/beta/events/list', BODY, signal);
  const shown = listed
    .map(({ event, date }) => ({ event: event as unknown as Json, date }))
    .filter(({ event }) => lineOf(event).length <= LINE_CHARACTERS_MAX);
  const events = shown.map(({ event }) => event);
  return { events, dates: shown.map(({ date }) => date), lines: events.map(lineOf) };
}

/** Effects of each extension that is off on a sample. */
async function triedOut(sample: Sample, signal: AbortSignal): Promise<Trial[]> {
  const { extensions } = await call<{ extensions: Extension[] }>(
    ...(['GET', '/admin/api/extensions', undefined, signal] as const),
  );
  const offered = extensions.filter(({ enabled, kind }) => !enabled && !BEHIND_OTHERS.has(kind));
  return Promise.all(
    offered.map(async ({ id, name, description = '' }) => ({
      ...{ extension: id, name, description },
      ...(await effectsOf(id, sample, signal)),
    })),
  );
}

/** Reports whether one of the extensions gives events what they lack. */
function gives(trials: readonly Trial[], lack: Lack): boolean {
  const gained = trials.flatMap(({ effects }) => effects.flatMap((effect) => effect.gained));
  return gained.some(({ path }) => path === GAINED[lack]);
}

/** The events that lack something, as extensions that are on read them now. */
function lacking(lack: Lack, { events }: Sample, now: readonly Tried[]): Json[] {
  return events.filter((event, at) => {
    if (lack === 'date') return !hasOwnDate(event) && now[at]?.date === undefined;
    return [event, now[at]?.event].every((each) => valueAt(each, GAINED[lack]) === undefined);
  });
}

/** Reports whether a header of syslog dated an event, which is not in its line. */
function hasOwnDate(event: Json): boolean {
  return valueAt(event, 'syslog.timestamp') !== undefined;
}

/** The line as which an event would come in: what a header of syslog said is not in it. */
function lineOf(event: Json): string {
  const { custom, message } = event as { custom: { [name: string]: Json }; message?: Json };
  return printJson({ ...custom, ...(message === undefined ? {} : { message }) });
}

/** An extension that would read what events lack out of an attribute; `undefined` when none looks like it. */
async function candidate(
  lack: Lack,
  events: readonly Json[],
  sample: Sample,
  signal: AbortSignal,
): Promise<Trial | undefined> {
  const extension = candidateFor(lack, events);
  if (extension === undefined) return undefined;
  try {
    const effects = await effectsOf(extension, sample, signal);
    const description = 'This attribute looks like it.';
    return { extension, name: extension.name, description, ...effects };
  } catch (error) {
    // An attribute whose name no extension can have.
    if (error instanceof Fault && error.status === 400) return undefined;
    throw error;
  }
}

async function effectsOf(
  extension: string | NewExtension,
  { events, dates, lines }: Sample,
  signal: AbortSignal,
): Promise<Pick<Advice, 'matched' | 'effects'>> {
  const tried = await tryOut({ extension }, lines, signal);
  const effects = events
    .map((before, at) => ({ before, date: dates[at], after: tried[at] }))
    .map(({ before, date, after }) => ({ before, date, gained: gainedBy(before, date, after) }))
    .filter((effect) => effect.gained.length > 0);
  const isLong = (effects[0]?.gained.length ?? 0) > SHORT_MAX;
  return {
    matched: tried.filter(({ matched }) => matched).length,
    effects: effects.slice(0, isLong ? 1 : EFFECTS_MAX),
  };
}

function gainedBy(before: Json, dateBefore: string | undefined, after: Tried | undefined): Leaf[] {
  if (after === undefined || !after.matched) return [];
  const had = new Map([...leavesOf(before)].map(({ path, value }) => [path, textOf(value)]));
  const { date } = after;
  const isDated = date !== undefined && date !== dateBefore && !hasOwnDate(before);
  return [
    ...(isDated ? [{ path: GAINED.date, value: date }] : []),
    ...[...leavesOf(after.event)].filter(({ path, value }) => had.get(path) !== textOf(value)),
  ];
}

/** Tries an extension, or all that are on, on lines. */
async function tryOut(
  what: { extension: string | NewExtension } | { all: true },
  lines: readonly string[],
  signal: AbortSignal,
): Promise<readonly Tried[]> {
  const body = { ...what, samples: [...lines, UNDATED] };
  const { events } = await call<{ events: (Tried & { date: string })[] }>(
    ...(['POST', '/admin/api/extensions/test', body, signal] as const),
  );
  const received = events.at(-1)?.date;
  return events.slice(0, -1).map(({ event, date, matched }) => ({
    ...{ event, matched, date: date === received ? undefined : date },
  }));
}
