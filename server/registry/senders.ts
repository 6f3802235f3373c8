import type { KeyUsage } from '../../engine/engine.ts';

/** An address that sent events. */
export interface Sender {
  peer: string;
  /** The way by which they came, such as `tcp`. */
  channel: string;
}

/** A sender of a write key, and when it was last noted. */
export interface SeenSender extends Sender {
  lastMs: number;
}

/** Senders of a key that are kept. */
const SENDERS_MAX = 10;
/** Keys that are kept; the one that was heard of first goes, as it may be deleted. */
const KEYS_MAX = 8_192;
/** A key that brings much has a sender noted as often at most. */
const PACE_MS = 50;

/** The last senders of a key, the newest first, and when it last brought an event. */
interface Heard {
  storedMs: number | undefined;
  notedMs: number;
  senders: SeenSender[];
}

/** Knows, since the process began, when each write key last brought events and who sent them. On the front thread. */
export class Senders {
  readonly #keys = new Map<string, Heard>();

  /** Notes that events of keys are acknowledged. */
  stored(usage: readonly KeyUsage[], nowMs: number): void {
    for (const { key, events } of usage) if (events > 0) this.#heard(key).storedMs = nowMs;
  }

  /** Notes a sender of a key, unless one was noted just before. */
  note(key: string, nowMs: number, sender: () => Sender): void {
    const heard = this.#heard(key);
    if (nowMs - heard.notedMs < PACE_MS && nowMs >= heard.notedMs) return;
    heard.notedMs = nowMs;
    const { peer, channel } = sender();
    const others = heard.senders.filter((one) => one.peer !== peer || one.channel !== channel);
    heard.senders = [{ peer, channel, lastMs: nowMs }, ...others].slice(0, SENDERS_MAX);
  }

  /** The last senders of a key, the newest first. */
  of(key: string): readonly SeenSender[] {
    return this.#keys.get(key)?.senders ?? [];
  }

  /** When a key last brought an event; `undefined` when it has not since the process began. */
  lastMs(key: string): number | undefined {
    return this.#keys.get(key)?.storedMs;
  }

  #heard(key: string): Heard {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const heard = { storedMs: undefined, notedMs: Number.NEGATIVE_INFINITY, senders: [] };
    this.#keys.set(key, heard);
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > KEYS_MAX && oldest !== undefined) this.#keys.delete(oldest);
    return heard;
  }
}
