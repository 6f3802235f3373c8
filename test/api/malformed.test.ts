import t from 'tap';
import { AGGREGATE, FETCH, LIST, messageOf, request, service, TIME } from './service.ts';

/** Changes to a good body, and what is said of them. A part is merged into it. */
const COMMON: [unknown, RegExp][] = [
  [[], /^the body/],
  [null, /^the body/],
  ['x', /^the body/],
];
const WITH_TIME: [unknown, RegExp][] = [
  [{ time: undefined }, /^time is missing/],
  [{ time: 'now' }, /^time "now" is not allowed/],
  [{ time: { from: 0 } }, /^time\.to is missing/],
  [{ time: { to: 0 } }, /^time\.from is missing/],
  [{ time: { from: true, to: 0 } }, /^time\.from true is not allowed/],
  [{ time: { from: 'soon', to: 0 } }, /^time\.from "soon"/],
  [{ time: { from: 2, to: 1 } }, /^time\.from 2 is after time\.to 1/],
  [{ time: { from: 0, to: 1, form: 2 } }, /^time\.form is unknown; did you mean "from"\?/],
  [{ time: { from: 0, to: 1, timezone: 'Mars' } }, /^time\.timezone "Mars"/],
  [{ time: { from: 0, to: 1, timezone: 3 } }, /^time\.timezone 3 is not allowed/],
  [{ time: { from: 0, to: 1, offset: 1.5 } }, /^time\.offset 1\.5 is not allowed/],
  [{ time: { from: 0, to: 1, offset: 50_400_001 } }, /^time\.offset 50400001 is not allowed/],
  [{ filters: {} }, /^filters \(an object\)/],
  [{ filters: [3] }, /^filters\[0\] 3/],
  [{ filters: [{}] }, /^filters\[0\] \(an object\) .* one of field, search/],
  [{ filters: [{ search: 'a', field: { id: 'message', values: ['a'] } }] }, /^filters\[0\]/],
  [{ filters: [{ serach: 'a' }] }, /^filters\[0\]\.serach is unknown; did you mean "search"/],
  [{ filters: [{ search: 5 }] }, /^filters\[0\]\.search 5/],
  [{ filters: [{ search: 'a' }, { search: '(b' }] }, /^filters\[1\]\.search "\(b" .*position 2/],
  [{ filters: [{ search: { query: 'a:' } }] }, /^filters\[0\]\.search\.query "a:" .*position 2/],
  [{ filters: [{ search: { query: null } }] }, /^filters\[0\]\.search\.query null/],
  [{ filters: [{ search: { q: 'a' } }] }, /^filters\[0\]\.search\.q is unknown/],
  [{ filters: [{ field: { values: ['a'] } }] }, /^filters\[0\]\.field\.id is missing/],
  [{ filters: [{ field: { id: 'message' } }] }, /^filters\[0\]\.field\.values is missing/],
  [{ filters: [{ field: { id: 'message', values: [] } }] }, /^filters\[0\]\.field\.values/],
  [{ filters: [{ field: { id: 'message', values: [5] } }] }, /^filters\[0\]\.field\.values\[0\] 5/],
  [{ filters: [{ field: { id: 'status', values: ['a'] } }] }, /^filters\[0\]\.field\.id "status"/],
  [
    { filters: [{ field: { id: 'message', values: ['a'], exclude: 'no' } }] },
    /^filters\[0\]\.field\.exclude "no"/,
  ],
];
const WITH_COLUMNS: [unknown, RegExp][] = [
  [{ event: 1 }, /^event 1 is not allowed; allowed: true or false/],
  [{ columns: 'a' }, /^columns "a"/],
  [{ columns: ['a'] }, /^columns\[0\] "a"/],
  [{ columns: [{}] }, /^columns\[0\]/],
  [{ columns: [{ field: 'custom.a', metric: 'count' }] }, /^columns\[0\]/],
  [{ columns: [{ field: 'a' }] }, /^columns\[0\]\.field "a" is unknown; allowed: custom\./],
  [{ columns: [{ attribute: 'a' }] }, /^columns\[0\]\.attribute "a" is unknown/],
  [{ columns: [{ metric: 'cuont' }] }, /^columns\[0\]\.metric "cuont" .* did you mean "count"/],
];
const OF_LIST: [unknown, RegExp][] = [
  [{ limit: 0 }, /^limit 0 is not allowed; allowed: a whole number from 1 to 1000/],
  [{ limit: 1001 }, /^limit 1001/],
  [{ limit: 2.5 }, /^limit 2\.5/],
  [{ limit: '5' }, /^limit "5"/],
  [{ limit: null }, /^limit null/],
  [{ limits: 5 }, /^limits is unknown; did you mean "limit"\? allowed: time, filters/],
  [{ order: 'up' }, /^order "up" is not allowed; allowed: "asc" or "desc"/],
  [{ order: ['asc'] }, /^order \(an array of 1\)/],
  [{ afterEvent: 7 }, /^afterEvent 7/],
  [JSON.parse('{"__proto__":{"limit":1}}'), /^__proto__ is unknown/],
  [{ constructor: 1 }, /^constructor is unknown/],
];
const OF_FETCH: [unknown, RegExp][] = [
  [{ id: undefined }, /^id is missing/],
  [{ id: 7 }, /^id 7 is not allowed/],
  [{ time: TIME }, /^time is unknown/],
];
const field = (changes: object) => ({ field: { id: 'custom.a', ...changes } });
const series = (interval: string) => ({ timeseries: { metricId: 'count', interval } });
const OF_AGGREGATE: [unknown, RegExp][] = [
  [{ compute: undefined }, /^compute is missing/],
  [{ compute: [] }, /^compute \(an array of 0\) .*1 to 5/],
  [{ compute: Array(6).fill({ metric: { id: 'count' } }) }, /^compute \(an array of 6\)/],
  [{ compute: [{}] }, /^compute\[0\]/],
  [{ compute: [{ metric: 'count' }] }, /^compute\[0\]\.metric "count"/],
  [{ compute: [{ metric: {} }] }, /^compute\[0\]\.metric\.id is missing/],
  [{ compute: [{ metric: { id: 'visits' } }] }, /^compute\[0\]\.metric\.id "visits" is unknown/],
  [{ compute: [{ metric: { id: 'agv:custom.a' } }] }, /did you mean "avg"/],
  [{ compute: [{ metric: { id: 'avg:a' } }] }, /^compute\[0\]\.metric\.id "avg:a"/],
  [{ compute: [{ metric: { id: 'count', output: 5 } }] }, /^compute\[0\]\.metric\.output 5/],
  [{ compute: [{ metric: { id: 'count', output: '' } }] }, /^compute\[0\]\.metric\.output ""/],
  [
    { compute: [{ metric: { id: 'count' } }, { metric: { id: 'sum:custom.a', output: 'count' } }] },
    /^compute\[1\]\.metric\.output "count" is used twice/,
  ],
  [{ compute: [{ timeseries: {} }] }, /^compute\[0\]\.timeseries\.metricId is missing/],
  [
    { compute: [{ timeseries: { metricId: 'count' } }] },
    /^compute\[0\]\.timeseries\.interval is missing/,
  ],
  [
    { compute: [{ timeseries: { metricId: 'cuont', interval: '1m' } }] },
    /^compute\[0\]\.timeseries\.metricId "cuont" is unknown; did you mean "count"/,
  ],
  [
    { compute: [{ timeseries: { metricId: 'count', interval: '1 min' } }] },
    /^compute\[0\]\.timeseries\.interval "1 min" is not an interval; allowed: a number and s, m/,
  ],
  [
    { time: { from: 0, to: 10_001_000 }, compute: [series('1s')] },
    /^compute\[0\]\.timeseries\.interval "1s" gives 10001 time buckets; allowed: 10000/,
  ],
  [
    { compute: [series('1m'), { metric: { id: 'sum:custom.a', output: 'count' } }] },
    /^compute\[1\]\.metric\.output "count" is used twice/,
  ],
  [{ groupBy: Array(4).fill({ time: {} }) }, /^groupBy \(an array of 4\) .*0 to 3/],
  [{ groupBy: [{}] }, /^groupBy\[0\] \(an object\) .* one of field, time/],
  [{ groupBy: [{ field: {}, time: {} }] }, /^groupBy\[0\]/],
  [{ groupBy: [{ field: {} }] }, /^groupBy\[0\]\.field\.id is missing/],
  [{ groupBy: [field({ id: 'status' })] }, /^groupBy\[0\]\.field\.id "status" is unknown/],
  [{ groupBy: [field({ limit: 0 })] }, /^groupBy\[0\]\.field\.limit 0 .* from 1 to 100/],
  [{ groupBy: [field({ limit: 101 })] }, /^groupBy\[0\]\.field\.limit 101 .* from 1 to 100/],
  [{ groupBy: [field({ limit: '5' })] }, /^groupBy\[0\]\.field\.limit "5"/],
  [{ groupBy: [field({ total: 5 })] }, /^groupBy\[0\]\.field\.total 5 .* or null/],
  [{ groupBy: [field({ output: '' })] }, /^groupBy\[0\]\.field\.output ""/],
  [{ groupBy: [field({ order: {} })] }, /^groupBy\[0\]\.field\.order \(an object\)/],
  [{ groupBy: [field({ order: 'asc' })] }, /^groupBy\[0\]\.field\.order "asc"/],
  [
    { groupBy: [field({ order: { count: 'up' } })] },
    /"up" is not allowed; allowed: "asc" or "desc"/,
  ],
  [
    { groupBy: [field({ order: { count: 'asc', '@natural': 'asc' } })] },
    /^groupBy\[0\]\.field\.order \(an object\)/,
  ],
  [
    { groupBy: [field({ order: { '@natrual': 'asc' } })] },
    /^groupBy\[0\]\.field\.order "@natrual" is unknown; did you mean "@natural"\?/,
  ],
  [
    { groupBy: [field({ limit: 100 }), field({ id: 'custom.b', limit: 11 })] },
    /^the limits of groupBy multiply to 1100; allowed: at most 1000/,
  ],
  [{ groupBy: [field({}), field({})] }, /^groupBy\[1\]\.field\.output "custom.a" is used twice/],
  [
    { compute: [{ metric: { id: 'count', output: 'custom.a' } }], groupBy: [field({})] },
    /^groupBy\[0\]\.field\.output "custom.a" is used twice, here and in compute\[0\]/,
  ],
  [
    { groupBy: [{ time: { output: 'count' } }] },
    /^groupBy\[0\]\.time\.output "count" is used twice, here and in compute\[0\]/,
  ],
  [{ groupBy: [{ time: {} }, { time: {} }] }, /^groupBy\[1\]\.time\.output "time" is used twice/],
  [{ groupBy: [{ time: { interval: '0m' } }] }, /^groupBy\[0\]\.time\.interval "0m"/],
  [{ groupBy: [{ time: { intreval: '1m' } }] }, /^groupBy\[0\]\.time\.intreval is unknown; did/],
  [{ groupBy: [{ time: { total: '' } }] }, /^groupBy\[0\]\.time\.total ""/],
  [{ afterBucket: {} }, /^afterBucket \(an object\)/],
  [{ afterBucket: { 'custom.a': 1 } }, /^afterBucket is not allowed here/],
  [
    { groupBy: [field({})], afterBucket: { 'custom.a': 1 } },
    /^afterBucket is not allowed here; allowed: .*"@natural"/,
  ],
  [
    { groupBy: [field({ order: { '@natural': 'asc' } })], afterBucket: { b: 1 } },
    /^afterBucket\.b is unknown; allowed: "custom.a"/,
  ],
  [
    { groupBy: [field({ order: { '@natural': 'asc' } })], afterBucket: { 'custom.a': null } },
    /^afterBucket\.custom\.a null is not allowed/,
  ],
  [
    { groupBy: [{ time: {} }], afterBucket: { time: 'later' } },
    /^afterBucket\.time "later" is not allowed; allowed: the date of a bucket/,
  ],
  [{ time: { ...TIME, tz: 'UTC' } }, /^time\.tz is unknown; did you mean "timezone"\?/],
  [{ format: 'yes' }, /^format "yes"/],
  [{ limit: 5 }, /^limit is unknown/],
];

const OF_EXPORT: [unknown, RegExp][] = [
  [{ limit: 0 }, /^limit 0 is not allowed; allowed: a whole number, 1 or greater/],
  [{ limit: 1.5 }, /^limit 1\.5/],
  [{ order: 'newest' }, /^order "newest" .* "asc" or "desc"/],
  [{ format: 'json' }, /^format "json" .* "ndjson" or "csv"/],
  [{ format: true }, /^format true/],
  [{ safe: 'yes', format: 'csv' }, /^safe "yes" .* true or false/],
  [{ safe: true }, /^safe true is not allowed; allowed: with format "csv"/],
  [{ partial: 1 }, /^partial 1/],
  [{ afterEvent: {} }, /^afterEvent \(an object\)/],
  [{ event: true }, /^event is unknown/],
  [{ columns: [{ colour: 'a' }] }, /^columns\[0\]\.colour is unknown/],
];
const OF_CONTEXT: [unknown, RegExp][] = [
  ...OF_FETCH,
  [{ before: -1 }, /^before -1 is not allowed; allowed: a whole number from 0 to 500/],
  [{ before: 501 }, /^before 501/],
  [{ after: '3' }, /^after "3"/],
  [{ after: 1e300 }, /^after 1e\+300/],
  [{ befor: 3 }, /^befor is unknown; did you mean "before"/],
  [{ timezone: 'Mars' }, /^timezone "Mars"/],
  [{ timezone: 5 }, /^timezone 5/],
  [{ filters: [{ search: '(' }] }, /^filters\[0\]\.search "\(" .*position 1/],
];
const OF_ATTRIBUTES: [unknown, RegExp][] = [
  [{ attributes: [] }, /^attributes \(an array of 0\) .* 1 to 1000/],
  [{ attributes: 'custom.a' }, /^attributes "custom\.a"/],
  [{ attributes: ['a'] }, /^attributes\[0\] "a" is unknown; allowed: custom\./],
  [{ attributes: [null] }, /^attributes\[0\] null/],
  [{ prefix: 1 }, /^prefix 1/],
  [{ limit: 0 }, /^limit 0 .* 1 to 1000/],
  [{ limit: 1001 }, /^limit 1001/],
  [{ values: -1 }, /^values -1 .* 0 to 100/],
  [{ values: 101 }, /^values 101/],
  [{ value: 5 }, /^value is unknown; did you mean "values"/],
];
const OF_COMPLETE: [unknown, RegExp][] = [
  [{ query: undefined }, /^query is missing/],
  [{ query: ['a'] }, /^query \(an array of 1\)/],
  [{ position: 4 }, /^position 4 is not allowed; allowed: 0 to 3/],
  [{ position: -1 }, /^position -1/],
  [{ position: 0.5 }, /^position 0\.5/],
  [{ limit: 51 }, /^limit 51 .* 1 to 50/],
  [{ limit: 0 }, /^limit 0/],
  [{ filters: [] }, /^filters is unknown/],
];
const OF_TAIL: [unknown, RegExp][] = [
  [{ query: 5 }, /^query 5/],
  [{ query: 'a AND' }, /^query "a AND" .*position 5/],
  [{ filters: 'a' }, /^filters "a"/],
  [{ timezone: 'Mars' }, /^timezone "Mars"/],
  [{ limit_per_second: 0 }, /^limit_per_second 0 .* 1 to 2000/],
  [{ limit_per_second: 2001 }, /^limit_per_second 2001/],
  [{ limit_per_secnd: 1 }, /^limit_per_secnd is unknown; did you mean "limit_per_second"/],
  [{ last_event_id: 5 }, /^last_event_id 5/],
  [{ time: TIME }, /^time is unknown/],
];
const OF_GROUPS: [unknown, RegExp][] = [
  [{ groups: [] }, /^groups is unknown/],
  [JSON.parse('{"__proto__":1}'), /^__proto__ is unknown/],
];
const OF_FIELDS_METRICS: [unknown, RegExp][] = [
  [{ fields: undefined }, /^fields is missing; allowed: true or false/],
  [{ metrics: undefined }, /^metrics is missing/],
  [{ fields: 'true' }, /^fields "true"/],
  [{ metrics: 1 }, /^metrics 1/],
  [{ groups: 'web' }, /^groups "web"/],
  [{ groups: [5] }, /^groups\[0\] 5/],
  [{ groups: ['no-such'] }, /^groups\[0\] "no-such" is unknown/],
  [{ field: true }, /^field is unknown; did you mean "fields"/],
];

const REFUSED: [string, object, [unknown, RegExp][]][] = [
  [LIST, { time: TIME }, [...COMMON, ...WITH_TIME, ...WITH_COLUMNS, ...OF_LIST]],
  [FETCH, { id: 'abc' }, [...COMMON, ...WITH_COLUMNS, ...OF_FETCH]],
  [
    AGGREGATE,
    { time: TIME, compute: [{ metric: { id: 'count' } }] },
    [...COMMON, ...WITH_TIME, ...OF_AGGREGATE],
  ],
  ['/beta/events/export', { time: TIME }, [...COMMON, ...WITH_TIME, ...OF_EXPORT]],
  ['/beta/events/context', { id: 'abc' }, [...COMMON, ...WITH_COLUMNS, ...OF_CONTEXT]],
  ['/beta/events/tail', {}, [...COMMON, ...WITH_COLUMNS, ...OF_TAIL]],
  ['/beta/discover/attributes', { time: TIME }, [...COMMON, ...WITH_TIME, ...OF_ATTRIBUTES]],
  [
    '/beta/discover/complete',
    { time: TIME, query: 'abc' },
    [...COMMON, ...WITH_TIME.filter(isOfTime), ...OF_COMPLETE],
  ],
  ['/beta/discover/groups', {}, [...COMMON, ...OF_GROUPS]],
  [
    '/beta/discover/fields_metrics',
    { fields: true, metrics: true },
    [...COMMON, ...OF_FIELDS_METRICS],
  ],
];

function isOfTime([change]: [unknown, RegExp]): boolean {
  return 'time' in Object(change);
}

t.test('a malformed body is 400 and its message names the parameter', async (t) => {
  for (const [path, good, changes] of REFUSED) {
    const { answer, jobs, logged } = service();
    for (const [change, message] of changes) {
      const isPart = typeof change === 'object' && change !== null && !Array.isArray(change);
      const body = isPart ? { ...good, ...change } : change;
      const reply = await answer(request(path, { body }));
      t.equal(reply.status, 400, `${path} ${JSON.stringify(body)}`);
      t.match(messageOf(reply), message);
    }
    t.same([jobs, logged], [[], []], `${path}: nothing is run or logged`);
  }
});

t.test('the rows are many enough to mean something', async (t) => {
  const count = REFUSED.reduce((sum, [, , changes]) => sum + changes.length, 0);
  t.ok(count >= 200, `${count} rows`);
});
