import { NAME_BYTES_MAX } from '../../engine/base/limits.ts';
import type { EnrichmentAttribute } from '../decode/enrichment.ts';
import type { BodyForm, Charset, CompressedEncoding } from '../ingest/protocol.ts';

/** The path below which bodies with events come in, without the slash that ends it. */
export const INPUT_PATH = '/v1/input';
const FORWARDED_MAX = 50;
const ADDRESS = /^[0-9A-Fa-f:.]{2,45}$/;

/**
 * The texts that may be the write key of an input request, from the place that comes first: path, `api_key`,
 * `x-api-key`, `Authorization` (Bearer, or either part of Basic). Empty when there is none. Source: INTERFACE.md 5.
 */
export function keyCandidates(
  path: string,
  query: URLSearchParams | undefined,
  headers: Map<string, string>,
): string[] {
  const inPath = path.slice(INPUT_PATH.length + 1).replace(/\/$/, '');
  if (inPath !== '') return [inPath];
  const given = query?.get('api_key') ?? headers.get('x-api-key');
  if (given !== undefined && given !== '') return [given];
  const authorization = /^(bearer|basic)\s+(\S+)\s*$/i.exec(headers.get('authorization') ?? '');
  if (authorization === null) return [];
  const [, scheme, credentials] = authorization;
  if (scheme.toLowerCase() === 'bearer') return [credentials];
  const pair = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  const parts = colon < 0 ? [pair] : [pair.slice(0, colon), pair.slice(colon + 1)];
  return parts.filter((part) => part !== '');
}

/**
 * The fault in how a request tells the end of its body, from all values of its headers `Content-Length` and
 * `Transfer-Encoding`; `undefined` when there is none. A proxy before us may have read the request otherwise, and
 * what we take for the next request may be somebody else's. Source: RFC 9112 6.3, INTERFACE.md 4.4.
 */
export function lengthFault(
  lengths: readonly string[],
  encodings: readonly string[],
): string | undefined {
  if (lengths.length > 1) return 'the header Content-Length came twice';
  if (encodings.length > 1) return 'the header Transfer-Encoding came twice';
  if (lengths.length + encodings.length > 1) {
    return 'the headers Content-Length and Transfer-Encoding came together';
  }
  const [length] = lengths;
  if (length !== undefined && !/^\d{1,15}$/.test(length)) {
    return 'the header Content-Length is not a number of at most 15 digits';
  }
  const [encoding] = encodings;
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'chunked') {
    return 'the header Transfer-Encoding is not chunked';
  }
  return undefined;
}

/** Form of a body with that `Content-Type`, whose parameters are left aside. Source: INTERFACE.md 4.4. */
export function bodyForm(contentType: string | undefined): BodyForm {
  const type = (contentType ?? '').split(';', 1)[0].trim().toLowerCase();
  switch (type) {
    case 'application/json':
    case 'text/json':
      return 'json';
    case 'text/plain':
    case 'application/x-ndjson':
    case 'application/ndjson':
    case 'application/jsonlines':
    case 'application/x-jsonlines':
      return 'lines';
    case 'application/logplex-1':
      return 'frames';
    default:
      return type.endsWith('+json') ? 'json' : 'auto';
  }
}

/**
 * Charset that `Content-Type` names, in any case of letters: `utf-8` also without one, `unknown` for those that are not
 * understood. Source: INTERFACE.md 4.4.
 */
export function bodyCharset(contentType: string | undefined): Charset | 'utf-8' | 'unknown' {
  const name = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType ?? '')?.[1].toLowerCase();
  switch (name) {
    case undefined:
    case '':
    case 'utf8':
    case 'us-ascii':
    case 'ascii':
      return 'utf-8';
    case 'iso-8859-1':
    case 'latin1':
    case 'cp1252':
      return 'windows-1252';
    case 'utf-8':
    case 'windows-1252':
    case 'utf-16':
    case 'utf-16le':
    case 'utf-16be':
      return name;
    default:
      return 'unknown';
  }
}

/**
 * Meaning of `Content-Encoding`, in any case of letters; `unknown` for several encodings and those that are not
 * understood.
 */
export function bodyEncoding(
  contentEncoding: string | undefined,
): CompressedEncoding | 'identity' | 'unknown' {
  const encoding = (contentEncoding ?? '').trim().toLowerCase();
  switch (encoding) {
    case '':
    case 'identity':
      return 'identity';
    case 'gzip':
    case 'x-gzip':
      return 'gzip';
    case 'deflate':
    case 'br':
    case 'zstd':
      return encoding;
    default:
      return 'unknown';
  }
}

/** An IP address as text: IPv4 dotted, also when it is mapped into IPv6; IPv6 as in RFC 5952. */
export function addressText(address: Uint8Array): string {
  if (address.length === 4) return address.join('.');
  const groups = Array.from(
    { length: 8 },
    (_, index) => (address[index * 2] << 8) | address[index * 2 + 1],
  );
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return address.subarray(12).join('.');
  }
  const zeros = longestZeros(groups);
  const hex = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  return zeros.length < 2 ? hex(0, 8) : `${hex(0, zeros.at)}::${hex(zeros.at + zeros.length, 8)}`;
}

/** The first of the longest runs of zeros. */
function longestZeros(groups: readonly number[]): { at: number; length: number } {
  let longest = { at: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > longest.length) longest = { at: start, length: index + 1 - start };
  }
  return longest;
}

/** An address as it is compared and shown: `::ffff:` before an IPv4 address stripped, lower-case. */
export function plainAddress(address: string): string {
  const lower = address.trim().toLowerCase();
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(lower);
  return mapped?.[1] ?? lower;
}

/**
 * The caller's address: the peer's or, when the peer is a trusted proxy, the last of `X-Forwarded-For` that is not
 * one. A part that is no address ends the search, because the caller before it is unknown. Source: INTERFACE.md 4.4.
 */
export function callerAddress(
  peer: string,
  forwardedFor: string | undefined,
  trusted: ReadonlySet<string>,
): string {
  let caller = plainAddress(peer);
  if (forwardedFor === undefined || !trusted.has(caller)) return caller;
  for (const part of forwardedFor.split(',').slice(-FORWARDED_MAX).reverse()) {
    const address = plainAddress(withoutPort(part.trim()));
    if (!ADDRESS.test(address)) return caller;
    caller = address;
    if (!trusted.has(caller)) return caller;
  }
  return caller;
}

/** `address` of `[address]:port`, `[address]` or IPv4 `address:port`. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](:\d+)?$/.exec(text);
  if (bracketed !== null) return bracketed[1];
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text;
}

/** Attributes that query parameters and headers add to each event. Source: INTERFACE.md 4.4. */
export function addedAttributes(
  query: URLSearchParams | undefined,
  headers: Map<string, string>,
  caller: () => string,
): EnrichmentAttribute[] {
  const added: EnrichmentAttribute[] = [];
  const add = (names: string[], value: string | null | undefined, replaces: boolean): void => {
    if (value !== undefined && value !== null && value !== '')
      added.push({ names, value, replaces });
  };
  for (const name of ['hostname', 'appname', 'username']) add([name], query?.get(name), false);
  const address = attributeNames(headers, 'add-ip');
  if (address !== undefined) add(address, caller(), true);
  const agent = attributeNames(headers, 'add-useragent');
  if (agent !== undefined) add(agent, headers.get('user-agent'), true);
  return added;
}

/** The attribute that a header names, as a path of names; one with an empty part is a single name. */
function attributeNames(headers: Map<string, string>, ending: string): string[] | undefined {
  const text = (headers.get(`x-service-${ending}`) ?? headers.get(`x-logmatic-${ending}`))?.trim();
  if (text === undefined || text === '') return undefined;
  const parts = text.split('.');
  const names = parts.includes('') ? [text] : parts;
  return names.some((name) => Buffer.byteLength(name) > NAME_BYTES_MAX) ? undefined : names;
}
