import { ApiError, type ApiRequest } from '../reply.ts';

const SAFE_METHODS = ['GET', 'HEAD'];

/**
 * Throws ApiError 403 unless a request that carries a session comes from the console itself: a browser sends cookies
 * along with what other sites make it send. Browsers tell where a request comes from in `Sec-Fetch-Site`, older ones in
 * `Origin`. Source: W3C Fetch Metadata; OWASP ASVS 5.0, V3.5.
 */
export function requireSameOrigin({ method, headers }: ApiRequest): void {
  const isSafe = SAFE_METHODS.includes(method);
  const site = headers.get('sec-fetch-site');
  if (site === 'same-origin' || (site === 'none' && isSafe)) return;
  const origin = headers.get('origin');
  if (site === undefined && origin === undefined && isSafe) return;
  if (site === undefined && origin !== undefined && hostOf(origin) === headers.get('host')) return;
  throw new ApiError(
    403,
    'forbidden: a session is for the console of this service; allowed: requests of the same origin, or an API key',
  );
}

/** The host and port of an origin; `undefined` for `null` and what is none. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
