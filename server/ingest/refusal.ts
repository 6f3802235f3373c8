import type { Reservation } from '../registry/usage.ts';

/** Why something was not taken in, in the terms of HTTP. Source: INTERFACE.md 4.4. */
export interface Refusal {
  status: number;
  message: string;
}

/** A key is missing or is none. All of these messages hold the words that clients look for. */
export const KEY_UNKNOWN: Refusal = {
  status: 401,
  message: 'the caller could not be authenticated: the write key is missing or unknown',
};

const KEY_DISABLED: Refusal = {
  status: 401,
  message: 'the caller could not be authenticated: the write key is disabled',
};

const QUOTA_SPENT: Refusal = {
  status: 429,
  message:
    'the caller could not be authenticated: the quota of the write key is spent until midnight UTC',
};

/** All slots are taken, by requests that are being read or decoded. */
export const OVERLOADED: Refusal = {
  status: 429,
  message: 'overloaded, try again',
};

/** A write or a sync failed, or a worker went down: nothing of the request was stored. */
export const NOT_STORED: Refusal = {
  status: 503,
  message: 'could not be stored, try again',
};

/** Refusal while free disk is below the reserve. Source: INTERFACE.md 4.4. */
export const DISK_FULL: Refusal = {
  status: 507,
  message: 'the free disk is below the reserve (disk_reserve_mb), try again later',
};

/** Writes fail, and will be tried again. */
export const DISK_FAILING: Refusal = {
  status: 503,
  message: 'could not be stored, as the disk of the service fails, try again later',
};

/** The refusal for a reservation of usage; `undefined` when it was granted. */
export function refusalOf(reservation: Reservation): Refusal | undefined {
  if (reservation === 'disabled') return KEY_DISABLED;
  if (reservation === 'quota') return QUOTA_SPENT;
  return undefined;
}

/** Why things are refused, in the words of the statistics. */
export type RefusalReason =
  | 'key'
  | 'key_disabled'
  | 'quota'
  | 'overloaded'
  | 'method'
  | 'malformed'
  | 'too_large'
  | 'encoding'
  | 'not_stored'
  | 'disk_full'
  | 'internal';

const REASONS: ReadonlyMap<number, RefusalReason> = new Map([
  [400, 'malformed'],
  [401, 'key'],
  [405, 'method'],
  [413, 'too_large'],
  [415, 'encoding'],
  [429, 'quota'],
  [503, 'not_stored'],
  [507, 'disk_full'],
]);

/** The word for a refusal. */
export function reasonOf({ status, message }: Refusal): RefusalReason {
  if (message === OVERLOADED.message) return 'overloaded';
  if (message === KEY_DISABLED.message) return 'key_disabled';
  return REASONS.get(status) ?? 'internal';
}
