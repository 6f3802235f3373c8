import fc from 'fast-check';
import type {
  ModelAggregation,
  ModelExpression,
  ModelSimpleMetric,
} from '../support/bucket-model.ts';
import type { ModelPredicate } from '../support/model.ts';
import type { ModelTerm, ModelUnit } from '../support/zone-model.ts';
import { filterText, messageText, PATHS, plainText, predicate, valueText } from './predicates.ts';

/** Random worlds: events that are sent, definitions, and requests, as plain data that fast-check can shrink. */

/** An instant as a request writes it. Times lie around the world's centre. */
export type Point =
  | { type: 'instant'; aroundMs: number; form: number }
  | { type: 'math'; terms: ModelTerm[]; spaced: boolean };

export interface AskedTime {
  /** Place in ZONES. */
  zone: number;
  range: { type: 'ever' } | { type: 'points'; from: Point; to: Point };
}

export type AskedFilter =
  | { type: 'field'; path: string; values: string[]; exclude: boolean }
  | { type: 'tagset'; set: number; tags: number[]; exclude: boolean; searched: boolean }
  | { type: 'search'; predicate: ModelPredicate; plain: boolean; bare: boolean };

export type AskedMetric =
  | { type: 'simple'; metric: ModelSimpleMetric }
  | { type: 'formula'; place: number };

export type AskedColumn =
  | { type: 'path'; path: string; as: 'attribute' | 'field' }
  | { type: 'tagset'; set: number }
  | { type: 'metric'; metric: AskedMetric };

export interface AskedOrder {
  by: 'natural' | 'output' | AskedMetric;
  /** Of an output: which. */
  place: number;
  direction: 'asc' | 'desc';
}

interface Level {
  limit: number | undefined;
  order: AskedOrder | undefined;
  total: boolean;
}

export type AskedGroupBy =
  | ({ type: 'field'; path: string } & Level)
  | ({ type: 'tagset'; set: number } & Level)
  | { type: 'time'; interval: number; total: boolean };

export type Asked =
  | {
      type: 'list';
      time: AskedTime;
      filters: AskedFilter[];
      columns: AskedColumn[];
      limit: number;
      order: 'asc' | 'desc';
      orderBy: string | undefined;
      skip: number | undefined;
      total: boolean;
      event: boolean;
    }
  | {
      type: 'aggregate';
      time: AskedTime;
      filters: AskedFilter[];
      computes: { metric: AskedMetric; interval: number | undefined }[];
      groupBys: AskedGroupBy[];
    };

/** An event as it is sent: over which connection, its date, and the JSON texts of its attributes. */
export interface SentEvent {
  writer: number;
  /** Around the centre, or far from all others. */
  date: { type: 'around'; ms: number } | { type: 'far'; text: string };
  form: number;
  /** By place in NAMES. */
  values: (string | undefined)[];
}

export interface World {
  /** Place in CENTRES. */
  centre: number;
  events: SentEvent[];
  /** Of each tagset the filters of its tags. */
  tagsets: ModelPredicate[][];
  formulas: ModelExpression[];
  requests: Asked[];
}

/** Zones, as a `time` object has them, and as replies write them. */
export const ZONES: { sent: { timezone?: string; offset?: number }; name: string }[] = [
  { sent: {}, name: 'UTC' },
  { sent: { timezone: 'UTC+05:30' }, name: '+05:30' },
  { sent: { offset: -12_600 }, name: '-03:30' },
  { sent: { offset: 50_400_000 }, name: '+14:00' },
  { sent: { timezone: 'Europe/Paris' }, name: 'Europe/Paris' },
  { sent: { timezone: 'America/New_York', offset: 3_600 }, name: 'America/New_York' },
  { sent: { timezone: 'Australia/Lord_Howe' }, name: 'Australia/Lord_Howe' },
  { sent: { timezone: 'Asia/Kathmandu' }, name: 'Asia/Kathmandu' },
  { sent: { timezone: 'pacific/apia' }, name: 'Pacific/Apia' },
];
/** Zones whose clocks never jump: the first ones. */
const STEADY_ZONES = 4;

/** Instants at which clocks of one of the zones jump, each with that zone. */
export const CENTRES: { ms: number; zone: number }[] = [
  { ms: Date.parse('2021-03-28T01:00:00Z'), zone: 4 },
  { ms: Date.parse('2021-10-31T01:00:00Z'), zone: 4 },
  { ms: Date.parse('2021-03-14T07:00:00Z'), zone: 5 },
  { ms: Date.parse('2021-11-07T06:00:00Z'), zone: 5 },
  { ms: Date.parse('2021-04-03T15:00:00Z'), zone: 6 },
  { ms: Date.parse('2021-10-02T15:30:00Z'), zone: 6 },
  { ms: Date.parse('1985-12-31T18:30:00Z'), zone: 7 },
  { ms: Date.parse('2011-12-30T10:00:00Z'), zone: 8 },
];

export const INTERVALS: { count: number; unit: ModelUnit }[] = [
  ...[1, 7, 30].map((count) => ({ count, unit: 's' as const })),
  ...[1, 5, 45].map((count) => ({ count, unit: 'm' as const })),
  ...[1, 2, 5, 12, 24].map((count) => ({ count, unit: 'h' as const })),
  ...[1, 2].map((count) => ({ count, unit: 'd' as const })),
  ...[1, 2].map((count) => ({ count, unit: 'w' as const })),
  ...[1, 3].map((count) => ({ count, unit: 'M' as const })),
  { count: 1, unit: 'y' },
  { count: 4, unit: 'y' },
];

/** Names as they are sent; each has a place in an event's values. */
export const NAMES = [
  'message',
  'syslog.appname',
  'a',
  'b',
  'n',
  'o.x',
  'o.y.z',
  'd.ot',
  '@m',
  'k..e',
];

const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;

const around = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 4 }) },
  { weight: 4, arbitrary: fc.integer({ min: -150, max: 150 }).map((n) => n * QUARTER_MS) },
  { weight: 2, arbitrary: fc.integer({ min: -60_000, max: 60_000 }) },
  fc.integer({ min: -8, max: 8 }).map((n) => n * DAY_MS - 1),
  fc.integer({ min: -2_900, max: 2_900 }).map((n) => n * DAY_MS),
);
const far = fc.constantFrom(
  '1969-12-31T23:59:59.999Z',
  '1000-02-03T04:05:06.007Z',
  '2300-12-31T00:00:00.000Z',
  '2999-06-01T12:00:00.000Z',
);

const missing = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 });

export const sentEvent: fc.Arbitrary<SentEvent> = fc.record({
  writer: fc.nat(2),
  date: fc.oneof(
    { weight: 19, arbitrary: fc.record({ type: fc.constant('around' as const), ms: around }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('far' as const), text: far }) },
  ),
  form: fc.nat(2),
  values: fc.tuple(
    ...NAMES.map((name) => {
      if (name === 'message') return missing(messageText);
      return missing(name === 'n' ? plainText : valueText);
    }),
  ),
});

const unit = fc.constantFrom<ModelUnit>('s', 'm', 'h', 'd', 'w', 'M', 'y');
const term: fc.Arbitrary<ModelTerm> = fc.oneof(
  fc.record({ type: fc.constant('add' as const), count: fc.integer({ min: -40, max: 5 }), unit }),
  fc.record({ type: fc.constant('round' as const), unit }),
);
const instant = fc.record({
  type: fc.constant('instant' as const),
  aroundMs: around,
  form: fc.nat(4),
});
const math = fc.record({
  type: fc.constant('math' as const),
  terms: fc.array(term, { maxLength: 3 }),
  spaced: fc.boolean(),
});
const point: fc.Arbitrary<Point> = fc.oneof(
  { weight: 5, arbitrary: instant },
  { weight: 1, arbitrary: math },
);
const range: fc.Arbitrary<AskedTime['range']> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ type: 'ever' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('points' as const), from: point, to: point }),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(1, 3, 40), fc.nat(4), fc.nat(4))
      .map(([days, one, other]) => ({
        type: 'points' as const,
        from: { type: 'instant' as const, aroundMs: -days * DAY_MS, form: one },
        to: { type: 'instant' as const, aroundMs: days * DAY_MS, form: other },
      })),
  },
);
/** A zone of -1 is that of the centre; ever is asked on clocks that never jump. */
const time: fc.Arbitrary<AskedTime> = fc
  .tuple(range, fc.integer({ min: -6, max: ZONES.length - 1 }), fc.nat(STEADY_ZONES - 1))
  .map(([range, zone, steady]) => ({
    range,
    zone: range.type === 'ever' ? steady : Math.max(zone, -1),
  }));

const path = fc.constantFrom(...PATHS);
const set = fc.nat(1);
const filter: fc.Arbitrary<AskedFilter> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('field' as const),
      path,
      values: fc.array(filterText, { minLength: 1, maxLength: 3 }),
      exclude: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('tagset' as const),
      set,
      tags: fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 2 }),
      exclude: fc.boolean(),
      searched: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('search' as const),
      predicate,
      plain: fc.boolean(),
      bare: fc.boolean(),
    }),
  },
);
const filters = fc.oneof(
  { weight: 2, arbitrary: fc.constant<AskedFilter[]>([]) },
  { weight: 3, arbitrary: fc.array(filter, { minLength: 1, maxLength: 2 }) },
);

const core = fc.constant({ type: 'core' as const });
const ofAttribute = (paths: fc.Arbitrary<string>, ...aggregations: ModelAggregation[]) =>
  fc.record({
    type: fc.constant('attribute' as const),
    path: paths,
    aggregation: fc.constantFrom(...aggregations),
  });
/** Metrics whose values are exact, so that what is ordered by them is in one order alone. */
const exactMetric: fc.Arbitrary<ModelSimpleMetric> = fc.oneof(
  core,
  ofAttribute(path, 'count', 'cardinality', 'min', 'max'),
  ofAttribute(fc.constant('custom.n'), 'sum'),
);
const anyMetric: fc.Arbitrary<ModelSimpleMetric> = fc.oneof(
  exactMetric,
  ofAttribute(path, 'sum', 'avg', 'median', 'pc75', 'pc90', 'pc95', 'pc98', 'pc99'),
);
const asked = (metric: fc.Arbitrary<ModelSimpleMetric>): fc.Arbitrary<AskedMetric> =>
  fc.oneof(
    { weight: 4, arbitrary: metric.map((metric) => ({ type: 'simple' as const, metric })) },
    { weight: 1, arbitrary: fc.nat(1).map((place) => ({ type: 'formula' as const, place })) },
  );

const direction = fc.constantFrom('asc' as const, 'desc' as const);
const order: fc.Arbitrary<AskedOrder> = fc.record({
  by: fc.oneof(
    { weight: 3, arbitrary: fc.constant('natural' as const) },
    { weight: 1, arbitrary: fc.constant('output' as const) },
    { weight: 2, arbitrary: asked(exactMetric) },
  ),
  place: fc.nat(4),
  direction,
});
const level = {
  limit: fc.option(fc.constantFrom(1, 2, 3, 5, 10), { nil: undefined }),
  order: fc.option(order, { nil: undefined }),
  total: fc.boolean(),
};
const interval = fc.nat(INTERVALS.length - 1);
const groupBy: fc.Arbitrary<AskedGroupBy> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('field' as const), path, ...level }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('time' as const), interval, total: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('tagset' as const), set, ...level }) },
);
const column: fc.Arbitrary<AskedColumn> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('path' as const),
      path,
      as: fc.constantFrom('attribute' as const, 'field' as const),
    }),
  },
  fc.record({ type: fc.constant('tagset' as const), set }),
  fc.record({ type: fc.constant('metric' as const), metric: asked(anyMetric) }),
);

export const request: fc.Arbitrary<Asked> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('list' as const),
      time,
      filters,
      columns: fc.array(column, { maxLength: 3 }),
      limit: fc.constantFrom(3, 10, 50, 1000),
      order: direction,
      orderBy: fc.option(path, { nil: undefined }),
      skip: fc.option(fc.constantFrom(0, 1, 4, 20), { nil: undefined, freq: 2 }),
      total: fc.boolean(),
      event: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('aggregate' as const),
      time,
      filters,
      computes: fc.array(
        fc.record({
          metric: asked(anyMetric),
          interval: fc.option(interval, { nil: undefined, freq: 3 }),
        }),
        { minLength: 1, maxLength: 5 },
      ),
      groupBys: fc.array(groupBy, { maxLength: 3 }),
    }),
  },
);

const expression: fc.Arbitrary<ModelExpression> = fc.letrec<{ tree: ModelExpression }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 2, depthIdentifier: 'formula' },
    exactMetric.map((metric) => ({ type: 'metric' as const, metric })),
    fc.constantFrom(0, 1, 2.5, 1000).map((value) => ({ type: 'number' as const, value })),
    fc.record({
      type: fc.constant('operation' as const),
      operator: fc.constantFrom('+' as const, '-' as const, '*' as const, '/' as const),
      left: tie('tree'),
      right: tie('tree'),
    }),
  ),
})).tree;

const tags = fc.array(predicate, { minLength: 3, maxLength: 3 });

/** Worlds of up to so many events and requests. */
export function worldOf(eventsMax: number, requestsMax: number): fc.Arbitrary<World> {
  return fc.record({
    centre: fc.nat(CENTRES.length - 1),
    events: fc.array(sentEvent, { maxLength: eventsMax, size: 'max' }),
    tagsets: fc.tuple(tags, tags),
    formulas: fc.tuple(expression, expression),
    requests: fc.array(request, { minLength: 1, maxLength: requestsMax, size: 'max' }),
  });
}
