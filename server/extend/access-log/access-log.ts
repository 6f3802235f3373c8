import { MINUS, QUOTE } from '../../../engine/base/ascii.ts';
import { must } from '../../../engine/base/assert.ts';
import type { Attributes, ExtractedValue, Extraction, Extractor } from '../extraction.ts';
import { NumberText } from '../extraction.ts';
import { KeyValueExtractor } from '../keyvalue.ts';
import { queryParameters } from '../query-string.ts';
import { bitsOf } from '../signs.ts';
import type { UrlParts } from '../url.ts';
import { hostAndPort, splitUrl } from '../url.ts';
import { AccessDateReader } from './access-log-date.ts';
import { AccessLogExtras } from './access-log-extra.ts';
import { accessLineOf, requestLineOf } from './access-log-line.ts';
import {
  blanksEnd,
  isAddress,
  isBlank,
  isEscaped,
  meaningOf,
  wordEnd,
  wordsOf,
} from './access-log-text.ts';

const MARKER = 'accesslog';
const SIGNS = bitsOf('[]"');
const STATUS_LENGTH = 3;
const VERSION_LENGTH_MAX = 16;
const VERB = /^[a-z][a-z\d_-]{0,31}$/i;
const VERSION = /^[A-Z]+\/\d[\d.]*$/;
const HTTP = 'HTTP/';
/** Pairs whose names mean a response time or the addresses of X-Forwarded-For. */
const TIME_NAMES = new Set(['rt', 'request_time', 'response_time']);
const FORWARDED_NAMES = new Set([
  'xff',
  'x_forwarded_for',
  'http_x_forwarded_for',
  'forwarded_for',
]);

/**
 * Reads lines of access logs in the common and combined format of Apache and nginx, with a virtual host before and
 * with what is usual behind them.
 * Source: INTERFACE.md 1.3, Apache mod_log_config, nginx ngx_http_log_module.
 */
export class AccessLogExtractor implements Extractor {
  readonly #date = new AccessDateReader();
  readonly #head = new AccessHead();
  readonly #tail = new AccessTail();
  readonly #extras = new AccessLogExtras();
  readonly #pairs = new KeyValueExtractor();

  mayFind(signs: number): boolean {
    return (signs & SIGNS) === SIGNS;
  }

  extract(line: string): Extraction | undefined {
    const text = line.trimEnd();
    const head = this.#head;
    const tail = this.#tail;
    for (
      let bracket = text.indexOf(' [');
      bracket >= 0;
      bracket = text.indexOf(' [', bracket + 2)
    ) {
      const dateEnd = this.#date.read(text, bracket + 2);
      // A user's name may have what looks like a date; only behind the true one a quote stands unescaped.
      const opening = dateEnd < 0 ? -1 : blanksEnd(text, dateEnd);
      if (opening <= dateEnd || text.charCodeAt(opening) !== QUOTE) continue;
      if (!tail.read(text, opening + 1) || !head.read(text, bracket)) return undefined;
      this.#extras.read(text, tail.end);
      const attributes = this.#attributes();
      const message = requestLineOf(attributes);
      const isWhole = message !== undefined && accessLineOf(attributes) === line;
      return isWhole ? { attributes, message } : { attributes };
    }
    return undefined;
  }

  #attributes(): Attributes {
    const head = this.#head;
    const tail = this.#tail;
    const extras = this.#extras;
    const pairs = extras.pairs === '' ? undefined : this.#pairs.extract(extras.pairs)?.attributes;
    const forwarded = extras.forwardedAddresses ?? head.forwardedAddresses;
    const attributes = new Map<string, ExtractedValue>();
    const set = (name: string, value: ExtractedValue | undefined): void => {
      if (value !== undefined) attributes.set(name, value);
    };
    const { url } = tail;
    attributes.set('@marker', [MARKER]);
    attributes.set('date_access', this.#date.iso);
    set('network.client_ip', head.client);
    set('network.bytes_write', tail.bytesWritten);
    set('http.ident', head.ident);
    set('http.response_time', extras.responseTime ?? taken(pairs, TIME_NAMES));
    set('http.status_code', tail.status);
    set('http.request', tail.request);
    set('http.verb', tail.verb);
    set('http.referer', extras.referer);
    set('http.useragent', extras.userAgent);
    set('http.version', tail.version);
    set('http.auth', head.auth);
    set('http.request_details.path', url?.path === '' ? undefined : url?.path);
    if (url?.query !== undefined) {
      const parameters = queryParameters(url.query);
      if (parameters.size > 0) attributes.set('http.request_details.queryString', parameters);
    }
    set('http.request_details.host', head.host ?? url?.host);
    set('http.request_details.port', head.host === undefined ? url?.port : head.port);
    set('network.client_port', head.clientPort);
    set('network.bytes_read', extras.bytesRead);
    set('network.forwarded_ip', forwarded ?? taken(pairs, FORWARDED_NAMES));
    if (pairs !== undefined) {
      for (const [name, value] of pairs) if (!attributes.has(name)) attributes.set(name, value);
    }
    return attributes;
  }
}

/** Takes the first of the pairs that has one of `names` and says something. */
function taken(
  pairs: Attributes | undefined,
  names: ReadonlySet<string>,
): ExtractedValue | undefined {
  if (pairs === undefined) return undefined;
  for (const [name, value] of pairs) {
    if (!names.has(name)) continue;
    pairs.delete(name);
    if (value !== '-' && value !== '') return value;
  }
  return undefined;
}

/** Parts before the date: `[host[:port]] client ident user`. The client may be a list of forwarded addresses. */
class AccessHead {
  host: string | undefined;
  port: number | undefined;
  client: string | undefined;
  clientPort: number | undefined;
  forwardedAddresses: string | undefined;
  ident: string | undefined;
  auth: string | undefined;

  /** Reads `text[0, end)`; false when it cannot be what stands before a date. */
  read(text: string, end: number): boolean {
    this.host = undefined;
    this.port = undefined;
    const start = this.#readForwarded(text, end);
    const words = wordsOf(text, start, end, 4);
    if (words.length < 2) return false;
    if (this.#beginsWithHost(words)) {
      const { host, port } = hostAndPort(must(words.shift(), 'the host'));
      this.host = host.toLowerCase();
      this.port = port;
    }
    const [client, ident, ...user] = words;
    this.#takeClient(client);
    this.ident = meaningOf(ident);
    this.auth = userOf(user.join(' '));
    return true;
  }

  /** Reads addresses with commas between them; returns the offset of the last one. */
  #readForwarded(text: string, end: number): number {
    this.forwardedAddresses = undefined;
    const first = blanksEnd(text, 0);
    let at = first;
    for (;;) {
      const stop = wordEnd(text, at, end);
      if (stop === at || text[stop - 1] !== ',' || blanksEnd(text, stop) >= end) {
        if (at === first) return first;
        this.forwardedAddresses = text.slice(first, stop);
        return at;
      }
      at = blanksEnd(text, stop);
    }
  }

  /** Recognises a virtual host as the first word: an address follows it, or it has a port and a name follows. */
  #beginsWithHost(words: readonly string[]): boolean {
    if (this.forwardedAddresses !== undefined || words.length < 3) return false;
    const [first, second, third] = words;
    if (words.length === 3) return isAddress(second) && !isAddress(hostAndPort(first).host);
    if (isAddress(hostAndPort(second).host)) return true;
    const { host, port } = hostAndPort(first);
    return port !== undefined && second !== '-' && (third === '-' || !isAddress(host));
  }

  #takeClient(client: string): void {
    const forwarded = this.forwardedAddresses;
    // Of forwarded addresses the first one is the client's; the others are proxies.
    const written = forwarded === undefined ? client : forwarded.slice(0, forwarded.indexOf(','));
    const { host, port } = hostAndPort(written);
    this.client = host === '-' || host === '' ? undefined : host;
    this.clientPort = port;
  }
}

/** The user of a line, without quotes and without the address in brackets that ingress-nginx wrote before it. */
function userOf(text: string): string | undefined {
  const bracketEnd = text.startsWith('[') ? text.indexOf('] - ') : -1;
  const user = bracketEnd < 0 ? text : text.slice(bracketEnd + 4);
  const isQuoted = user.length > 1 && user.startsWith('"') && user.endsWith('"');
  return meaningOf(isQuoted ? user.slice(1, -1) : user);
}

/** Parts behind the date: the request line in quotes, the status, the bytes. */
class AccessTail {
  verb: string | undefined;
  request: string | undefined;
  /** Without `HTTP/`. */
  version: string | undefined;
  url: UrlParts | undefined;
  status: number | undefined;
  bytesWritten: number | NumberText | undefined;
  /** Offset behind the bytes. */
  end = 0;

  /** Reads `text` from `start`, inside of the quotes, on; false when no status is behind them. */
  read(text: string, start: number): boolean {
    const closing = requestEnd(text, start);
    if (closing < 0) return false;
    this.#takeRequest(meaningOf(text.slice(start, closing)));
    const status = blanksEnd(text, closing + 1);
    const isNone = text.charCodeAt(status) === MINUS;
    const statusEnd = status + (isNone ? 1 : STATUS_LENGTH);
    this.status = isNone ? undefined : Number(text.slice(status, statusEnd));
    this.end = this.#takeBytes(text, blanksEnd(text, statusEnd), statusEnd);
    return true;
  }

  /** Takes the bytes at `at` if they are there; returns the offset behind them, else `behindStatus`. */
  #takeBytes(text: string, at: number, behindStatus: number): number {
    this.bytesWritten = undefined;
    const end = wordEnd(text, at, text.length);
    if (end === at + 1 && text.charCodeAt(at) === MINUS) return end;
    if (end === at || digitsEnd(text, at) !== end) return behindStatus;
    const value = Number(text.slice(at, end));
    if (Number.isSafeInteger(value)) this.bytesWritten = value;
    else if (text[at] !== '0') this.bytesWritten = new NumberText(text.slice(at, end));
    return end;
  }

  #takeRequest(line: string | undefined): void {
    this.verb = undefined;
    this.version = undefined;
    this.url = undefined;
    this.request = line;
    if (line === undefined) return;
    const verbEnd = line.indexOf(' ');
    const verb = line.slice(0, Math.max(verbEnd, 0));
    if (!VERB.test(verb)) return;
    const lastBlank = line.lastIndexOf(' ');
    const version = line.length - lastBlank > VERSION_LENGTH_MAX ? '' : line.slice(lastBlank + 1);
    const hasVersion = lastBlank > verbEnd && VERSION.test(version);
    const request = line.slice(verbEnd + 1, hasVersion ? lastBlank : line.length).trim();
    // Two words without a version are a request of HTTP/0.9; garbage may begin with a word too.
    if (!hasVersion && !request.startsWith('/')) return;
    this.verb = verb;
    this.request = request === '' ? undefined : request;
    if (hasVersion) this.version = version.startsWith(HTTP) ? version.slice(HTTP.length) : version;
    this.url = splitUrl(request, true);
  }
}

/**
 * Offset of the quote that closes the request line from `start` on: the first one that is not escaped and has a status
 * behind it, since not all servers escape the quotes in it; -1 when there is none.
 */
function requestEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at >= 0; at = text.indexOf('"', at + 1)) {
    const status = at + 2;
    if (status >= text.length || !isBlank(text.charCodeAt(at + 1))) continue;
    const isNone = text.charCodeAt(status) === MINUS;
    const end = isNone ? status + 1 : Math.min(digitsEnd(text, status), status + STATUS_LENGTH + 1);
    if (!isNone && end !== status + STATUS_LENGTH) continue;
    if (end < text.length && !isBlank(text.charCodeAt(end))) continue;
    if (!isEscaped(text, start, at)) return at;
  }
  return -1;
}

/** Offset of the first character from `at` on that is no digit; at most the length of `text`. */
function digitsEnd(text: string, at: number): number {
  let end = at;
  while (end < text.length && text.charCodeAt(end) >= 0x30 && text.charCodeAt(end) <= 0x39) end++;
  return end;
}
