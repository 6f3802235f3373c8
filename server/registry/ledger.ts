import { MINUTE_MS } from '../../engine/base/durations.ts';
import type { CommittedGroup } from '../../engine/engine.ts';

/** Minutes that are kept: a day. */
const MINUTES_MAX = 1_440;
/** Keys that a minute tells apart; those that come later are counted together. */
const KEYS_MAX = 64;
/** In place of the id of a key: those that are counted together. */
export const OTHER_KEYS = '';

/** Events that became durable in a minute, and so were acknowledged or about to be. */
export interface LedgerMinute {
  readonly startMs: number;
  /** The sequence of its first row. */
  readonly first: number;
  events: number;
  /** Events by the ids of write keys. */
  readonly keys: Map<string, number>;
}

/**
 * Counts of what write keys brought, by minute and since the start, from the commit groups in the order of their
 * sequences. Owned by the front thread.
 */
export class Ledger {
  readonly #minutes: LedgerMinute[] = [];
  /** Above the sequences of all groups. */
  end = 0;
  /** Events since the start. */
  events = 0;

  /** Takes a group that became visible. */
  take({ claim, usage }: Pick<CommittedGroup, 'claim' | 'usage'>, nowMs: number): void {
    if (claim.first === claim.end) return;
    const minute = this.#minuteAt(Math.floor(nowMs / MINUTE_MS) * MINUTE_MS, claim.first);
    this.end = claim.end;
    for (const { key, events } of usage) {
      const isKnown = minute.keys.has(key) || minute.keys.size < KEYS_MAX;
      const name = isKnown ? key : OTHER_KEYS;
      minute.keys.set(name, (minute.keys.get(name) ?? 0) + events);
      minute.events += events;
      this.events += events;
    }
  }

  /** The minutes in which something came, at most those of a day, the oldest first. */
  minutes(): readonly LedgerMinute[] {
    return this.#minutes;
  }

  /** The minute of a group; the one before when the clock was put back. */
  #minuteAt(startMs: number, first: number): LedgerMinute {
    const last = this.#minutes.at(-1);
    if (last !== undefined && last.startMs >= startMs) return last;
    const minute = { startMs, first, events: 0, keys: new Map<string, number>() };
    this.#minutes.push(minute);
    if (this.#minutes.length > MINUTES_MAX) this.#minutes.shift();
    return minute;
  }
}
