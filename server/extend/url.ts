import type { Attributes, Extraction, Extractor } from './extraction.ts';
import { queryParameters } from './query-string.ts';

/** The parts of a URL as they are written, but for scheme and host, which are in lower case. */
export interface UrlParts {
  scheme: string | undefined;
  user: string | undefined;
  /** Without the brackets of an IPv6 address. */
  host: string | undefined;
  port: number | undefined;
  path: string;
  /** Text behind the first `?`, not decoded. */
  query: string | undefined;
  fragment: string | undefined;
}

const PORT_MAX = 65_535;

/**
 * Finds the parts of an absolute or relative URL: `scheme`, `user` (never the password), `host`, `port`, `path`,
 * `queryString` (an object), `fragment`; a part that is empty is left out.
 */
export class UrlExtractor implements Extractor {
  extract(text: string): Extraction | undefined {
    const parts = splitUrl(text.trim(), false);
    if (parts === undefined) return undefined;
    const attributes: Attributes = new Map();
    if (parts.scheme !== undefined) attributes.set('scheme', parts.scheme);
    if (parts.user !== undefined) attributes.set('user', parts.user);
    if (parts.host !== undefined) attributes.set('host', parts.host);
    if (parts.port !== undefined) attributes.set('port', parts.port);
    if (parts.path !== '') attributes.set('path', parts.path);
    const parameters = parts.query === undefined ? undefined : queryParameters(parts.query);
    if (parameters !== undefined && parameters.size > 0) attributes.set('queryString', parameters);
    if (parts.fragment) attributes.set('fragment', parts.fragment);
    return attributes.size === 0 ? undefined : { attributes };
  }
}

/**
 * Splits a URL: absolute, `//host/path`, `host:port` as CONNECT has it, or relative. `undefined` when `text` is empty,
 * or has blanks before its query and begins neither with `/` nor with a scheme. In the request line of HTTP
 * (`isRequest`) `//` begins a path. Nothing is decoded.
 * Source: RFC 3986 section 3 and appendix B, RFC 9112 section 3.2.
 */
export function splitUrl(text: string, isRequest: boolean): UrlParts | undefined {
  const hash = text.indexOf('#');
  const hierarchyEnd = hash < 0 ? text.length : hash;
  const mark = text.indexOf('?');
  const hasQuery = mark >= 0 && mark < hierarchyEnd;
  const parts: UrlParts = {
    scheme: undefined,
    user: undefined,
    host: undefined,
    port: undefined,
    path: text.slice(0, hasQuery ? mark : hierarchyEnd),
    query: hasQuery ? text.slice(mark + 1, hierarchyEnd) : undefined,
    fragment: hash < 0 ? undefined : text.slice(hash + 1),
  };
  if (parts.path.startsWith('/')) {
    if (!isRequest && parts.path.startsWith('//')) takeAuthority(parts);
    return parts;
  }
  const colon = schemeEnd(parts.path);
  if (colon > 0 && isPort(parts.path, colon + 1)) {
    parts.path = `//${parts.path}`;
    takeAuthority(parts);
  } else if (colon > 1) {
    parts.scheme = parts.path.slice(0, colon).toLowerCase();
    parts.path = parts.path.slice(colon + 1);
    if (parts.path.startsWith('//')) takeAuthority(parts);
  } else if (text === '' || /\s/.test(parts.path)) {
    return undefined;
  }
  return parts;
}

/** Offset of the colon behind a scheme (or a host name); -1 when there is none. */
function schemeEnd(text: string): number {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
    if (isLetter) continue;
    if (code === 0x3a) return at;
    const isInner =
      (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e;
    if (at === 0 || !isInner) return -1;
  }
  return -1;
}

/** Finds the digits of a port at `at` that end the text or stand before a `/`. */
function isPort(text: string, at: number): boolean {
  let end = at;
  while (end < text.length && end < at + 6 && isDigit(text.charCodeAt(end))) end++;
  if (end === at || end > at + 5 || Number(text.slice(at, end)) > PORT_MAX) return false;
  return end === text.length || text[end] === '/';
}

/** Moves `//user:password@host:port` from the path's beginning to the parts of their own. */
function takeAuthority(parts: UrlParts): void {
  const slash = parts.path.indexOf('/', 2);
  const end = slash < 0 ? parts.path.length : slash;
  const at = parts.path.lastIndexOf('@', end);
  const hasUser = at >= 2 && at < end;
  if (hasUser) {
    const user = parts.path.slice(2, at).split(':', 1)[0];
    if (user !== '') parts.user = user;
  }
  const authority = parts.path.slice(hasUser ? at + 1 : 2, end);
  parts.path = parts.path.slice(end);
  const host = hostAndPort(authority);
  if (host.host !== '') parts.host = host.host.toLowerCase();
  parts.port = host.port;
}

/** Splits `host:port`; an IPv6 address, in brackets when there is a port, loses these. */
export function hostAndPort(text: string): { host: string; port: number | undefined } {
  const bracket = text.startsWith('[') ? text.indexOf(']') : -1;
  const colon = text.lastIndexOf(':');
  const isBareAddress = bracket < 0 && colon >= 0 && text.indexOf(':') !== colon;
  if (colon < 0 || colon < bracket || isBareAddress) {
    return { host: bracket < 0 ? text : text.slice(1, bracket), port: undefined };
  }
  const host = bracket < 0 ? text.slice(0, colon) : text.slice(1, bracket);
  if (colon === text.length - 1) return { host, port: undefined };
  const isValid = isPort(text, colon + 1) && (bracket < 0 || colon === bracket + 1);
  return isValid ? { host, port: Number(text.slice(colon + 1)) } : { host: text, port: undefined };
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
