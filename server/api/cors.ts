import type { ApiRequest, Reply } from './reply.ts';

const METHODS = 'GET, POST, DELETE, OPTIONS';
const MAX_AGE_SECONDS = 86_400;
/** Headers allowed to a preflight that asks for none. */
const DEFAULT_HEADERS = 'content-type, x-api-key';
const ASKED_HEADERS_MAX = 50;
/** A header's name. Source: RFC 9110 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

/** Headers of every reply of the input and output APIs, refusals included. Source: INTERFACE.md 4.1. */
export function corsHeaders(): Record<string, string> {
  return { 'access-control-allow-origin': '*' };
}

/**
 * The answer to an `OPTIONS` preflight on any path of the input and output APIs: no key, no content. The asked
 * headers are echoed when they are valid names. Source: INTERFACE.md 4.1, Fetch Standard 3.2.
 */
export function preflightReply(request: ApiRequest): Reply {
  const asked = (request.headers.get('access-control-request-headers') ?? '')
    .split(',', ASKED_HEADERS_MAX)
    .map((name) => name.trim())
    .filter((name) => HEADER_NAME.test(name));
  return {
    status: 204,
    body: '',
    headers: {
      ...corsHeaders(),
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': asked.length > 0 ? asked.join(', ') : DEFAULT_HEADERS,
      'access-control-max-age': String(MAX_AGE_SECONDS),
      vary: 'access-control-request-headers',
    },
  };
}
