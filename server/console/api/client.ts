import { signal } from '@preact/signals';
import { parseExact } from './exact.ts';

/** Refusal of the service, in its own words; `status` 0: it did not answer. */
export class Fault extends Error {
  readonly status: number;
  /** Seconds after which it may be tried again. */
  readonly retryAfterS: number | undefined;

  constructor(status: number, message: string, retryAfterS?: number) {
    super(message);
    this.name = 'Fault';
    this.status = status;
    this.retryAfterS = retryAfterS;
  }
}

/** Reports whether the service answers. */
export const isReachable = signal(true);
/** Counts the sessions that ended while one was working. */
export const expired = signal(0);
/** The id of the read key through whose security filter an administrator looks. */
export const viewedKey = signal<{ id: string; name: string } | undefined>(undefined);

const HEALTH_PATH = '/healthz';
const HEALTH_POLL_MS = 1_500;

/** The `result` of an output endpoint. Rejects with Fault, and with AbortError when `signal` is aborted. */
export function ask<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return call<T>('POST', path, body, signal);
}

/** The `result` of any endpoint. Rejects as `ask` does. */
export async function call<T>(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const response = await send(method, path, body, signal);
  const { result } = parseExact(await response.text()) as { result: T };
  return result;
}

/** The answer of a request that is not refused. Rejects as `ask` does. */
export async function send(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  const viewed = viewedKey.peek();
  if (viewed !== undefined && path.startsWith('/beta/')) headers['x-logseam-view-as'] = viewed.id;
  const response = await fetch(path, {
    ...{ method, headers, credentials: 'same-origin', signal: signal ?? null },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    lost();
    throw new Fault(0, 'the service does not answer');
  });
  isReachable.value = true;
  if (response.ok) return response;
  const fault = await faultOf(response);
  if (fault.status === 401 && path !== '/account/session') expired.value++;
  throw fault;
}

async function faultOf(response: Response): Promise<Fault> {
  const retry = Number(response.headers.get('retry-after') ?? Number.NaN);
  const text = await response.text().catch(() => '');
  return new Fault(
    response.status,
    messageIn(text) ?? `the service answered with status ${response.status}`,
    Number.isFinite(retry) ? retry : undefined,
  );
}

function messageIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string } };
    return error?.message;
  } catch {
    return undefined;
  }
}

/** Asks until the service answers again. */
function lost(): void {
  if (!isReachable.peek()) return;
  isReachable.value = false;
  const timer = setInterval(async () => {
    const isUp = await fetch(HEALTH_PATH).then(
      ({ ok }) => ok,
      () => false,
    );
    if (!isUp && !isReachable.peek()) return;
    clearInterval(timer);
    isReachable.value = true;
  }, HEALTH_POLL_MS);
}
