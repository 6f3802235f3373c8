import { AGENT_COUNT, agent } from './agents.ts';
import { CORPUS_START_MS, clockOf } from './clock.ts';
import { Draw, hex8, permutation, zipfRank } from './random.ts';
import { WORDS } from './words.ts';

const SOURCES = 24;
const ADDRESSES = 1_000_000;
/** One rank in so many is an IPv6 address. */
const IPV6_RANKS = 5;
const PAGES = 20_000;
/** Requests whose URL never comes again: 2M in 10M events. */
const UNIQUE_SHARE = 0.2;
/** Sources send what happened up to so long ago. */
const DELAY_MS = 2_000;

const VERBS = 'GET GET GET GET GET GET GET HEAD POST POST POST PUT PATCH DELETE OPTIONS'.split(' ');
const STATUSES = [
  ...[200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  ...[201, 204, 206, 301, 302, 302, 304, 304, 304, 304, 400, 401, 403, 404, 404, 404, 429, 499],
  ...[500, 502, 503, 504],
];
const VERSIONS = ['HTTP/1.1', 'HTTP/2.0', 'HTTP/3.0'];
const MARKERS = ['nginx', 'apache', 'haproxy', 'envoy', 'traefik'];

/** Writes a date in the form of a source: epoch milliseconds, and six digits below them. */
type DateForm = (timeMs: number, nanos: number) => string;

/** All are ISO 8601, so that every peer reads them. */
const DATE_FORMS: readonly DateForm[] = [
  (timeMs) => isoDate(timeMs),
  (timeMs) => `${isoDate(timeMs).slice(0, 19)}Z`,
  (timeMs) => `${isoDate(timeMs + 7_200_000).slice(0, 23)}+02:00`,
  (timeMs, nanos) => `${isoDate(timeMs).slice(0, 23)}${digits(nanos, 6).slice(0, 3)}Z`,
  (timeMs, nanos) => `${isoDate(timeMs).slice(0, 23)}${digits(nanos, 6)}Z`,
  (timeMs) => isoDate(timeMs).slice(0, 23).replace('T', ' '),
  (timeMs) => `${isoDate(timeMs - 18_000_000).slice(0, 19)}-05:00`,
];

function isoDate(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function digits(number: number, count: number): string {
  return String(number).padStart(count, '0');
}

/** A request before it is written; the texts stand in it as they do inside a JSON string. */
interface Request {
  date: string;
  address: string;
  verb: string;
  url: string;
  version: string;
  status: number;
  bytes: number;
  seconds: string;
  referer: string;
  agent: string;
}

/** A web server: what its configuration makes of a request. */
interface Source {
  ident: string;
  date: DateForm;
  delayMs: number;
  version: string;
  /** Writers of its attributes in the order in which it sends them; an empty text is left out. */
  attributes: readonly ((request: Request) => string)[];
}

const MESSAGES: readonly ((request: Request) => string)[] = [
  ({ verb, url, version }) => `${verb} ${url} ${version}`,
  ({ verb, url, version, status, bytes }) => `\\"${verb} ${url} ${version}\\" ${status} ${bytes}`,
  ({ verb, url, status, seconds }) => `${verb} ${url} answered ${status} in ${seconds} s`,
];

function sourceOf(place: number, draw: Draw): Source {
  const ident = `web-${digits(place + 1, 2)}.${draw.pick(['fra', 'iad', 'sin'])}`;
  const marker = draw.pick(MARKERS);
  const message = draw.pick(MESSAGES);
  return {
    ident,
    date: DATE_FORMS[place % DATE_FORMS.length],
    delayMs: draw.below(DELAY_MS),
    version: draw.pick(VERSIONS),
    attributes: draw.shuffled([
      () => `"@marker":["${marker}","access"]`,
      ({ date }: Request) => `"date_access":"${date}"`,
      ({ address }: Request) => `"network.client_ip":"${address}"`,
      ({ bytes }: Request) => `"network.bytes_write":${bytes}`,
      () => `"http.ident":"${ident}"`,
      ({ seconds }: Request) => `"http.response_time":${seconds}`,
      ({ status }: Request) => `"http.status_code":${status}`,
      ({ url }: Request) => `"http.request":"${url}"`,
      ({ verb }: Request) => `"http.verb":"${verb}"`,
      ({ referer }: Request) => (referer === '' ? '' : `"http.referer":"${referer}"`),
      ({ agent }: Request) => `"http.useragent":"${agent}"`,
      (request: Request) => `"message":"${message(request)}"`,
    ]),
  };
}

/** Makes the address of a rank. */
function addresses(seed: number): (rank: number) => string {
  const high = permutation(seed);
  const low = permutation(seed + 1);
  return (rank) => {
    const bits = high(rank);
    if (rank % IPV6_RANKS === 0) {
      const [a, b] = [hex8(bits), hex8(low(rank))];
      return `2a0${a[0]}:${group(a, 1)}:${group(a, 4)}:${group(b, 0)}:0:${group(a, 3)}:${group(b, 4)}:${group(b, 2)}`;
    }
    return `${1 + ((bits >>> 24) % 223)}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`;
  };
}

/** Four digits of `hex` as a group of an IPv6 address, without leading zeros. */
function group(hex: string, from: number): string {
  return Number.parseInt(hex.slice(from, from + 4), 16).toString(16);
}

/** Makes URLs: pages, Zipf 1.05, some with queries, and those that never come again, by session or by number. */
function urls(seed: number, draw: Draw): { page(): string; request(): string } {
  const rank = zipfRank(PAGES, 1.05, draw.next);
  const mixed = permutation(seed + 2);
  const unique = permutation(seed + 3);
  let uniqueCount = 0;
  const page = (): string => {
    const place = rank();
    const bits = mixed(place);
    return `/${WORDS[bits % WORDS.length]}/${WORDS[(bits >>> 8) % WORDS.length]}/p${place.toString(36)}-${bits % 1000}`;
  };
  const request = (): string => {
    if (draw.chance(UNIQUE_SHARE)) {
      const number = unique(uniqueCount++);
      if (uniqueCount % 2 === 0) return `/api/v2/${draw.pick(WORDS)}/${digits(number, 10)}`;
      return `${page()}?session=${hex8(number)}${draw.hex(8)}`;
    }
    const kind = draw.below(100);
    if (kind < 4) return `${page()}?page=${1 + draw.below(9)}&sort=price`;
    if (kind === 4) return `${page()}?q=caf%C3%A9+${draw.pick(WORDS)}`;
    if (kind === 5) return `${page()}?q=\\"${draw.pick(WORDS)} ${draw.pick(WORDS)}\\"`;
    return page();
  };
  return { page, request };
}

/**
 * Makes access-log events as many differently configured web servers write them in JSON: the attributes of `accessLog`,
 * about 485 bytes. 24 sources, each with an order of attributes of its own, in which names that begin alike do not
 * stand together, one of seven forms of dates and a delay; no referer in half of the requests. 1,000,000 addresses
 * (Zipf 1.02, a fifth of them IPv6), 5,000 user agents (Zipf 0.9), 20,000 pages (Zipf 1.05); a fifth of the requests
 * have a URL that never comes again.
 */
export function accessRough(seed: number): () => string {
  const draw = new Draw(seed);
  const sources = Array.from({ length: SOURCES }, (_, place) => sourceOf(place, draw));
  const addressRank = zipfRank(ADDRESSES, 1.02, draw.next);
  const agentRank = zipfRank(AGENT_COUNT, 0.9, draw.next);
  const addressOf = addresses(seed);
  const { page, request } = urls(seed, draw);
  const clock = clockOf(draw);
  const referer = (): string => {
    const kind = draw.below(8);
    if (kind < 4) return '';
    if (kind < 7) return `https://shop.example${page()}`;
    return `https://search.example/find?q=${draw.pick(WORDS)}+${draw.pick(WORDS)}`;
  };
  return () => {
    const source = draw.pick(sources);
    const made: Request = {
      date: source.date(Math.max(clock() - source.delayMs, CORPUS_START_MS), draw.below(1e6)),
      address: addressOf(addressRank()),
      verb: draw.pick(VERBS),
      url: request(),
      version: source.version,
      status: draw.pick(STATUSES),
      bytes: Math.round(draw.lognormal(8, 1.5)),
      seconds: draw.lognormal(-3, 1).toFixed(3),
      referer: referer(),
      agent: agent(agentRank()),
    };
    let text = '';
    for (const attribute of source.attributes) {
      const written = attribute(made);
      if (written !== '') text += text === '' ? written : `,${written}`;
    }
    return `{${text}}`;
  };
}
