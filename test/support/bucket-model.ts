import {
  compareNumbers,
  compareText,
  distinctKey,
  holds,
  isNumeric,
  type Model,
  type ModelEvent,
  type ModelPredicate,
  type Scalar,
  scalarsAt,
} from './model.ts';

/**
 * Naive nested buckets over arrays of events: the oracle of aggregations. Each bucket is an array of events, which is
 * looked at anew for every metric.
 */

type ModelPercentile = 'median' | 'pc75' | 'pc90' | 'pc95' | 'pc98' | 'pc99';
export type ModelAggregation =
  | 'count'
  | 'cardinality'
  | 'sum'
  | 'min'
  | 'max'
  | 'avg'
  | ModelPercentile;

export type ModelSimpleMetric =
  | { type: 'core' }
  | { type: 'attribute'; path: string; aggregation: ModelAggregation };

export type ModelExpression =
  | { type: 'number'; value: number }
  | { type: 'metric'; metric: ModelSimpleMetric }
  | {
      type: 'operation';
      operator: '+' | '-' | '*' | '/';
      left: ModelExpression;
      right: ModelExpression;
    };

export type ModelMetric = ModelSimpleMetric | { type: 'formula'; expression: ModelExpression };

export type ModelCompute =
  | { type: 'metric'; metric: ModelMetric }
  | { type: 'timeseries'; metric: ModelMetric; boundaries: number[] };

export interface ModelOrder {
  by: ModelMetric | { type: 'natural' };
  direction: 'asc' | 'desc';
}

export type ModelGroupBy =
  | { type: 'field'; path: string; limit: number; order: ModelOrder; total: boolean }
  | {
      type: 'tagset';
      tags: { id: string; predicate: ModelPredicate }[];
      limit?: number;
      order: ModelOrder;
      total: boolean;
    }
  | { type: 'time'; boundaries: number[]; total: boolean };

export interface ModelAggregate {
  fromMs: number;
  toMs: number;
  predicate: ModelPredicate;
  computes: ModelCompute[];
  groupBys: ModelGroupBy[];
  /** The key of a bucket of the first level: the page has those behind it. */
  after?: string;
}

/** A page of buckets. */
export interface ModelPage {
  buckets: ModelBucket[];
  /** The key of the last bucket of the first level, when there are more. */
  last?: string;
}

/** A value that a bucket may have: exact up to `tolerance`, or the number that `text` says. */
export interface ModelNumber {
  exact: number | null;
  tolerance: number;
  text?: string;
}

/** True when a value, as a number or its text, is as wanted. */
export function isRight(value: unknown, { exact, tolerance, text }: ModelNumber): boolean {
  if (!Number.isFinite(tolerance)) return true;
  if (exact === null || value === null) return exact === value;
  if (typeof value !== 'number' && typeof value !== 'string') return false;
  if (text !== undefined) return compareNumbers(String(value), text) === 0;
  return Math.abs(Number(value) - exact) <= tolerance;
}

/** A bucket: texts of its keys, and of each compute a value, or one a step. */
export interface ModelBucket {
  keys: string[];
  values: (ModelNumber | ModelNumber[])[];
}

interface Group {
  key: string;
  events: ModelEvent[];
  /** In natural order: negative when it comes first. */
  compare: (other: Group) => number;
  scalar?: Scalar;
  place?: number;
}

/** Most numbers of which quantiles are exact. */
const EXACT_COUNT_MAX = 100;

/** Doubles below have fewer digits than quantiles are right to. */
const SUBNORMAL = 1e-300;

const PERCENTS: [string, number][] = [
  ['median', 50],
  ['pc75', 75],
  ['pc90', 90],
  ['pc95', 95],
  ['pc98', 98],
  ['pc99', 99],
];

/** The buckets of an aggregation, in their order. */
export function modelBuckets(model: Model, query: ModelAggregate): ModelBucket[] {
  return modelPage(model, query).buckets;
}

/** A page of the buckets of an aggregation, in their order. */
export function modelPage(model: Model, query: ModelAggregate): ModelPage {
  const events = model.selected(query.fromMs, query.toMs, query.predicate);
  let last: string | undefined;
  const nest = (inside: ModelEvent[], place: number, keys: string[]): ModelBucket[] => {
    if (place === query.groupBys.length) {
      return [{ keys, values: query.computes.map((compute) => computed(model, inside, compute)) }];
    }
    const groupBy = query.groupBys[place];
    const all = groupsOf(model, inside, groupBy);
    const behind =
      place === 0 && query.after !== undefined
        ? all.slice(all.findIndex(({ key }) => key === query.after) + 1)
        : all;
    const groups = behind.slice(0, 'limit' in groupBy ? groupBy.limit : undefined);
    if (place === 0 && groups.length < behind.length) last = groups.at(-1)?.key;
    const shown = groups.flatMap((group) => nest(group.events, place + 1, [...keys, group.key]));
    return groupBy.total ? [...shown, ...nest(inside, place + 1, [...keys, 'total'])] : shown;
  };
  const buckets = nest(events, 0, []);
  return last === undefined ? { buckets } : { buckets, last };
}

/** All groups of a level, in their order. */
function groupsOf(model: Model, events: ModelEvent[], groupBy: ModelGroupBy): Group[] {
  if (groupBy.type === 'time') return timeGroups(events, groupBy.boundaries);
  const groups =
    groupBy.type === 'field'
      ? fieldGroups(model, events, groupBy.path)
      : tagGroups(model, events, groupBy.tags);
  const { by, direction } = groupBy.order;
  const sign = direction === 'asc' ? 1 : -1;
  const rank = (group: Group) => (by.type === 'natural' ? null : metricOf(model, group.events, by));
  const ranked = groups.map((group) => ({ group, rank: rank(group) }));
  ranked.sort((a, b) => {
    if (by.type === 'natural') return sign * a.group.compare(b.group);
    const [left, right] = [a.rank?.exact ?? null, b.rank?.exact ?? null];
    if (left === null && right === null) return a.group.compare(b.group);
    if (left === null || right === null) return left === null ? 1 : -1;
    const order = compareNumbers(a.rank?.text ?? String(left), b.rank?.text ?? String(right));
    return order === 0 ? a.group.compare(b.group) : sign * order;
  });
  return ranked.map(({ group }) => group);
}

function timeGroups(events: ModelEvent[], boundaries: number[]): Group[] {
  const groups: Group[] = [];
  for (const [step, from] of boundaries.slice(0, -1).entries()) {
    const inside = events.filter(({ timeMs }) => timeMs >= from && timeMs < boundaries[step + 1]);
    if (inside.length > 0) groups.push({ key: `time ${from}`, events: inside, compare: () => 0 });
  }
  return groups;
}

function tagGroups(
  model: Model,
  events: ModelEvent[],
  tags: { id: string; predicate: ModelPredicate }[],
): Group[] {
  const groups: Group[] = [];
  for (const [place, { id, predicate }] of tags.entries()) {
    const inside = events.filter((event) => {
      const node = model.node(event);
      const before = tags.slice(0, place).some((tag) => holds(tag.predicate, node));
      return !before && holds(predicate, node);
    });
    if (inside.length === 0) continue;
    groups.push({
      key: `tag ${id}`,
      events: inside,
      place,
      compare: (other) => place - (other.place ?? 0),
    });
  }
  return groups;
}

function fieldGroups(model: Model, events: ModelEvent[], path: string): Group[] {
  const groups = new Map<string, Group>();
  for (const event of events) {
    const distinct = new Map(
      scalarsAt(model.node(event), path).map((scalar) => [distinctKey(scalar), scalar]),
    );
    for (const [key, scalar] of distinct) {
      const group = groups.get(key);
      if (group !== undefined) {
        group.events.push(event);
        continue;
      }
      groups.set(key, {
        key,
        events: [event],
        scalar,
        compare: (other) => compareScalars(scalar, other.scalar ?? scalar),
      });
    }
  }
  return [...groups.values()];
}

const RANKS = ['number', 'string', 'boolean'];

/** The natural order of values: negative when `left` comes first. */
export function compareScalars(left: Scalar, right: Scalar): number {
  const [leftNumeric, rightNumeric] = [isNumeric(left), isNumeric(right)];
  if (leftNumeric !== rightNumeric) return leftNumeric ? -1 : 1;
  const order = leftNumeric ? compareNumbers(left.text, right.text) : 0;
  if (order !== 0) return order;
  if (left.type !== right.type) return RANKS.indexOf(left.type) - RANKS.indexOf(right.type);
  if (left.type === 'string') return compareText(left.text, right.text);
  return Number(left.text === 'true') - Number(right.text === 'true');
}

function computed(
  model: Model,
  events: ModelEvent[],
  compute: ModelCompute,
): ModelNumber | ModelNumber[] {
  if (compute.type === 'metric') return metricOf(model, events, compute.metric);
  const { boundaries, metric } = compute;
  return boundaries.slice(0, -1).map((from, step) => {
    const inside = events.filter(({ timeMs }) => timeMs >= from && timeMs < boundaries[step + 1]);
    return metricOf(model, inside, metric);
  });
}

/** The value at the rank of `percent` % of ascending numbers; at 50 % of an even count the mean of the middle two. */
function quantileOf(numbers: readonly number[], percent: number): ModelNumber {
  const { length } = numbers;
  const at = Math.ceil((percent * length) / 100) - 1;
  if (length === 0) return { exact: null, tolerance: 0 };
  const isExact = length <= EXACT_COUNT_MAX;
  if (percent !== 50 || length % 2 === 1) {
    const tolerance = isExact ? 0 : Math.abs(numbers[at]) * 0.002 + SUBNORMAL;
    return { exact: numbers[at], tolerance };
  }
  const [left, right] = [numbers[at], numbers[at + 1]];
  const magnitude = Math.max(Math.abs(left), Math.abs(right));
  const exact = left / 2 + right / 2;
  return { exact, tolerance: magnitude * (isExact ? 2 ** -52 : 0.002) + SUBNORMAL };
}

/** The value of a metric of events. */
export function metricOf(model: Model, events: ModelEvent[], metric: ModelMetric): ModelNumber {
  if (metric.type === 'formula') return evaluated(model, events, metric.expression);
  if (metric.type === 'core') return { exact: events.length, tolerance: 0 };
  const summary = model.summaryOf(events, metric.path);
  const { numbers } = summary;
  const percent = PERCENTS.find(([name]) => name === metric.aggregation)?.[1];
  if (percent !== undefined) {
    return quantileOf(numbers, percent);
  }
  const exact = summary[metric.aggregation as 'count'];
  let tolerance = 0;
  if (metric.aggregation === 'sum' && !summary.plain) tolerance = summary.absolute * 1e-12;
  if (metric.aggregation === 'avg') tolerance = (summary.absolute / numbers.length) * 1e-12;
  const name = metric.aggregation;
  const isText = name === 'min' || name === 'max' || (name === 'sum' && summary.plain);
  if (exact === null || !Number.isFinite(exact)) return { exact: null, tolerance };
  return { exact, tolerance, ...(isText ? { text: summary.texts[name] } : {}) };
}

function evaluated(model: Model, events: ModelEvent[], expression: ModelExpression): ModelNumber {
  const value = (part: ModelExpression): number | null => {
    if (part.type === 'number') return part.value;
    if (part.type === 'metric') return metricOf(model, events, part.metric).exact;
    const [left, right] = [value(part.left), value(part.right)];
    if (left === null || right === null) return null;
    if (part.operator === '+') return left + right;
    if (part.operator === '-') return left - right;
    if (part.operator === '*') return left * right;
    return right === 0 ? null : left / right;
  };
  const exact = value(expression);
  return { exact: exact !== null && Number.isFinite(exact) ? exact : null, tolerance: 0 };
}
