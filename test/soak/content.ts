import { createCipheriv } from 'node:crypto';
import { random } from '../../bench/corpus/random.ts';

/**
 * Events of a soak. Each is made of (seed, source, number) alone, so that what comes back can be compared with what was
 * sent without keeping either.
 */

/**
 * Kinds of events: an access log, application JSON, 200 optional attributes, up to 1 MB of words, 8 kB that nothing
 * compresses.
 */
export type Kind = 'access' | 'application' | 'wide' | 'large' | 'noise';

/** A sender that numbers its events from 0; event n is of kind n modulo the number of `kinds`. */
export interface Source {
  id: number;
  name: string;
  kinds: readonly Kind[];
}

/** An event as it is sent, and as an export shows its date and the rest. */
export interface SoakEvent {
  line: string;
  date: string;
  stored: string;
}

/** Events that follow one another with the same date. */
const SAME_DATE = 50;
const STEP_MS = 1000;
/** The last of those with the same date comes late. */
const LATE_MS = 26 * 3_600_000;
const DAY_MS = 86_400_000;
/** Dates lie behind the clock, so that no source overtakes it. */
const BEGIN_DAYS = 5;

const POOL_BYTES = 2 * 1024 * 1024;
const NOISE_BYTES = 8_192;
const LARGE_MIN = 20_000;
/** Characters; some are of more bytes, and an event may have 1 MiB. */
const LARGE_MAX = 900_000;
const WIDE_ATTRIBUTES = 200;
const WORDS = 'cart user order search stock report price login image help héhé 数据'.split(' ');
const VERBS = ['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'];
const STATUSES = [200, 200, 200, 200, 304, 301, 404, 500];

/** Members of an event's JSON without braces, and its message. */
interface Body {
  members: string;
  message?: string;
}

/** Makes the events of one seed. */
export class Maker {
  readonly #seed: number;
  readonly #beginMs: number;
  readonly #words: string;
  readonly #noise: string;

  /** `startMs` is when the soak begins: dates lie around five days before it. */
  constructor(seed: number, startMs: number) {
    this.#seed = seed;
    this.#beginMs = Math.floor(startMs / 1000) * 1000 - BEGIN_DAYS * DAY_MS;
    const next = random(seed);
    let words = '';
    while (words.length < POOL_BYTES) words += `${WORDS[Math.floor(next() * WORDS.length)]} `;
    this.#words = words;
    const key = Buffer.alloc(16, String(seed));
    const stream = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
    this.#noise = stream.update(Buffer.alloc(POOL_BYTES)).toString('base64url');
  }

  /** Milliseconds of the date of an event. */
  dateMs(source: Source, number: number): number {
    const group = Math.floor(number / SAME_DATE);
    const late = number % SAME_DATE === SAME_DATE - 1 ? LATE_MS : 0;
    return this.#beginMs + source.id * 3_600_000 + group * STEP_MS - late;
  }

  make(source: Source, number: number): SoakEvent {
    const next = random(mix(this.#seed, source.id, number));
    const dateMs = this.dateMs(source, number);
    const head = `"timestamp":${dateMs},"source":"${source.name}","number":${number}`;
    const { members, message } = this.#body(source.kinds[number % source.kinds.length], next);
    const custom = members === '' ? head : `${head},${members}`;
    const text = message === undefined ? '' : `,"message":${JSON.stringify(message)}`;
    return {
      line: `{${custom}${text}}`,
      date: new Date(dateMs).toISOString(),
      stored: `{"custom":{${custom}}${text}}`,
    };
  }

  #body(kind: Kind, next: () => number): Body {
    const below = (bound: number): number => Math.floor(next() * bound);
    const pick = <T>(values: readonly T[]): T => values[below(values.length)];
    if (kind === 'access') return access(below, pick);
    if (kind === 'application') return application(below, pick);
    if (kind === 'wide') return wide(below, pick);
    if (kind === 'noise') return { members: `"text":"${slice(this.#noise, NOISE_BYTES, below)}"` };
    const size = LARGE_MIN + Math.floor((LARGE_MAX - LARGE_MIN) * next() ** 2);
    return { members: `"size":${size}`, message: slice(this.#words, size, below) };
  }
}

type Below = (bound: number) => number;
type Pick = <T>(values: readonly T[]) => T;

function access(below: Below, pick: Pick): Body {
  const verb = pick(VERBS);
  const request = `/${pick(WORDS)}/${below(5_000)}${below(3) === 0 ? `?session=${below(1e9)}` : ''}`;
  const client = `10.${below(20)}.${below(256)}.${below(256)}`;
  return {
    members: `"@marker":["nginx","access"],"network":{"client_ip":"${client}","bytes_write":${below(90_000)}},"http":{"response_time":${(below(9_000) / 1000).toFixed(3)},"status_code":${pick(STATUSES)},"request":"${request}","verb":"${verb}","useragent":"Mozilla/5.0 (rv:${below(200)})"}`,
    message: `${verb} ${request} HTTP/1.1`,
  };
}

function application(below: Below, pick: Pick): Body {
  const count = 4 + below(12);
  const first = below(150);
  const members: string[] = [];
  for (let at = 0; at < count; at++) {
    // Steps of one to three through the names, so that no name comes twice.
    const name = first + at * 3 + below(3);
    members.push(`"${WORDS[name % 10]}_${name}":${applicationValue(name % 7, below, pick)}`);
  }
  return { members: members.join(','), message: `${pick(WORDS)} took ${below(900)} ms` };
}

function applicationValue(form: number, below: Below, pick: Pick): string {
  if (form === 0) return String(below(10_000));
  if (form === 1) return (below(100_000) / 100).toFixed(2);
  if (form === 2) return below(2) === 0 ? 'true' : 'null';
  if (form === 3) return `{"id":${below(1e6)},"kind":"${pick(WORDS)}"}`;
  if (form === 4) return `["${pick(WORDS)}",${below(9)},[]]`;
  if (form === 5) return `123456789012345678${below(1e6)}`;
  return `"${pick(WORDS)}-${below(50)} \\"quoted\\" \\n\\\\"`;
}

/** 200 attributes that are each there half the time. */
function wide(below: Below, pick: Pick): Body {
  const members: string[] = [];
  for (let at = 0; at < WIDE_ATTRIBUTES; at++) {
    if (below(2) === 0) continue;
    const value = at % 3 === 0 ? `"${pick(WORDS)}"` : String(below(10 ** (1 + (at % 6))));
    members.push(`"optional_${at}":${value}`);
  }
  return { members: members.join(',') };
}

function slice(pool: string, length: number, below: Below): string {
  const from = below(pool.length - length);
  return pool.slice(from, from + length);
}

function mix(seed: number, source: number, number: number): number {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(source + 1, 0xc2b2ae35);
  state = Math.imul(state ^ (state >>> 13), 0x27d4eb2f) ^ Math.imul(number + 1, 0x165667b1);
  return (state ^ (state >>> 15)) >>> 0;
}
