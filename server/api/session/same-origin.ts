import { ApiError, type ApiRequest } from '../reply.ts';

const SAFE_METHODS = ['GET', 'HEAD'];

/**
 * Throws ApiError 403 when a request that carries a session comes from another site: browsers send cookies along with
 * what other sites make them send. They tell where a request comes from in `Sec-Fetch-Site`, older ones in `Origin`;
 * what tells neither is no browser. Source: W3C Fetch Metadata; OWASP ASVS 5.0, V3.5.
 */
export function requireSameOrigin({ method, headers }: ApiRequest): void {
  const site = headers.get('sec-fetch-site');
  const origin = headers.get('origin');
  const isOurs =
    site === undefined
      ? origin === undefined || hostOf(origin) === headers.get('host')
      : site === 'same-origin' || (site === 'none' && SAFE_METHODS.includes(method));
  if (isOurs) return;
  throw new ApiError(
    403,
    'forbidden: a session is for the console of this service; allowed: requests of the same origin, or an API key',
  );
}

/** The host and port of an origin; `undefined` for `null` and what is none. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
