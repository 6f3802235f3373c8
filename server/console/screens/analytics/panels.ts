import { computed, effect } from '@preact/signals';
import { ask, call, Fault, isReachable, viewedKey } from '../../api/client.ts';
import type {
  AggregateBody,
  AggregateResult,
  AttributesResult,
  DefinedResult,
  ExecuteResult,
  SavedAnalysis,
} from '../../api/contract.ts';
import { textOf } from '../../api/exact.ts';
import { place } from '../../base/address.ts';
import { Panel } from '../../base/panel.ts';
import {
  asked,
  filtersOf,
  PARAMETERS,
  type Question,
  question,
  range,
  rangeNow,
  timeOf,
} from '../../base/question.ts';
import type { Range } from '../../base/range.ts';
import { isExplained, session } from '../../base/session.ts';
import { shownName } from '../../parts/log-text.tsx';
import { type Analysis, analysis, bodyOf, stepOf } from './analysis.ts';
import { type Answer, answerOf, Before, executedAnswer, TIME } from './answer.ts';

const AGGREGATE = '/beta/events/aggregate';
const ATTRIBUTES_MAX = 500;
const DEFINED_LIMIT = 10;
/** The most buckets of a field, and of all fields of an aggregation. Source: INTERFACE.md 4.8. */
const LIMIT_MAX = 100;
const LIMITS_PRODUCT_MAX = 1_000;

/** An execution of a saved list. */
export type ExecutedList = Extract<ExecuteResult, { events: unknown }>;

/** The answer of the analysis. */
export const answer = new Panel<Answer>();
/** The values of its buckets in the time before. */
export const before = new Panel<Before>();
/** The events of a saved list that was executed. */
export const executedList = new Panel<ExecutedList>();
/** Fields, tagsets and metrics that are defined. */
export const defined = new Panel<DefinedResult>();
/** The attributes that the events have. */
export const attributes = new Panel<AttributesResult>();
/** The saved analyses, which administrators see. */
export const savedAnalyses = new Panel<readonly SavedAnalysis[]>();

/** The end of the last loading of what is defined. */
let whenDefined: Promise<void> = Promise.resolve();

/** The metrics that are defined, by their ids. */
const metricsById = computed(
  () => new Map(defined.data.value?.metrics?.map((metric) => [metric.id, metric])),
);

/** Loads what the address asks for whenever that changes. Returns what ends it. */
export function watchAnalysis(): () => void {
  const ends = [effect(loadAnswer), effect(loadAttributes), effect(loadDefined)];
  return () => {
    for (const end of ends) end();
    // The next one to look may be another user.
    for (const panel of [answer, before, executedList, defined, attributes, savedAnalyses]) {
      panel.cancel();
      panel.data.value = undefined;
      panel.fault.value = undefined;
    }
  };
}

function loadAnswer(): void {
  const [now, what] = [question.value, analysis.value];
  // Read so that asking anew, another viewer and a service that is back load all again.
  void [asked.value, viewedKey.value];
  if (!isReachable.value) return;
  before.cancel();
  before.data.value = undefined;
  before.fault.value = undefined;
  executedList.data.value = undefined;
  const asking = rangeNow(now);
  range.value = asking;
  if (asking === undefined) return;
  if (what.run !== undefined) {
    void answer.load((signal) => execute(what.run ?? '', now, asking, signal));
    return;
  }
  void answer
    .load((signal) => loadBuckets(what, now, asking, signal))
    .then(() => {
      const found = answer.data.peek();
      if (what.isCompared && found?.range === asking) loadBefore(what, found);
    });
}

async function loadBuckets(
  what: Analysis,
  { query, zone }: Question,
  asking: Range,
  signal: AbortSignal,
): Promise<Answer> {
  const step = stepOf(what, asking);
  const time = { ...timeOf(asking), timezone: zone };
  const body = { ...bodyOf(what, query, time, step), hints: false, explain: isExplained() };
  const result = await ask<AggregateResult>(AGGREGATE, body, signal);
  const { metrics } = what;
  const groupings = what.groupings.map(({ id }) => id);
  return answerOf({ range: asking, zone, query, step, metrics, groupings, limits: [] }, result);
}

/** Loads the values of the same buckets in the time before, which may have had others on top. */
function loadBefore(what: Analysis, found: Answer): void {
  const lengthMs = found.range.toMs - found.range.fromMs;
  const earlier = { fromMs: found.range.fromMs - lengthMs, toMs: found.range.fromMs };
  void before.load(async (signal) => {
    // Tagsets take no limit.
    await whenDefined;
    const time = { ...timeOf(earlier), timezone: found.zone };
    const plain = bodyOf(what, found.query, time, found.step);
    const limits = limitsBefore(what, found);
    const groupBy = plain.groupBy?.map((group, at) => {
      const limit = limits[at] ?? Number.POSITIVE_INFINITY;
      return group.field === undefined || limit === Number.POSITIVE_INFINITY
        ? group
        : { field: { ...group.field, limit } };
    });
    const filters = [...(plain.filters ?? []), ...bucketFilters(found)];
    const body = { ...plain, groupBy, filters, hints: false };
    const result = await ask<AggregateResult>(AGGREGATE, body, signal);
    return new Before(answerOf({ ...found, range: earlier, limits }, result));
  });
}

/** How many buckets each grouping may have: as many as the service takes, since the same ones may have been lower. */
function limitsBefore({ groupings }: Analysis, { buckets }: Answer): number[] {
  const limits = groupings.map(({ id, limit }) =>
    isTagset(id) || id === TIME ? Number.POSITIVE_INFINITY : Number(limit) || DEFINED_LIMIT,
  );
  for (const [at, { id }] of groupings.entries()) {
    if (id === TIME || isTagset(id)) continue;
    const values = new Set(buckets.map(({ path }) => path[at])).size;
    const others = limits.reduce(
      (product, limit, place) =>
        place === at || !Number.isFinite(limit) ? product : product * limit,
      1,
    );
    const room = Math.min(LIMIT_MAX, Math.floor(LIMITS_PRODUCT_MAX / others));
    // One more than there are values: an answer below its limit has them all.
    limits[at] = Math.max(1, Math.min(room, Math.max(limits[at] ?? 0, values + 1)));
  }
  return limits;
}

/** The filters that keep the events of the buckets' values. */
function bucketFilters({ groupings, buckets }: Answer): NonNullable<AggregateBody['filters']> {
  if (buckets.length === 0) return [];
  return groupings.flatMap((id, at) => {
    if (id === TIME) return [];
    const values = [...new Set(buckets.map(({ groups }) => textOf(groups[at])))];
    return [{ field: { id, values } }];
  });
}

/** Reports whether an id is that of a tagset. */
export function isTagset(id: string): boolean {
  return defined.data.value?.fields?.some((field) => field.id === id && 'tags' in field) === true;
}

/** Executes a saved analysis, in the time of the address when that has one. */
async function execute(
  id: string,
  { query, zone }: Question,
  asking: Range,
  signal: AbortSignal,
): Promise<Answer> {
  const { FROM, TO } = PARAMETERS;
  const { params } = place.peek();
  const hasTime = params.has(FROM) || params.has(TO);
  const path = `/beta/saved_analyses/${encodeURIComponent(id)}/execute`;
  const time = { ...timeOf(asking), timezone: zone };
  const body = { names: true, ...(hasTime ? { time } : {}) };
  const result = await ask<ExecuteResult>(path, body, signal);
  if ('events' in result) executedList.data.value = result;
  const values = 'values' in result ? result.values : [];
  return executedAnswer({ range: asking, zone, query, step: '' }, { ...result, values });
}

function loadAttributes(): void {
  const now = question.value;
  void [asked.value, viewedKey.value];
  const asking = rangeNow(now);
  if (asking === undefined || !isReachable.value) return;
  const body = {
    ...{ time: { ...timeOf(asking), timezone: now.zone }, filters: filtersOf(now.query) },
    ...{ distinct: false, values: 0, limit: ATTRIBUTES_MAX },
  };
  void attributes.load((signal) =>
    ask<AttributesResult>('/beta/discover/attributes', body, signal),
  );
}

function loadDefined(): void {
  if (!isReachable.value) return;
  whenDefined = defined.load((signal) =>
    ask<DefinedResult>('/beta/discover/fields_metrics', { fields: true, metrics: true }, signal),
  );
  if (session.peek()?.role === 'admin') void loadSaved();
}

/** Loads the saved analyses. */
export function loadSaved(): Promise<void> {
  return savedAnalyses.load(async (signal) => {
    type Listed = { saved_analyses: SavedAnalysis[] };
    const path = '/admin/api/saved_analyses';
    return (await call<Listed>('GET', path, undefined, signal)).saved_analyses;
  });
}

/** The name of a metric. */
export function metricName(id: string): string {
  const metric = metricsById.value.get(id);
  if (metric !== undefined) return metric.name;
  const at = id.indexOf(':');
  return at < 0 ? id : `${id.slice(0, at)} of ${shownName(id.slice(at + 1))}`;
}

/** The value that a metric has of no events: some count them. */
export function valueOfNone(id: string): 0 | null {
  const metric = metricsById.peek().get(id);
  const counts = metric?.type === 'core' ? 'count' : (metric?.aggregation ?? id);
  return metric?.type !== 'formula' && /^(?:count|cardinality)(?:$|:)/.test(counts) ? 0 : null;
}

/** Says which numbers of metrics are near and not exact. Source: INTERFACE.md 4.8. */
export function nearness(ids: readonly string[]): string | undefined {
  const texts = ids.map((id) => textOfMetric(id));
  const parts = [
    ...(texts.some((text) => /\b(?:median|pc\d\d)\b/.test(text))
      ? ['percentiles of more than 100 values within 0.1 %']
      : []),
    ...(texts.some((text) => /\bcardinality\b/.test(text))
      ? ['distinct values above 10,000 within 1 %']
      : []),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** The aggregations that a metric is made of. */
function textOfMetric(id: string): string {
  const metric = metricsById.value.get(id);
  if (metric?.type !== 'formula') return metric?.aggregation ?? id;
  const parts = (metric.formula ?? '').match(/"[^"]*"|[^\s()*/+]+/g) ?? [];
  return parts.map((part) => textOfMetric(part.replaceAll('"', ''))).join(' ');
}

/** The name of a grouping. */
export function groupingName(id: string): string {
  if (id === TIME) return 'Time';
  return defined.data.value?.fields?.find((field) => field.id === id)?.name ?? shownName(id);
}

/** Reports whether the refusal is one that stands beside a field. */
export function isBesideField(): boolean {
  return (
    answer.fault.value?.status === 400 && /^(?:compute|groupBy)\[/.test(answer.fault.value.message)
  );
}

/** The refusal that begins with the name of a parameter. */
export function refusalOf(...parameters: readonly string[]): string | undefined {
  const fault = answer.fault.value;
  const isMeant = fault instanceof Fault && fault.status === 400;
  return isMeant && parameters.some((name) => fault.message.startsWith(name))
    ? fault.message
    : undefined;
}
