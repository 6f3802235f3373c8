import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { AGENT_COUNT, agent } from '../../bench/corpus/agents.ts';
import { corpusOf } from '../../bench/corpus/index.ts';
import { Draw, permutation } from '../../bench/corpus/random.ts';
import { statisticsOf } from '../../bench/corpus/statistics.ts';

/** The corpora are as docstrings and bench/README.md say, at 100,000 events; the arithmetic of the statistics. */

const EVENTS = 100_000;

/**
 * How often each value comes that each of `finders` takes out of a line, in their order; lines in which one finds
 * nothing are left out.
 */
function tally(
  name: string,
  ...finders: readonly ((line: string) => string | undefined)[]
): Map<string, number>[] {
  const next = corpusOf(name).make(1);
  const tallies = finders.map(() => new Map<string, number>());
  for (let at = 0; at < EVENTS; at++) {
    const line = next();
    for (const [place, find] of finders.entries()) {
      const value = find(line);
      if (value !== undefined) tallies[place].set(value, (tallies[place].get(value) ?? 0) + 1);
    }
  }
  return tallies;
}

/** The first group of `pattern`. */
function group(pattern: RegExp): (line: string) => string | undefined {
  return (line) => pattern.exec(line)?.[1];
}

function total(counts: Map<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** Asserts that `value` lies within a part of `expected`. */
function near(t: Test, value: number, expected: number, part: number, what: string): void {
  t.ok(Math.abs(value - expected) <= expected * part, `${what}: ${value}, not ${expected}`);
}

t.test('a permutation never gives a number twice', async (t) => {
  const mixed = permutation(7);
  const seen = new Set<number>();
  for (let number = 0; number < 1_000_000; number++) seen.add(mixed(number));
  t.equal(seen.size, 1_000_000);
  t.ok([...seen].every((value) => Number.isInteger(value) && value >= 0 && value < 2 ** 32));
  t.not(permutation(8)(0), mixed(0), 'another seed, other numbers');
});

t.test('a draw gives as many digits as are asked for and every value of a list', async (t) => {
  const draw = new Draw(1);
  t.match(draw.hex(43), /^[0-9a-f]{43}$/);
  t.same(draw.shuffled([3, 1, 2]).sort(), [1, 2, 3]);
});

t.test('user agents are 5,000, all different', async (t) => {
  t.equal(AGENT_COUNT, 5_000);
  t.equal(new Set(Array.from({ length: AGENT_COUNT }, (_, rank) => agent(rank))).size, AGENT_COUNT);
});

t.test('access-rough: URLs, sessions, agents, addresses and dates of many kinds', async (t) => {
  const [urls, sessions, agents, addresses, dates] = tally(
    'access-rough',
    group(/"http\.request":"((?:[^"\\]|\\.)*)"/),
    group(/"http\.request":"[^"]*session=(\w+)"/),
    group(/"http\.useragent":"([^"]*)"/),
    group(/"network\.client_ip":"([^"]*)"/),
    (line) => /"date_access":"([^"]*)"/.exec(line)?.[1].replaceAll(/\d/g, '9'),
  );
  const isUnique = /[?&]session=|^\/api\/v2\//;
  const unique = [...urls].filter(([url]) => isUnique.test(url));
  t.equal(total(urls), EVENTS);
  near(t, unique.length, EVENTS / 5, 0.03, 'URLs that come once');
  t.ok(
    unique.every(([, count]) => count === 1),
    'none comes twice',
  );
  const pages = new Set(
    [...urls.keys()].filter((url) => !isUnique.test(url)).map((url) => url.split('?')[0]),
  );
  t.ok(pages.size > 10_000 && pages.size <= 20_000, `${pages.size} pages`);
  near(t, sessions.size, EVENTS / 10, 0.04, 'session ids');
  t.equal(total(sessions), sessions.size);
  t.ok(agents.size > 4_500 && agents.size <= AGENT_COUNT, `${agents.size} user agents`);
  t.ok(addresses.size > 30_000, `${addresses.size} addresses`);
  const share = [...addresses.keys()].filter((text) => text.includes(':')).length / addresses.size;
  near(t, share, 0.2, 0.05, 'IPv6 among addresses');
  t.same([...dates.keys()].sort(), [
    '9999-99-99 99:99:99.999',
    '9999-99-99T99:99:99-99:99',
    '9999-99-99T99:99:99.999+99:99',
    '9999-99-99T99:99:99.999999999Z',
    '9999-99-99T99:99:99.999999Z',
    '9999-99-99T99:99:99.999Z',
    '9999-99-99T99:99:99Z',
  ]);
});

t.test('access-rough: 24 sources, each with an order of its own; names interleave', async (t) => {
  const orders = new Map<string, Set<string>>();
  const next = corpusOf('access-rough').make(1);
  for (let at = 0; at < 10_000; at++) {
    const event: Record<string, string> = JSON.parse(next());
    const names = Object.keys(event).filter((name) => name !== 'http.referer');
    const ident = event['http.ident'];
    orders.set(ident, (orders.get(ident) ?? new Set()).add(names.join(' ')));
  }
  t.equal(orders.size, 24);
  t.ok([...orders.values()].every(({ size }) => size === 1));
  const distinct = new Set([...orders.values()].flatMap((its) => [...its]));
  t.equal(distinct.size, 24);
  for (const order of distinct) t.match(order, /http\.\S+ (?!http\.)\S+ .*http\./);
});

t.test('syslog-3164: 16 programs, 300 hosts, hardly two texts alike', async (t) => {
  const [programs, hosts, texts] = tally(
    'syslog-3164',
    group(/^\S+ +\d+ \S+ \S+ ([^:[]+)/),
    group(/^\S+ +\d+ \S+ (\S+)/),
    group(/^[^:]*:\d\d:\d\d [^:]*: (.*)/),
  );
  t.equal(programs.size, 16);
  t.equal(hosts.size, 300);
  t.ok(texts.size > EVENTS * 0.85, `${texts.size} texts`);
});

t.test('application: traces of six events, one stack of 8 kB in 200', async (t) => {
  const [traces, spans, stacks] = tally(
    'application',
    group(/"trace":\{"id":"(\w{32})"/),
    group(/"span":"(\w{16})"/),
    group(/"stack":"([^"]*)"/),
  );
  near(t, EVENTS / traces.size, 6, 0.05, 'events of a trace');
  t.equal(spans.size, EVENTS);
  near(t, total(stacks), EVENTS / 200, 0.15, 'stack traces');
  t.ok([...stacks.keys()].every(({ length }) => length >= 8_000 && length < 8_200));
});

t.test('application: 60 optional attributes, none in every event', async (t) => {
  const always = ['timestamp', 'level', 'service', 'logger', 'trace', 'message', 'error'];
  const counts = new Map<string, number>();
  const next = corpusOf('application').make(1);
  for (let at = 0; at < 20_000; at++) {
    const members = Object.entries<object>(JSON.parse(next()));
    const optional = Object.fromEntries(members.filter(([name]) => !always.includes(name)));
    for (const leaf of leavesOf(optional)) counts.set(leaf, (counts.get(leaf) ?? 0) + 1);
  }
  t.equal(counts.size, 60);
  t.ok([...counts.values()].every((count) => count < 20_000));
});

/** Dotted names of the attributes that have a value; empty objects are none. */
function leavesOf(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    return isObject ? leavesOf(inner, `${prefix}${name}.`) : [`${prefix}${name}`];
  });
}

t.test('kubernetes: 24 applications in eight formats, pods that are replaced', async (t) => {
  const formats: [string, RegExp][] = [
    ['pino, merged', /"level":\d+,"time":\d+,"pid"/],
    ['logback, merged', /"@version":"1","message"/],
    ['zap, as text', /"log":"\{\\"level\\"/],
    ['klog', /"log":"[IWE]\d{4} [\d:.]+ +1 \w+\.go:\d+\] /],
    ['access line', /"log":"[\d.]+ - - \[\d\d\/Nov\/2026:/],
    ['logfmt', /"log":"ts=\S+ caller=\S+ level=/],
    ['Java exception', /"log":"[^"]* ERROR [^"]*\\n\\tat /],
    ['not ASCII', /"log":"(?:Überprüfung|処理)/],
    ['colours', /"log":"\\u001b\[32m/],
  ];
  const [applications, nodes, pods, found] = tally(
    'kubernetes',
    group(/"container_name":"([^"]*)"/),
    group(/"host":"(node-\d+)"/),
    group(/"pod_name":"([^"]*)"/),
    (line) => formats.find(([, form]) => form.test(line))?.[0],
  );
  t.equal(applications.size, 24);
  t.equal(nodes.size, 20);
  t.ok(pods.size > 240 && pods.size < 280, `${pods.size} pods`);
  t.same([...found.keys()].sort(), formats.map(([name]) => name).sort());
});

t.test('hostile: new names, collisions, 1,200 attributes, broken and 1 MB lines', async (t) => {
  const kinds: [string, RegExp, number][] = [
    ['1 MB', /^\{"timestamp":\d+,"large":/, 1 / 5_000],
    ['1,200 attributes', /^\{"timestamp":\d+,"many_0":.*"many_1199":\d\}$/, 1 / 500],
    ['no object', /^[^{]|^\{"cut"|^\{a:1|,\}$/, 0.05],
    ['ten new names', /^\{(?:"timestamp":\d+,)?(?:"\w+\.\w+":"\w+",){10}"message"/, 0.95 * 0.3],
    ['a.b beside a', /[{,]"a\.[bd](?:\.c)?":.*[{,]"a":|[{,]"a":.*[{,]"a\.[bd](?:\.c)?":/, 0.15],
  ];
  const [counts] = tally('hostile', (line) => kinds.find(([, form]) => form.test(line))?.[0]);
  for (const [name, , share] of kinds) {
    const part = share < 0.01 ? 0.5 : 0.25;
    near(t, counts.get(name) ?? 0, share * EVENTS, part, name);
  }
});

t.test('statistics of five lines are those that one counts by hand', async (t) => {
  const lines = [
    '{"a":{"b":1},"message":"x"}',
    '{"message":"x","a":{"b":1}}',
    '{"a.b":2,"message":"y"}',
    '<13>1 - host app - - - z',
    `{"message":"${'w'.repeat(100)}"}`,
  ];
  const make = (): (() => string) => {
    let at = 0;
    return () => lines[at++];
  };
  const corpus = { make, attributes: ['a.b', 'message', 'syslog.hostname', 'absent'] };
  const found = statisticsOf(corpus, lines.length, 1);
  const text = Buffer.from(`${lines.join('\n')}\n`);
  const sizes = lines.map(({ length }) => length).sort((left, right) => left - right);
  t.same(found.bytes, { mean: text.length / 5 - 1, p50: sizes[2], p99: sizes[4], max: sizes[4] });
  t.same(found.distinct, [
    { attribute: 'a.b', values: 2 },
    { attribute: 'message', values: 4 },
    { attribute: 'syslog.hostname', values: 1 },
    { attribute: 'absent', values: 0 },
  ]);
  t.equal(found.shapes, 4, 'the order of attributes counts, dots or objects do not');
  t.equal(found.gzip, text.length / gzipSync(text).length);
  const repeated = statisticsOf({ make: () => () => 'aaa', attributes: [] }, 10, 1);
  t.equal(repeated.entropy.toFixed(4), '0.8113', 'three of four bytes are the same');
});

t.test('lines that are no event are told by the statistics', async (t) => {
  t.throws(() => statisticsOf({ make: () => () => '', attributes: [] }, 3, 1), {
    message: /3 lines, of which the decoder makes 0 events/,
  });
});
