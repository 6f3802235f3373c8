import { clockOf } from './clock.ts';
import { Draw, hex8, permutation, zipfRank } from './random.ts';
import { stackOf } from './stack.ts';
import { WORDS } from './words.ts';

/** A trace has about as many events as there are draws from a ring of open ones before its place is taken. */
const OPEN_TRACES = 256;
const TRACE_EVENTS = 6;
const STACK_SHARE = 1 / 200;
const STACK_BYTES = 8_000;
/** Faults of the programs: each has a stack trace of its own. */
const STACKS = 300;
const USERS = 100_000;

const LEVELS = ['DEBUG', 'INFO', 'INFO', 'INFO', 'INFO', 'INFO', 'WARN', 'ERROR'];
const SERVICES =
  'checkout cart payment catalog search shipping account mail recommend gateway'.split(' ');

/** An optional attribute, or an object of some; `chance` is the part of the events (or of the objects) that have it. */
interface Optional {
  name: string;
  chance: number;
  /** The JSON text of its value. */
  value?: () => string;
  members?: readonly Optional[];
}

/** A source of trace ids: events of several requests come interleaved, and a trace ends and never comes again. */
function tracesOf(seed: number, draw: Draw): () => string {
  const mixed = permutation(seed);
  let count = 0;
  const fresh = (): string => `${hex8(mixed(count++))}${draw.hex(24)}`;
  const open = Array.from({ length: OPEN_TRACES }, fresh);
  return () => {
    const place = draw.below(OPEN_TRACES);
    if (draw.below(TRACE_EVENTS) === 0) open[place] = fresh();
    return open[place];
  };
}

/** The optional attributes, 60 in seven objects. */
export function optionals(draw: Draw): readonly Optional[] {
  const word = (): string => `"${draw.pick(WORDS)}"`;
  const below = (limit: number) => (): string => String(draw.below(limit));
  const size = (): string => String(Math.round(draw.lognormal(7, 2)));
  const took = (): string => draw.lognormal(2, 1).toFixed(3);
  const one = (...values: string[]) => {
    return (): string => `"${draw.pick(values)}"`;
  };
  const flag = (): string => (draw.chance(0.8) ? 'true' : 'false');
  const id = (digits: number) => (): string => `"${draw.hex(digits)}"`;
  const leaf = (name: string, chance: number, value: () => string): Optional => ({
    name,
    chance,
    value,
  });
  const user = zipfRank(USERS, 0.8, draw.next);
  return [
    {
      name: 'http',
      chance: 0.7,
      members: [
        leaf('method', 0.95, one('GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE')),
        leaf('route', 0.9, () => `"/v1/${draw.pick(WORDS)}/{id}/${draw.pick(WORDS)}"`),
        leaf('url', 0.6, () => `"/v1/${draw.pick(WORDS)}/${draw.below(1e6)}/${draw.pick(WORDS)}"`),
        leaf('status_code', 0.8, () => String(draw.pick([200, 200, 200, 201, 204, 400, 404, 500]))),
        leaf('version', 0.4, one('1.1', '2.0')),
        leaf(
          'client_ip',
          0.5,
          () => `"10.${draw.below(256)}.${draw.below(256)}.${draw.below(256)}"`,
        ),
        {
          name: 'request',
          chance: 0.5,
          members: [
            leaf('bytes', 0.9, size),
            leaf('content_type', 0.6, one('application/json', 'application/grpc', 'text/plain')),
            leaf('id', 0.7, id(16)),
            leaf('retries', 0.1, below(4)),
          ],
        },
        {
          name: 'response',
          chance: 0.5,
          members: [
            leaf('bytes', 0.9, size),
            leaf('duration_ms', 0.9, took),
            leaf('cached', 0.3, flag),
            leaf('encoding', 0.2, one('gzip', 'br', 'zstd')),
          ],
        },
      ],
    },
    {
      name: 'db',
      chance: 0.35,
      members: [
        leaf('system', 0.9, one('postgresql', 'postgresql', 'redis', 'mongodb')),
        leaf('table', 0.8, word),
        leaf(
          'statement',
          0.4,
          () => `"SELECT * FROM ${draw.pick(WORDS)} WHERE id = $1 LIMIT ${draw.below(100)}"`,
        ),
        leaf('rows', 0.7, below(500)),
        leaf('duration_ms', 0.9, took),
        leaf('pool_open', 0.2, below(50)),
        leaf('transaction', 0.1, id(12)),
        leaf('replica', 0.3, flag),
        leaf('shard', 0.15, below(16)),
        leaf('slow', 0.02, flag),
      ],
    },
    {
      name: 'user',
      chance: 0.5,
      members: [
        leaf('id', 0.95, () => String(100_000 + user())),
        leaf('tier', 0.5, one('free', 'free', 'plus', 'business')),
        leaf('country', 0.4, one('DE', 'FR', 'US', 'JP', 'BR', 'IN', 'GB', 'PL')),
        leaf('language', 0.2, one('de', 'fr', 'en', 'ja', 'pt')),
        leaf('session', 0.6, id(24)),
        leaf('tags', 0.1, () => `["${draw.pick(WORDS)}","${draw.pick(WORDS)}"]`),
        leaf('name', 0.1, one('Zoë', 'José', 'Łukasz', '佐藤', 'Anna', 'Ben')),
        leaf('is_staff', 0.02, flag),
      ],
    },
    {
      name: 'order',
      chance: 0.25,
      members: [
        leaf('id', 0.95, () => `"O-${draw.below(1e8)}"`),
        leaf('total', 0.7, () => draw.lognormal(3, 1).toFixed(2)),
        leaf('currency', 0.7, one('EUR', 'USD', 'JPY')),
        leaf('items', 0.4, below(20)),
        leaf('coupon', 0.05, id(6)),
        leaf('weight_kg', 0.2, took),
        leaf('state', 0.5, one('open', 'paid', 'sent', 'returned')),
        {
          name: 'address',
          chance: 0.2,
          members: [
            leaf('zip', 0.9, below(99_999)),
            leaf('city', 0.9, one('Berlin', 'Paris', 'Kraków', 'Osaka', 'Recife')),
          ],
        },
      ],
    },
    {
      name: 'queue',
      chance: 0.2,
      members: [
        leaf('topic', 0.95, word),
        leaf('partition', 0.8, below(64)),
        leaf('offset', 0.8, below(2 ** 40)),
        leaf('lag', 0.3, size),
        leaf('key', 0.4, id(16)),
        leaf('redelivered', 0.05, flag),
      ],
    },
    {
      name: 'feature',
      chance: 0.15,
      members: Array.from({ length: 7 }, (_, place) => leaf(`flag_${place}`, 0.3, flag)),
    },
    {
      name: 'runtime',
      chance: 0.3,
      members: [
        leaf('thread', 0.9, () => `"exec-${draw.below(64)}"`),
        leaf('heap_mb', 0.3, below(4_000)),
        leaf('gc_ms', 0.1, took),
        leaf('version', 0.6, () => `"1.${draw.below(40)}.${draw.below(5)}"`),
        leaf('region', 0.5, one('eu-central-1', 'us-east-1', 'ap-northeast-1')),
        leaf('pod', 0.6, () => `"${draw.pick(SERVICES)}-${draw.below(40)}"`),
      ],
    },
  ];
}

/** The members of an object that an event has, as JSON text without its braces. */
function membersText(optional: readonly Optional[], draw: Draw): string {
  let text = '';
  for (const { name, chance, value, members } of optional) {
    if (!draw.chance(chance)) continue;
    const inner = value === undefined ? `{${membersText(members ?? [], draw)}}` : value();
    text += `${text === '' ? '' : ','}"${name}":${inner}`;
  }
  return text;
}

/**
 * Makes the events of a shop's services as JSON, about 500 bytes: 60 optional attributes in nested objects, a trace of
 * about six events that come interleaved with those of others, a span each, and in one of 200 an exception with a stack
 * trace of 8 kB, one of 300.
 */
export function application(seed: number): () => string {
  const draw = new Draw(seed);
  const optional = optionals(draw);
  const trace = tracesOf(seed, draw);
  const span = permutation(seed + 1);
  const stackNumber = zipfRank(STACKS, 1, draw.next);
  const clock = clockOf(draw);
  let count = 0;
  return () => {
    const timeMs = clock();
    const fault = draw.chance(STACK_SHARE) ? stackOf(stackNumber(), STACK_BYTES, draw) : undefined;
    const level = fault === undefined ? draw.pick(LEVELS) : 'ERROR';
    const service = draw.pick(SERVICES);
    const text =
      fault?.message ?? `${draw.pick(WORDS)} ${draw.pick(WORDS)} took ${draw.below(900)} ms`;
    const head = `"timestamp":"${new Date(timeMs).toISOString()}","level":"${level}","service":"${service}","logger":"com.example.${service}.${draw.pick(WORDS)}","trace":{"id":"${trace()}","span":"${hex8(span(count++))}${draw.hex(8)}"},"message":"${text}"`;
    const members = membersText(optional, draw);
    const error =
      fault === undefined ? '' : `,"error":{"type":"${fault.type}","stack":"${fault.text}"}`;
    return `{${head}${members === '' ? '' : ','}${members}${error}}`;
  };
}
