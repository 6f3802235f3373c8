import type {
  ModelAggregate,
  ModelCompute,
  ModelExpression,
  ModelGroupBy,
  ModelMetric,
  ModelOrder,
  ModelSimpleMetric,
} from '../support/bucket-model.ts';
import type { ModelPredicate } from '../support/model.ts';
import { printSearch } from '../support/search-printer.ts';
import {
  instantsOf,
  isoOf,
  type ModelTerm,
  mathOf,
  stepsOf,
  wallOf,
} from '../support/zone-model.ts';
import {
  type Asked,
  type AskedFilter,
  type AskedGroupBy,
  type AskedMetric,
  type AskedOrder,
  type AskedTime,
  CENTRES,
  INTERVALS,
  type Point,
  type World,
  ZONES,
} from './requests.ts';

/** A random request as JSON, and its meaning to the model. */

/** A column of a list. */
export type ModelColumn =
  | { type: 'path'; path: string }
  | { type: 'count' }
  | { type: 'tag'; tags: { id: string; predicate: ModelPredicate }[] }
  | { type: 'formula'; expression: ModelExpression };

interface Common {
  path: string;
  /** The body without what pages add. */
  body: Record<string, unknown>;
  zone: string;
}

export type Meaning = Common &
  (
    | {
        type: 'list';
        fromMs: number;
        toMs: number;
        predicate: ModelPredicate;
        order: 'asc' | 'desc';
        orderBy: string | undefined;
        limit: number;
        skip: number | undefined;
        total: boolean;
        event: boolean;
        columns: ModelColumn[];
      }
    | {
        type: 'aggregate';
        query: ModelAggregate;
        outputs: string[];
        groupOutputs: string[];
        totals: string[];
      }
  );

export const LIST_PATH = '/beta/events/list';
export const FETCH_PATH = '/beta/events/fetch';
const AGGREGATE_PATH = '/beta/events/aggregate';
const EVER = { fromMs: -62_135_596_800_000, toMs: 253_402_300_799_999 };
const STEPS_MAX = 60;
const UNIT_MS = { s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5, M: 26784e5, y: 316e8 };
/** Years that one term may go back, so that no clock of before 1973 is asked. */
const YEARS_MAX = 10;

export const DECLARED_FIELD = { id: 'the_a', path: 'custom.a' };

export function tagsetId(set: number): string {
  return `set${set}`;
}

export function formulaId(place: number): string {
  return `formula-${place}`;
}

/** The tags of a tagset of a world. */
export function tagsOf(world: World, set: number): { id: string; predicate: ModelPredicate }[] {
  return world.tagsets[set].map((predicate, place) => ({ id: `t${place}`, predicate }));
}

/** The text of a formula. */
export function printFormula(expression: ModelExpression): string {
  if (expression.type === 'number') return String(expression.value);
  if (expression.type === 'metric') return `"${simpleId(expression.metric)}"`;
  const { left, operator, right } = expression;
  return `(${printFormula(left)} ${operator} ${printFormula(right)})`;
}

/** `nowMs` is what the service takes for now; without it date math is written as the instant that it denotes. */
export function meaningOf(world: World, asked: Asked, nowMs: number, writesMath: boolean): Meaning {
  const scope = scopeOf(world, asked.time, nowMs, writesMath);
  const filters = asked.filters.map((filter) => filterOf(world, filter));
  const predicate: ModelPredicate = {
    type: 'and',
    children: filters.map((filter) => filter.predicate),
  };
  const body = { time: scope.body, filters: filters.map((filter) => filter.body) };
  if (asked.type === 'aggregate') return aggregateOf(world, asked, scope, body, predicate);
  const { order, orderBy, limit, skip, total, event } = asked;
  const by = orderBy === DECLARED_FIELD.path ? DECLARED_FIELD.id : orderBy;
  const paged = { ...(skip === undefined ? {} : { skip }), ...(total ? { total } : {}) };
  const columns = asked.columns.map((column) => columnOf(world, column));
  return {
    ...{ type: 'list', path: LIST_PATH, zone: scope.zone, predicate, order, limit, event },
    ...{ fromMs: scope.fromMs, toMs: scope.toMs, columns: columns.map(({ means }) => means) },
    ...{ orderBy, skip, total },
    body: {
      ...{ ...body, order, limit, ...paged, event, columns: columns.map(({ sent }) => sent) },
      ...(by === undefined ? {} : { orderBy: by }),
    },
  };
}

interface Scope {
  body: Record<string, unknown>;
  zone: string;
  fromMs: number;
  toMs: number;
  ever: boolean;
}

function scopeOf(world: World, time: AskedTime, nowMs: number, writesMath: boolean): Scope {
  const centre = CENTRES[world.centre];
  const { sent, name: zone } = ZONES[time.zone < 0 ? centre.zone : time.zone];
  if (time.range.type === 'ever') {
    const body = { from: EVER.fromMs, to: EVER.toMs, ...sent };
    return { body, zone, ...EVER, ever: true };
  }
  const points = [time.range.from, time.range.to]
    .map((point) => ({ point, ms: instantOf(point, centre.ms, zone, nowMs) }))
    .sort((a, b) => a.ms - b.ms);
  const [from, to] = points.map(({ point, ms }) =>
    point.type === 'math' && writesMath
      ? printMath(point)
      : printInstant(ms, zone, 'form' in point ? point.form : 3),
  );
  const [{ ms: fromMs }, { ms: toMs }] = points;
  return { body: { from, to, ...sent }, zone, fromMs, toMs, ever: false };
}

function instantOf(point: Point, centreMs: number, zone: string, nowMs: number): number {
  if (point.type === 'instant') return centreMs + point.aroundMs;
  return mathOf(zone, nowMs, point.terms.map(tamed));
}

function tamed(term: ModelTerm): ModelTerm {
  return term.type === 'add' && term.unit === 'y'
    ? { ...term, count: Math.max(term.count, -YEARS_MAX) }
    : term;
}

function printMath({ terms, spaced }: Extract<Point, { type: 'math' }>): string {
  const blank = spaced ? ' ' : '';
  const texts = terms.map(tamed).map((term) => {
    if (term.type === 'round') return `/${blank}${term.unit}`;
    return `${term.count < 0 ? '-' : '+'}${blank}${Math.abs(term.count)}${term.unit}`;
  });
  return ['now', ...texts].join(blank);
}

function printInstant(ms: number, zone: string, form: number): string | number {
  if (form === 0) return ms;
  if (form === 1) return String(ms);
  if (form === 2) return new Date(ms).toISOString();
  const wall = wallOf(zone, ms);
  // Without an offset a text means the first of two instants.
  const isPlain = form === 4 && instantsOf(zone, wall)[0] === ms;
  return isPlain ? new Date(wall).toISOString().slice(0, -1) : isoOf(zone, ms);
}

function filterOf(
  world: World,
  filter: AskedFilter,
): { body: Record<string, unknown>; predicate: ModelPredicate } {
  if (filter.type === 'search') {
    const query = printSearch(filter.predicate, filter.plain);
    return { body: { search: filter.bare ? query : { query } }, predicate: filter.predicate };
  }
  if (filter.type === 'field') {
    const { path, values, exclude } = filter;
    const matches = values.map((text): ModelPredicate => {
      return { type: 'value', paths: [path], match: { type: 'text', text } };
    });
    const id = path === DECLARED_FIELD.path ? DECLARED_FIELD.id : path;
    const body = { field: { id, values, ...(exclude ? { exclude } : {}) } };
    return { body, predicate: excluded({ type: 'or', children: matches }, exclude) };
  }
  const { set, exclude, searched } = filter;
  const tags = tagsOf(world, set);
  const matches = filter.tags.map((place): ModelPredicate => {
    const before = tags.slice(0, place).map(({ predicate }) => excluded(predicate, true));
    return { type: 'and', children: [...before, tags[place].predicate] };
  });
  const predicate = excluded({ type: 'or', children: matches }, exclude);
  const id = tagsetId(set);
  const values = filter.tags.map((place) => tags[place].id);
  const query = `${exclude ? '-' : ''}${id}:(${values.join(' OR ')})`;
  return { body: searched ? { search: query } : { field: { id, values, exclude } }, predicate };
}

function excluded(child: ModelPredicate, exclude: boolean): ModelPredicate {
  return exclude ? { type: 'not', child } : child;
}

function simpleId(metric: ModelSimpleMetric): string {
  return metric.type === 'core' ? 'count' : `${metric.aggregation}:${metric.path}`;
}

function metricOf(world: World, asked: AskedMetric): { id: string; metric: ModelMetric } {
  if (asked.type === 'simple') return { id: simpleId(asked.metric), metric: asked.metric };
  const { place } = asked;
  return { id: formulaId(place), metric: { type: 'formula', expression: world.formulas[place] } };
}

function columnOf(
  world: World,
  column: Extract<Asked, { type: 'list' }>['columns'][number],
): { sent: Record<string, string>; means: ModelColumn } {
  if (column.type === 'path') {
    const { path, as } = column;
    const id = as === 'field' && path === DECLARED_FIELD.path ? DECLARED_FIELD.id : path;
    return { sent: { [as]: id }, means: { type: 'path', path } };
  }
  if (column.type === 'tagset') {
    const { set } = column;
    return { sent: { field: tagsetId(set) }, means: { type: 'tag', tags: tagsOf(world, set) } };
  }
  const { id, metric } = metricOf(world, column.metric);
  const sent = { metric: id };
  if (metric.type === 'core') return { sent, means: { type: 'count' } };
  if (metric.type === 'attribute') return { sent, means: { type: 'path', path: metric.path } };
  return { sent, means: { type: 'formula', expression: metric.expression } };
}

/** The interval at a place, or the first longer one of which the range has not too many. */
function intervalOf(place: number, { fromMs, toMs }: Scope): (typeof INTERVALS)[number] {
  const fits = INTERVALS.slice(place).find(
    ({ count, unit }) => (toMs - fromMs) / (count * UNIT_MS[unit]) <= STEPS_MAX,
  );
  return fits ?? INTERVALS[INTERVALS.length - 1];
}

function printInterval({ count, unit }: (typeof INTERVALS)[number]): string {
  return `${count}${unit}`;
}

function boundariesOf(interval: (typeof INTERVALS)[number], scope: Scope): number[] {
  const { zone, fromMs, toMs } = scope;
  if (fromMs === toMs) {
    const [start, next] = stepsOf(zone, interval, fromMs, fromMs + 1);
    return start === fromMs ? [start] : [start, next];
  }
  return stepsOf(zone, interval, fromMs, toMs);
}

function aggregateOf(
  world: World,
  asked: Extract<Asked, { type: 'aggregate' }>,
  scope: Scope,
  common: Record<string, unknown>,
  predicate: ModelPredicate,
): Meaning {
  const computes: ModelCompute[] = [];
  const outputs: string[] = [];
  const compute = asked.computes.map(({ metric: wanted, interval: at }, place) => {
    const { id, metric } = metricOf(world, wanted);
    // One name is the id's own, and one is a name that objects have already.
    const given = place === 0 ? undefined : place === 3 ? '__proto__' : `m ${place}"`;
    const output = given === undefined ? {} : { output: given };
    outputs.push(given ?? id);
    if (at === undefined || scope.ever) {
      computes.push({ type: 'metric', metric });
      return { metric: { id, ...output } };
    }
    const interval = intervalOf(at, scope);
    computes.push({ type: 'timeseries', metric, boundaries: boundariesOf(interval, scope) });
    return { timeseries: { metricId: id, interval: printInterval(interval), ...output } };
  });
  const levels = asked.groupBys
    .filter(({ type }) => type !== 'time' || !scope.ever)
    .map((groupBy, place) => levelOf(world, groupBy, place, scope, { computes, outputs }));
  const { fromMs, toMs, zone } = scope;
  const groupBys = levels.map(({ means }) => means);
  return {
    type: 'aggregate',
    path: AGGREGATE_PATH,
    zone,
    body: { ...common, compute, groupBy: levels.map(({ sent }) => sent), format: false },
    query: { fromMs, toMs, predicate, computes, groupBys },
    outputs,
    groupOutputs: levels.map(({ output }) => output),
    totals: levels.map((_, place) => totalOf(place)),
  };
}

function totalOf(place: number): string {
  return `all of ${place}`;
}

interface Computed {
  computes: ModelCompute[];
  outputs: string[];
}

function levelOf(
  world: World,
  groupBy: AskedGroupBy,
  place: number,
  scope: Scope,
  computed: Computed,
): { sent: Record<string, unknown>; means: ModelGroupBy; output: string } {
  const { total } = groupBy;
  const given = place === 0 ? undefined : place === 2 ? 'constructor' : `g ${place}`;
  const named = { ...(given === undefined ? {} : { output: given }), ...totalled(total, place) };
  if (groupBy.type === 'time') {
    const interval = intervalOf(groupBy.interval, scope);
    const sent = { time: { interval: printInterval(interval), ...named } };
    const means = { type: 'time' as const, boundaries: boundariesOf(interval, scope), total };
    return { sent, means, output: given ?? 'time' };
  }
  const order = orderOf(world, groupBy.order, computed);
  const { limit } = groupBy;
  const limited = limit === undefined ? {} : { limit };
  const id = groupBy.type === 'tagset' ? tagsetId(groupBy.set) : groupBy.path;
  const ordered = order.sent === undefined ? {} : { order: order.sent };
  const sent = { field: { id, ...limited, ...ordered, ...named } };
  const kept = { order: order.means, total };
  const means: ModelGroupBy =
    groupBy.type === 'tagset'
      ? { type: 'tagset', tags: tagsOf(world, groupBy.set), ...limited, ...kept }
      : { type: 'field', path: groupBy.path, limit: limit ?? 10, ...kept };
  return { sent, means, output: given ?? id };
}

function totalled(total: boolean, place: number): { total?: string } {
  return total ? { total: totalOf(place) } : {};
}

/** Where the order would be by a metric that is not exact, it is natural instead. */
function orderOf(
  world: World,
  order: AskedOrder | undefined,
  { computes, outputs }: Computed,
): { sent: Record<string, string> | undefined; means: ModelOrder } {
  const natural = (direction: 'asc' | 'desc') => ({
    sent: { '@natural': direction },
    means: { by: { type: 'natural' as const }, direction },
  });
  if (order === undefined) {
    const by = computes[0].metric;
    if (!isExact(by)) return natural('asc');
    return { sent: undefined, means: { by, direction: 'desc' } };
  }
  const { by, direction } = order;
  if (by === 'natural') return natural(direction);
  if (by === 'output') {
    const place = order.place % computes.length;
    const { metric } = computes[place];
    if (!isExact(metric)) return natural(direction);
    return { sent: { [outputs[place]]: direction }, means: { by: metric, direction } };
  }
  const { id, metric } = metricOf(world, by);
  return { sent: { [id]: direction }, means: { by: metric, direction } };
}

function isExact(metric: ModelMetric): boolean {
  if (metric.type !== 'attribute') return true;
  const { aggregation, path } = metric;
  if (aggregation === 'sum') return path === 'custom.n';
  return ['count', 'cardinality', 'min', 'max'].includes(aggregation);
}
