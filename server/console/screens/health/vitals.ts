import { call } from '../../api/client.ts';
import type { QueriesResult, ServiceHealth, TroublesResult } from '../../api/contract.ts';

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
/** Days by which the growth of the store is told. */
const GROWTH_DAYS = 7;

/** State of the service as it tells it, with the rates since it was asked before. */
export interface Vitals {
  readonly health: ServiceHealth;
  readonly rates: readonly Rate[];
  readonly queries: QueriesResult['queries'];
  readonly slow: QueriesResult['slow'];
  readonly troubles: TroublesResult['troubles'];
  /** When it was asked. */
  readonly atMs: number;
}

/** Input of a write key by one channel. */
export interface Rate {
  readonly channel: string;
  readonly key: string;
  readonly events: number;
  readonly bytes: number;
  /** A second, since it was asked before; `undefined` the first time. */
  readonly eventsRate: number | undefined;
  readonly bytesRate: number | undefined;
}

/** Asks how the service does. */
export async function loadVitals(before: Vitals | undefined, signal: AbortSignal): Promise<Vitals> {
  const get = <T>(name: string): Promise<T> =>
    call<T>('GET', `/admin/api/${name}`, undefined, signal);
  const [health, { queries, slow }, { troubles }] = await Promise.all([
    get<ServiceHealth>('health'),
    get<QueriesResult>('queries'),
    get<TroublesResult>('troubles'),
  ]);
  const atMs = performance.now();
  return { health, rates: ratesOf(health, before, atMs), queries, slow, troubles, atMs };
}

function ratesOf(health: ServiceHealth, before: Vitals | undefined, atMs: number): Rate[] {
  const isSame = before?.health.started === health.started;
  return health.input.map((now) => {
    if (before === undefined || !isSame) {
      return { ...now, eventsRate: undefined, bytesRate: undefined };
    }
    const had = before.rates.find(({ channel, key }) => channel === now.channel && key === now.key);
    const seconds = Math.max(atMs - before.atMs, 1) / SECOND_MS;
    return {
      ...now,
      eventsRate: (now.events - (had?.events ?? 0)) / seconds,
      bytesRate: (now.bytes - (had?.bytes ?? 0)) / seconds,
    };
  });
}

/** Days until the disk is full at the pace of the last whole days; `undefined` when they tell none. */
export function daysLeft({ disk }: ServiceHealth, nowMs: number): number | undefined {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const bytes = disk.days
    .filter(({ day }) => {
      const ms = Date.parse(day);
      return ms < today && ms >= today - GROWTH_DAYS * DAY_MS;
    })
    .map((day) => day.bytes);
  const sum = bytes.reduce((all, one) => all + one, 0);
  return sum === 0 ? undefined : disk.free_bytes / (sum / bytes.length);
}
