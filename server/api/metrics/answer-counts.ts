import type { Channel } from '../../ingest/protocol.ts';

/** Answers over HTTP since the start, by channel and status. */
export class AnswerCounts {
  readonly #channels = new Map<Channel, Map<number, number>>();

  /** Counts an answer. */
  add(channel: Channel, status: number): void {
    let statuses = this.#channels.get(channel);
    if (statuses === undefined) {
      statuses = new Map();
      this.#channels.set(channel, statuses);
    }
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }

  /** All that were counted. */
  list(): { channel: Channel; status: number; count: number }[] {
    return [...this.#channels].flatMap(([channel, statuses]) =>
      [...statuses].map(([status, count]) => ({ channel, status, count })),
    );
  }
}
