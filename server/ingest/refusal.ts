import type { Reservation } from '../registry/usage.ts';

/** Why something was not taken in, in the terms of HTTP. Source: decisions.md 1.8. */
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

/** What a reservation of usage that was not granted means; `undefined` for one that was. */
export function refusalOf(reservation: Reservation): Refusal | undefined {
  if (reservation === 'disabled') return KEY_DISABLED;
  if (reservation === 'quota') return QUOTA_SPENT;
  return undefined;
}
