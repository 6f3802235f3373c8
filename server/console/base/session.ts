import { signal } from '@preact/signals';
import { call, expired, Fault, viewedKey } from '../api/client.ts';
import type { Session } from '../api/contract.ts';

const SESSION_PATH = '/account/session';

/** Who has logged in; `null`: nobody, `undefined`: not known yet. */
export const session = signal<Session | null | undefined>(undefined);

/** The refusal of one whom a proxy has let in, and the service does not. */
export const refusal = signal<string | undefined>(undefined);

/** Asks who has logged in. Rejects with Fault when the service does not answer. */
export async function findSession(): Promise<void> {
  try {
    session.value = await call<Session>('GET', SESSION_PATH);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.status === 401) session.value = null;
    else if (error.status === 403) refusal.value = error.message;
    else throw error;
  }
}

/** Reports whether answers tell what was read: only to those from whom nothing is hidden. */
export function isExplained(): boolean {
  return session.peek()?.security_filter === null && viewedKey.peek() === undefined;
}

/** Logs in. Rejects with Fault. */
export async function logIn(
  body: { name: string; password: string } | { read_key: string },
): Promise<void> {
  session.value = await call<Session>('POST', SESSION_PATH, body);
}

/** Makes the first user, and logs in. Rejects with Fault. */
export async function setUp(token: string, name: string, password: string): Promise<void> {
  session.value = await call<Session>('POST', '/account/setup', { token, name, password });
}

/** Ends the session. */
export async function logOut(): Promise<void> {
  await call('DELETE', SESSION_PATH).catch(() => undefined);
  viewedKey.value = undefined;
  session.value = null;
}

/** Shows the login in place of a screen whose session has ended; the address stays, and with it what one looked at. */
export function watchExpiry(): void {
  expired.subscribe((count) => {
    if (count > 0 && session.peek()) session.value = null;
  });
}
