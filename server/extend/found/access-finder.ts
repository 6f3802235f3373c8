import {
  ASCII_MAX,
  BACKSLASH,
  BLANK,
  byteFrom,
  COLON,
  COMMA,
  DOT,
  digitsEnd,
  HASH,
  MINUS,
  NINE,
  OPEN_BRACKET,
  QUESTION,
  QUOTE,
  SLASH,
  UNDERSCORE,
  ZERO,
} from '../../../engine/base/ascii.ts';
import { Kind } from '../../../engine/column/kind.ts';
import { PATH_CUSTOM } from '../../../engine/column/path.ts';
import type { RowValues } from '../row-values.ts';
import { AccessDate } from './access-date.ts';
import { AccessRest, dropNothing, Span } from './access-rest.ts';
import {
  type Answer,
  type Finder,
  type Findings,
  FOUND,
  KnownNames,
  NOTHING,
  UNSURE,
} from './findings.ts';
import { ParameterFinder } from './url-parts.ts';

const STATUS_BYTES = 3;
const VERB_BYTES_MAX = 32;
const VERSION_BYTES_MAX = 15;
/** Numbers of so many digits are exact. */
const DIGITS_MAX = 15;
const HTTP = Uint8Array.from(Buffer.from('HTTP/'));
const MARKER = '["accesslog"]';

const NAMES = [
  '@marker',
  'date_access',
  'network.client_ip',
  'network.bytes_write',
  'http.ident',
  'http.response_time',
  'http.status_code',
  'http.request',
  'http.verb',
  'http.referer',
  'http.useragent',
  'http.version',
  'http.auth',
  'http.request_details.path',
  'http.request_details.queryString',
  'network.bytes_read',
];
const Name = {
  MARKER: 0,
  DATE: 1,
  CLIENT: 2,
  BYTES_WRITE: 3,
  IDENT: 4,
  RESPONSE_TIME: 5,
  STATUS: 6,
  REQUEST: 7,
  VERB: 8,
  REFERER: 9,
  AGENT: 10,
  VERSION: 11,
  AUTH: 12,
  PATH: 13,
  QUERY: 14,
  BYTES_READ: 15,
} as const;

/**
 * Finds the attributes of access lines, as AccessLogExtractor does, when they are plain: client, ident and user, the
 * request of a path with its version, status and bytes, and what AccessRest reads.
 */
export class AccessFinder implements Finder {
  readonly #found: Findings;
  readonly #names: KnownNames;
  readonly #date = new AccessDate();
  readonly #rest = new AccessRest();
  readonly #parameters: ParameterFinder;
  /** The marker and the date, as they go into the side buffer. */
  #fixed = Buffer.from(MARKER);
  #fixedDate = '';

  readonly #client = new Span();
  readonly #ident = new Span();
  readonly #auth = new Span();
  readonly #verb = new Span();
  readonly #request = new Span();
  readonly #version = new Span();
  readonly #status = new Span();
  readonly #bytesWritten = new Span();

  constructor(found: Findings) {
    this.#found = found;
    this.#names = new KnownNames(found, NAMES);
    this.#parameters = new ParameterFinder(found);
  }

  find(text: RowValues): Answer {
    const { bytes, start, end, isInSide } = text;
    const bracket = bracketFrom(bytes, start, end);
    if (bracket === end) return NOTHING;
    const last = bytes[end - 1];
    if (last <= BLANK || last > ASCII_MAX) return UNSURE;
    const dateEnd = this.#date.read(bytes, bracket + 2, end);
    const isQuoted = bytes[dateEnd] === BLANK && bytes[dateEnd + 1] === QUOTE;
    if (dateEnd < 0 || dateEnd + 2 >= end || !isQuoted) return UNSURE;
    const closing = this.#readRequest(bytes, dateEnd + 2, end);
    if (closing < 0 || !this.#readHead(bytes, start, bracket)) return UNSURE;
    const rest = this.#readStatus(bytes, closing + 1, end);
    if (rest < 0 || !this.#rest.read(bytes, rest, end)) return UNSURE;
    if (this.#date.isCommon && this.#isCommon(bytes)) {
      const at = dateEnd + 2;
      this.#found.addMessage(isInSide ? ~at : at, closing - at);
    }
    return this.#add(text) ? FOUND : UNSURE;
  }

  /** Reads the words before the date, three of them; false when they are not plain. */
  #readHead(bytes: Uint8Array, start: number, end: number): boolean {
    const clientEnd = wordEnd(bytes, start, end);
    const identEnd = wordEnd(bytes, clientEnd + 1, end);
    const authEnd = wordEnd(bytes, identEnd + 1, end);
    const isSpaced = bytes[clientEnd] === BLANK && bytes[identEnd] === BLANK && authEnd === end;
    if (!isSpaced || identEnd >= end) return false;
    this.#client.set(start, clientEnd);
    this.#ident.set(clientEnd + 1, identEnd);
    this.#auth.set(identEnd + 1, authEnd);
    if (clientEnd === start || identEnd === clientEnd + 1 || authEnd === identEnd + 1) return false;
    // Forwarded addresses, ports, and what may be a virtual host.
    if (bytes[start] === OPEN_BRACKET || bytes[clientEnd - 1] === COMMA) return false;
    for (let at = start; at < clientEnd; at++) if (bytes[at] === COLON) return false;
    for (let at = clientEnd + 1; at < end; at++) {
      const byte = bytes[at];
      if (byte === QUOTE || byte === BACKSLASH) return false;
      if (at < identEnd && (byte === DOT || byte === COLON)) return false;
    }
    dropNothing(bytes, this.#client);
    dropNothing(bytes, this.#ident);
    dropNothing(bytes, this.#auth);
    return true;
  }

  /** Reads the request line at `at`; the offset of the quote behind it, -1 when it is not plain. */
  #readRequest(bytes: Uint8Array, start: number, end: number): number {
    let closing = start;
    let verbEnd = -1;
    let blank = -1;
    for (; closing < end && bytes[closing] !== QUOTE; closing++) {
      if (bytes[closing] === BACKSLASH) return -1;
      if (bytes[closing] !== BLANK) continue;
      if (verbEnd < 0) verbEnd = closing;
      blank = closing;
    }
    if (closing === end || blank <= verbEnd + 1 || !isVerb(bytes, start, verbEnd)) return -1;
    const last = bytes[blank - 1];
    const isPath = bytes[verbEnd + 1] === SLASH && last > BLANK && last <= ASCII_MAX;
    if (!isPath || !isVersion(bytes, blank + 1, closing)) return -1;
    this.#verb.set(start, verbEnd);
    this.#request.set(verbEnd + 1, blank);
    this.#version.set(blank + 1 + HTTP.length, closing);
    return closing;
  }

  /** Reads status and bytes, with a blank before each, at `at`; the offset behind them, -1 when they are not there. */
  #readStatus(bytes: Uint8Array, at: number, end: number): number {
    const statusEnd = digitsEnd(bytes, at + 1, end);
    const size = statusEnd + 1;
    const isStatus = statusEnd - at - 1 === STATUS_BYTES && bytes[at + 1] !== ZERO;
    if (!isStatus || bytes[at] !== BLANK || bytes[statusEnd] !== BLANK || size >= end) return -1;
    this.#status.set(at + 1, statusEnd);
    const isNone = bytes[size] === MINUS;
    const behind = isNone ? size + 1 : digitsEnd(bytes, size, end);
    const hasZero = bytes[size] === ZERO && behind > size + 1;
    if (behind === size || behind - size > DIGITS_MAX || hasZero) return -1;
    if (behind < end && bytes[behind] > BLANK) return -1;
    this.#bytesWritten.set(size, behind);
    if (isNone) this.#bytesWritten.length = -1;
    return behind;
  }

  /** Tells that attributes say all of the line: one of its quoted parts is more than `-`. */
  #isCommon(bytes: Uint8Array): boolean {
    const { referer, agent, isCommon } = this.#rest;
    const hadQuotes = referer.length >= 0;
    dropNothing(bytes, referer);
    dropNothing(bytes, agent);
    return isCommon && (!hadQuotes || referer.length >= 0 || agent.length >= 0);
  }

  #add(text: RowValues): boolean {
    const found = this.#found;
    const { bytes, isInSide } = text;
    const { referer, agent, responseTime, bytesRead } = this.#rest;
    const add = (name: number, kind: Kind, { start, length }: Span): void => {
      if (length < 0) return;
      found.add(this.#names.path(name), kind, isInSide ? ~start : start, length);
    };
    dropNothing(bytes, referer);
    dropNothing(bytes, agent);
    this.#addFixed();
    add(Name.CLIENT, Kind.STRING, this.#client);
    add(Name.BYTES_WRITE, Kind.NUMBER, this.#bytesWritten);
    add(Name.IDENT, Kind.STRING, this.#ident);
    add(Name.RESPONSE_TIME, Kind.NUMBER, responseTime);
    add(Name.STATUS, Kind.NUMBER, this.#status);
    add(Name.REQUEST, Kind.STRING, this.#request);
    add(Name.VERB, Kind.STRING, this.#verb);
    add(Name.REFERER, Kind.STRING, referer);
    add(Name.AGENT, Kind.STRING, agent);
    add(Name.VERSION, Kind.STRING, this.#version);
    add(Name.AUTH, Kind.STRING, this.#auth);
    const isPlain = this.#addUrl(text);
    add(Name.BYTES_READ, Kind.NUMBER, bytesRead);
    return isPlain;
  }

  /** Adds the marker, which the event need not take, and the date. */
  #addFixed(): void {
    const found = this.#found;
    const { iso } = this.#date;
    if (this.#fixedDate !== iso) {
      this.#fixedDate = iso;
      this.#fixed = Buffer.from(MARKER + iso);
    }
    const fixed = this.#fixed;
    const at = found.put(fixed);
    found.add(this.#names.path(Name.MARKER), Kind.ARRAY, ~at, MARKER.length);
    if (found.container === PATH_CUSTOM) found.optional = 1;
    const date = at + MARKER.length;
    found.add(this.#names.path(Name.DATE), Kind.STRING, ~date, fixed.length - MARKER.length);
  }

  /** Adds the path and the parameters of the request; false when these are not plain. */
  #addUrl(text: RowValues): boolean {
    const found = this.#found;
    const { bytes, isInSide } = text;
    const { start, length } = this.#request;
    const hash = byteFrom(HASH, bytes, start, start + length);
    const mark = byteFrom(QUESTION, bytes, start, hash);
    const path = this.#names.path(Name.PATH);
    found.add(path, Kind.STRING, isInSide ? ~start : start, mark - start);
    if (mark === hash) return true;
    const query = this.#names.path(Name.QUERY);
    return query >= 0 && this.#parameters.find(query, text, mark + 1, hash);
  }
}

/** Offset of the first ` [` from `start` on, or `end`. */
function bracketFrom(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start + 1; at < end; at++)
    if (bytes[at] === OPEN_BRACKET && bytes[at - 1] === BLANK) return at - 1;
  return end;
}

function wordEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] > BLANK) at++;
  return at;
}

/** Recognises a letter with letters, digits, `_` and `-` behind. */
function isVerb(bytes: Uint8Array, start: number, end: number): boolean {
  if (end === start || end - start > VERB_BYTES_MAX || !isLetter(bytes[start])) return false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    const isInner = (byte >= ZERO && byte <= NINE) || byte === UNDERSCORE || byte === MINUS;
    if (!isInner && !isLetter(byte)) return false;
  }
  return true;
}

function isLetter(byte: number): boolean {
  return (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
}

/** Recognises `HTTP/` with a digit, and digits and dots behind. */
function isVersion(bytes: Uint8Array, start: number, end: number): boolean {
  const digit = start + HTTP.length;
  if (end <= digit || end - start > VERSION_BYTES_MAX || bytes[digit] === DOT) return false;
  for (let at = 0; at < HTTP.length; at++) if (bytes[start + at] !== HTTP[at]) return false;
  for (let at = digit; at < end; at++) {
    if (bytes[at] !== DOT && (bytes[at] < ZERO || bytes[at] > NINE)) return false;
  }
  return true;
}
