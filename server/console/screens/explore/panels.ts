import { effect } from '@preact/signals';
import { ask, Fault, isReachable, viewedKey } from '../../api/client.ts';
import type {
  AggregateResult,
  AttributesResult,
  DefinedResult,
  FacetsResult,
  ListBody,
  ListResult,
} from '../../api/contract.ts';
import { Panel } from '../../base/panel.ts';
import {
  asked,
  filtersOf,
  type Question,
  question,
  range,
  rangeNow,
  timeOf,
} from '../../base/question.ts';
import { type Range, stepFor } from '../../base/range.ts';
import { isExplained } from '../../base/session.ts';
import { STATUS, STATUSES } from '../../base/status.ts';
import type { Wholeness } from '../../parts/exactness.tsx';
import { visible } from '../../parts/log-text.tsx';
import { FACETS_MAX, facetPaths } from './facet-choice.ts';
import { isLive, openFacets, showFacets, tagset } from './question.ts';
import { beginList, Rows } from './rows.ts';

/** Name of the bucket of all events: no id of a tag. */
const ALL = '*';
const BARS_MAX = 110;
const FACET_VALUES = 8;
const ATTRIBUTES_MAX = 500;

/** A list with what its first page told. */
export interface Found {
  readonly rows: Rows;
  readonly first: ListResult;
  readonly query: string;
}

/** A tag with its events in each step, of which there are some. */
export interface CountedTag {
  /** Empty: events without a tag. */
  readonly id: string;
  readonly name: string;
  /** Name of a colour of the theme, or `#rrggbb`. */
  readonly colour: string;
  readonly counts: readonly number[];
  readonly count: number;
}

type Field = NonNullable<DefinedResult['fields']>[number];
type Tagset = Extract<Field, { type: 'tagset' }>;

/** A histogram's bars: events of each tag in each step. */
export interface Histogram {
  readonly range: Range;
  readonly step: string;
  readonly times: readonly number[];
  readonly tags: readonly CountedTag[];
  /** The tagset that parts them, and all that could. */
  readonly tagset: Tagset | undefined;
  readonly tagsets: readonly Tagset[];
  /** Parts that the answer lacks. */
  readonly whole: Wholeness;
}

/** The list of events. */
export const list = new Panel<Found>();
/** Events over time. */
export const histogram = new Panel<Histogram>();
/** The attributes that the events have. */
export const attributes = new Panel<AttributesResult>();
/** The values of the facets that are open. */
export const facets = new Panel<FacetsResult>();

/** Loads all panels whenever another question is asked; the list first. Returns what ends it. */
export function watchQuestion(): () => void {
  tagsets = undefined;
  return effect(() => {
    const now = question.value;
    // Read so that asking anew, another viewer and a service that is back load all again.
    void [asked.value, viewedKey.value, tagset.value];
    if (isLive.value || !isReachable.value) return;
    const asking = rangeNow(now);
    range.value = asking;
    if (asking !== undefined) loadAll(now, asking);
  });
}

let tagsets: Promise<readonly Tagset[]> | undefined;

/** The tagsets as they were when one came to this screen. */
function loadTagsets(): Promise<readonly Tagset[]> {
  const body = { fields: true, metrics: false };
  tagsets ??= ask<DefinedResult>('/beta/discover/fields_metrics', body).then(
    ({ fields = [] }) => fields.filter((field) => field.type === 'tagset'),
    (error) => {
      tagsets = undefined;
      throw error;
    },
  );
  return tagsets;
}

function loadAll(now: Question, asking: Range): void {
  void list.load((signal) => loadList(now, asking, signal));
  void histogram.load((signal) => loadHistogram(now, asking, signal));
  void attributes.load((signal) => loadAttributes(now, asking, signal));
  loadFacets(now, asking);
}

/** Loads the facets that are open. */
export function loadFacets(now = question.peek(), asking = range.peek()): void {
  if (asking === undefined) return;
  void facets.load(async (signal) => {
    const fields = await facetPaths(attributes, signal);
    if (fields.length === 0) return { facets: [] };
    return askFacets({ ...base(now, asking), fields, limit: FACET_VALUES }, signal);
  });
}

/** The facets of those fields that there are: an address may name others too. */
export async function askFacets(
  body: { fields: readonly string[]; limit: number } & Record<string, unknown>,
  signal: AbortSignal,
): Promise<FacetsResult> {
  try {
    return await ask<FacetsResult>('/beta/discover/facets', body, signal);
  } catch (error) {
    const place = error instanceof Fault ? /^fields\[(\d+)\]/.exec(error.message)?.[1] : undefined;
    if (place === undefined || body.fields.length === 1) throw error;
    const fields = body.fields.filter((_, at) => at !== Number(place));
    return askFacets({ ...body, fields }, signal);
  }
}

/** Opens a facet, or closes it. */
export function toggleFacet(path: string): void {
  const now = openFacets.peek() ?? facets.data.peek()?.facets.map(({ field }) => field) ?? [];
  const others = now.filter((each) => each !== path);
  showFacets(now.includes(path) ? others : [...others, path].slice(-FACETS_MAX));
  loadFacets();
}

function base({ query, zone }: Question, asking: Range) {
  return { time: { ...timeOf(asking), timezone: zone }, filters: filtersOf(query) };
}

async function loadList(now: Question, asking: Range, signal: AbortSignal): Promise<Found> {
  const { order, orderBy } = now;
  const body: ListBody = {
    ...base(now, asking),
    ...{ event: true, columns: [{ field: STATUS }], order },
    ...(orderBy === undefined ? {} : { orderBy }),
    ...{ total: true, explain: isExplained() },
  };
  const begun = await beginList(body, signal);
  list.data.peek()?.rows.close();
  return { rows: new Rows(begun), first: begun.first, query: now.query };
}

async function loadHistogram(
  now: Question,
  asking: Range,
  signal: AbortSignal,
): Promise<Histogram> {
  const step = stepFor(asking, BARS_MAX);
  const parted = tagset.peek();
  const total = parted === STATUS ? {} : { total: ALL };
  const asked = ask<AggregateResult>(
    '/beta/events/aggregate',
    {
      ...base(now, asking),
      compute: [{ timeseries: { metricId: 'count', interval: step, output: 'n' } }],
      groupBy: [{ field: { id: parted, output: 's', ...total } }],
      hints: false,
    },
    signal,
  );
  const [sets, result] = await Promise.all([loadTagsets(), asked]);
  const counts = new Map<string, number[]>();
  let times: number[] = [];
  for (const { bucket, values } of result.aggregates) {
    const series = values['n'];
    if (!Array.isArray(series)) continue;
    times = series.map(({ time }) => Date.parse(time));
    counts.set(
      String(bucket['s']),
      series.map(({ value }) => Number(value)),
    );
  }
  const set = sets.find(({ id }) => id === parted);
  const tags = tagsOf(set, times, counts);
  return { range: asking, step, times, tags, tagset: set, tagsets: sets, whole: result };
}

/** The tags that have events, in their order, and the events without one. */
function tagsOf(
  set: Tagset | undefined,
  times: readonly number[],
  all: ReadonlyMap<string, readonly number[]>,
): CountedTag[] {
  const left = times.map((_, at) => all.get(ALL)?.[at] ?? 0);
  const tags = (set?.tags ?? []).map(({ id, name, color }) => {
    const counts = all.get(id) ?? [];
    for (const [at, count] of counts.entries()) left[at] = (left[at] ?? 0) - count;
    // The theme has colours for those of the status that were not chosen.
    const isOfTheme = set?.id === STATUS && color === STATUSES[id]?.color;
    return { id, name: visible(name), colour: isOfTheme ? id : color, counts };
  });
  return [...tags, { id: '', name: 'no tag', colour: 'muted', counts: left }]
    .map((tag) => ({ ...tag, count: tag.counts.reduce((sum, count) => sum + count, 0) }))
    .filter(({ count }) => count > 0);
}

function loadAttributes(
  now: Question,
  asking: Range,
  signal: AbortSignal,
): Promise<AttributesResult> {
  const body = { ...base(now, asking), distinct: false, values: 0, limit: ATTRIBUTES_MAX };
  return ask<AttributesResult>('/beta/discover/attributes', body, signal);
}
