/** Seeded data: the same seed gives the same bytes on every machine. */

/** A generator of numbers in [0, 1): mulberry32. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Picks from `values` as people do: the first ones often, the last ones hardly ever (Zipf). */
function zipf<T>(values: readonly T[], exponent: number, next: () => number): () => T {
  const sums = new Float64Array(values.length);
  let total = 0;
  for (let rank = 0; rank < values.length; rank++) {
    total += 1 / (rank + 1) ** exponent;
    sums[rank] = total;
  }
  return () => {
    const wanted = next() * total;
    let low = 0;
    let high = values.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sums[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return values[low];
  };
}

function lognormal(mean: number, deviation: number, next: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return Math.exp(mean + deviation * normal);
}

const VERBS = ['GET', 'GET', 'GET', 'GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE'];
const STATUSES = [200, 200, 200, 200, 200, 200, 200, 200, 304, 304, 301, 302, 404, 404, 403, 500];
const WORDS = 'api cart user item order search static image login report help price stock'.split(
  ' ',
);
const AGENTS = ['Firefox/140.0', 'Chrome/141.0.0.0 Safari/537.36', 'Version/18.1 Safari/605.1.15'];
const SYSTEMS = [
  'X11; Linux x86_64',
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 14_6',
];

/** First date of the corpus: 2026-11-01T00:00:00Z. */
export const CORPUS_START_MS = 1_793_491_200_000;
/** Milliseconds between two events on average. */
export const CORPUS_STEP_MS = 7;

/**
 * Makes access-log events as a web server writes them in JSON: the attributes of interface section 1.3 with dotted
 * names, about 465 bytes. Addresses: 500,000, Zipf 0.9; URLs: 50,000, Zipf 1.05, a third of the requests with a
 * number of their own in the query; response times and sizes lognormal.
 */
export function accessLog(seed: number): () => string {
  const next = random(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)];
  const number = (below: number): number => Math.floor(next() * below);
  const address = zipf(
    Array.from(
      { length: 500_000 },
      () => `${1 + number(223)}.${number(256)}.${number(256)}.${number(256)}`,
    ),
    0.9,
    next,
  );
  const url = zipf(
    Array.from({ length: 50_000 }, () => `/${pick(WORDS)}/${pick(WORDS)}/${number(100_000)}`),
    1.05,
    next,
  );
  const agent = zipf(
    Array.from(
      { length: 300 },
      () => `Mozilla/5.0 (${pick(SYSTEMS)}; rv:${number(100)}) ${pick(AGENTS)}`,
    ),
    1,
    next,
  );
  let timeMs = CORPUS_START_MS;
  return () => {
    timeMs += number(2 * CORPUS_STEP_MS + 1);
    const verb = pick(VERBS);
    const request = next() < 0.34 ? `${url()}?session=${number(1e9)}` : url();
    const date = new Date(timeMs).toISOString();
    const status = pick(STATUSES);
    const bytes = Math.round(lognormal(8, 1.5, next));
    const seconds = lognormal(-3, 1, next).toFixed(3);
    return `{"@marker":["nginx","access"],"date_access":"${date}","network.client_ip":"${address()}","network.bytes_write":${bytes},"http.ident":"web-${number(20)}","http.response_time":${seconds},"http.status_code":${status},"http.request":"${request}","http.verb":"${verb}","http.referer":"https://shop.example${url()}","http.useragent":"${agent()}","message":"${verb} ${request} HTTP/1.1"}`;
  };
}

/** Bodies of newline-separated events, each a little under `bodyBytes`, `eventCount` events in all. */
export function bodies(
  event: () => string,
  eventCount: number,
  bodyBytes: number,
  prefix = '',
): { body: Buffer; events: number }[] {
  const made: { body: Buffer; events: number }[] = [];
  let lines: string[] = [];
  let bytes = 0;
  const finish = (): void => {
    if (lines.length > 0) made.push({ body: Buffer.from(lines.join('')), events: lines.length });
    lines = [];
    bytes = 0;
  };
  for (let index = 0; index < eventCount; index++) {
    const line = `${prefix}${event()}\n`;
    if (bytes + line.length > bodyBytes) finish();
    lines.push(line);
    bytes += line.length;
  }
  finish();
  return made;
}

const PROGRAMS = ['sshd', 'nginx', 'cron', 'postfix', 'kernel', 'shopd', 'payd', 'mailer'];

/**
 * Makes RFC 5424 lines with free words and seven key=value pairs, as firewalls and services write them, about 210
 * bytes.
 */
export function syslogPairs(seed: number): () => string {
  const next = random(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)];
  const number = (below: number): number => Math.floor(next() * below);
  let timeMs = CORPUS_START_MS;
  return () => {
    timeMs += number(2 * CORPUS_STEP_MS + 1);
    const date = new Date(timeMs).toISOString();
    const prival = 8 * number(24) + number(8);
    const address = `10.${number(4)}.${number(256)}.${number(256)}`;
    return `<${prival}>1 ${date} host-${number(200)} ${pick(PROGRAMS)} ${number(32_768)} - - connection ${pick(WORDS)} from ${pick(WORDS)} src=${address} spt=${number(65_536)} dpt=${pick([22, 80, 443])} proto=tcp bytes=${Math.round(lognormal(7, 2, next))} action=${pick(['allow', 'allow', 'deny'])} user="u ${number(5_000)}"`;
  };
}

/** Makes application events in 1,000 shapes: each shape has its own 6 to 24 of 400 attributes, nested two deep. */
export function applicationEvents(seed: number): () => string {
  const next = random(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)];
  const number = (below: number): number => Math.floor(next() * below);
  const names = Array.from({ length: 400 }, (_, n) => `${pick(WORDS)}_${n}`);
  const shapes = Array.from({ length: 1_000 }, () => {
    const count = 6 + number(19);
    return [...new Set(Array.from({ length: count }, () => number(names.length)))];
  });
  const shape = zipf(shapes, 0.7, next);
  let timeMs = CORPUS_START_MS;
  const value = (attribute: number): string => {
    const kind = attribute % 6;
    if (kind === 0) return String(number(10_000));
    if (kind === 1) return lognormal(0, 1, next).toFixed(2);
    if (kind === 2) return next() < 0.5 ? 'true' : 'false';
    if (kind === 3) return `"${pick(WORDS)}-${number(50)}"`;
    if (kind === 4) return `{"id":${number(1e6)},"kind":"${pick(WORDS)}"}`;
    return `"${number(2 ** 30).toString(16)}${number(2 ** 30).toString(16)}"`;
  };
  return () => {
    timeMs += number(2 * CORPUS_STEP_MS + 1);
    const attributes = shape().map((attribute) => `"${names[attribute]}":${value(attribute)}`);
    return `{"timestamp":${timeMs},"level":"${pick(['info', 'info', 'warn', 'error'])}","message":"${pick(WORDS)} ${pick(WORDS)} ${pick(WORDS)} took ${number(900)} ms",${attributes.join(',')}}`;
  };
}

const AREAS =
  'http db cache queue user cart order payment k8s host trace app feature mail search auth api job disk net';
const FACTS = 'id name state count bytes duration_ms rate retries enabled version';

/**
 * Makes application events with 200 optional attributes, each there half of the time: numbers, short strings and
 * booleans, names flat (`user_id`) or, mostly, dotted (`db.duration_ms`). About 2,300 bytes, and hardly
 * two events of one shape.
 */
export function wideEvents(seed: number): () => string {
  const next = random(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)];
  const number = (below: number): number => Math.floor(next() * below);
  const makers: (() => string)[] = [
    () => `"${number(2 ** 30).toString(16)}"`,
    () => `"${pick(WORDS)}-${number(40)}"`,
    () => pick(['"ok"', '"ok"', '"open"', '"failed"']),
    () => String(number(1_000)),
    () => String(Math.round(lognormal(8, 2, next))),
    () => lognormal(2, 1, next).toFixed(3),
    () => next().toFixed(2),
    () => String(number(4)),
    () => String(next() < 0.9),
    () => `"${number(3)}.${number(10)}.${number(10)}"`,
  ];
  const attributes = AREAS.split(' ').flatMap((area, place) =>
    FACTS.split(' ').map((fact, kind) => {
      return { name: `"${area}${place % 4 === 0 ? '_' : '.'}${fact}":`, value: makers[kind] };
    }),
  );
  let timeMs = CORPUS_START_MS;
  return () => {
    timeMs += number(2 * CORPUS_STEP_MS + 1);
    let text = `{"timestamp":${timeMs},"level":"${pick(['info', 'info', 'warn', 'error'])}","message":"${pick(WORDS)} ${pick(WORDS)} took ${number(900)} ms"`;
    for (const { name, value } of attributes) if (next() < 0.5) text += `,${name}${value()}`;
    return `${text}}`;
  };
}

/** Makes events whose attributes are new names every time: what a broken or hostile client sends. */
export function hostileEvents(seed: number): () => string {
  const next = random(seed);
  const name = (): string => Math.floor(next() * 2 ** 40).toString(36);
  return () => {
    const attributes = Array.from({ length: 10 }, () => `"${name()}.${name()}":"${name()}"`);
    return `{"message":"hello ${name()}",${attributes.join(',')}}`;
  };
}
