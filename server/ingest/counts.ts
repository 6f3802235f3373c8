import type { Channel, TaskOutcome } from './protocol.ts';
import { type RefusalReason, reasonOf } from './refusal.ts';

/** Counts of a write key over one channel. */
export interface KeyCounts {
  channel: Channel;
  /** Id of the key. */
  key: string;
  /** Requests or, of raw channels, slots of lines that had some of this key. */
  requests: number;
  events: number;
  bytes: number;
}

/** Number of refusals or drops of a kind on a channel. */
export interface ChannelCount {
  channel: Channel;
  reason: string;
  count: number;
}

/** Sums of taken and refused input since the start, on the front thread. Keys bound its size. */
export class IngestCounts {
  /** Events that are durable. */
  events = 0;
  readonly #keys: KeyCounts[] = [];
  readonly #byChannel = new Map<Channel, Map<string, KeyCounts>>();
  readonly #refused = new Map<string, ChannelCount>();
  readonly #dropped = new Map<Channel, number>();

  /** Counts what became of a task. */
  take(channel: Channel, outcome: TaskOutcome): void {
    this.events += outcome.events;
    for (const { key, events, bytes } of outcome.usage) {
      const counts = this.#countsOf(channel, key);
      counts.requests++;
      counts.events += events;
      counts.bytes += bytes;
    }
    if (outcome.linesDropped > 0) {
      this.#dropped.set(channel, (this.#dropped.get(channel) ?? 0) + outcome.linesDropped);
    }
    if (outcome.status !== 200) this.refuse(channel, reasonOf(outcome));
  }

  #countsOf(channel: Channel, key: string): KeyCounts {
    let ofChannel = this.#byChannel.get(channel);
    if (ofChannel === undefined) {
      ofChannel = new Map();
      this.#byChannel.set(channel, ofChannel);
    }
    let counts = ofChannel.get(key);
    if (counts === undefined) {
      counts = { channel, key, requests: 0, events: 0, bytes: 0 };
      ofChannel.set(key, counts);
      this.#keys.push(counts);
    }
    return counts;
  }

  /** Counts a request, or a slot of lines, that stored nothing. */
  refuse(channel: Channel, reason: RefusalReason): void {
    const name = `${channel} ${reason}`;
    const known = this.#refused.get(name);
    if (known === undefined) this.#refused.set(name, { channel, reason, count: 1 });
    else known.count++;
  }

  /** Counts by channel and key, in the order of their first appearance. */
  ofKeys(): readonly KeyCounts[] {
    return this.#keys;
  }

  /** Refusals by channel and reason. */
  refused(): ChannelCount[] {
    return [...this.#refused.values()];
  }

  /** Lines without a valid key, or whose key is off or spent, by channel. */
  dropped(): [Channel, number][] {
    return [...this.#dropped];
  }
}
