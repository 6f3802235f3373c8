/**
 * The names of the cookie of a session. Browsers take the first over HTTPS only, for this host alone. Source: RFC
 * 6265bis, 4.1.3.
 */
const SECURE_NAME = '__Host-logseam';
const PLAIN_NAME = 'logseam';

const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';

/** The tokens of sessions that a header `Cookie` brings, at most one of each name. */
export function sessionTokens(cookie: string | undefined): string[] {
  const values = new Map<string, string>();
  for (const pair of (cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(at, 0)).trim();
    if (name === SECURE_NAME || name === PLAIN_NAME) values.set(name, pair.slice(at + 1).trim());
  }
  return [...values.values()];
}

/** The header `Set-Cookie` that gives a browser the token of a session. */
export function sessionCookie(token: string, maxAgeMs: number, isSecure: boolean): string {
  const name = isSecure ? SECURE_NAME : PLAIN_NAME;
  const maxAge = Math.floor(maxAgeMs / 1_000);
  return `${name}=${token}; ${ATTRIBUTES}; Max-Age=${maxAge}${isSecure ? '; Secure' : ''}`;
}

/** The header `Set-Cookie` that takes it away. */
export function endedCookie(isSecure: boolean): string {
  return sessionCookie('', 0, isSecure);
}
