import { CARRIAGE_RETURN, LINE_FEED } from '../../../engine/base/ascii.ts';
import { copyBytes } from '../../../engine/base/bytes.ts';
import { dayOf } from '../../registry/usage.ts';
import type { BodyTask, IngestTask } from '../protocol.ts';

/** A body of up to so many bytes is one piece, if it needs nothing but decoding: it has no more events than bytes. */
export const SMALL_BYTES = 16_384;
/** Bytes of bodies that are read as one: how long others wait, and what is read anew when one of them is broken. */
export const JOINED_BYTES_MAX = 131_072;
/** Bodies that were received within so long have the reception date of the last one. */
const TOGETHER_MS = 4;
/** First byte of a byte order mark, which counts at the beginning of a body alone. */
const MARK = 0xef;
/** Bytes behind the last body that wide loads may read. */
const PADDING_BYTES = 64;

/** Reports whether a task is a body that is read in one go, unless events are extended. */
export function isSmallBody(task: IngestTask): task is BodyTask {
  if (task.type !== 'body' || task.bytes > SMALL_BYTES) return false;
  const { form, compression, decoding, dry } = task;
  return (form === 'lines' || form === 'json') && (compression ?? decoding ?? dry) === undefined;
}

/**
 * Bodies of lines with one write key, put one behind the other: what they have is read as if it had come in one body.
 * Owned by one thread.
 */
export class JoinedBodies {
  /** Ends of the bodies, in their order. */
  readonly ends: number[] = [];
  readonly #memory: Uint8Array;
  readonly #bytes = new Uint8Array(JOINED_BYTES_MAX + PADDING_BYTES);
  #length = 0;

  /** `memory` is where the tasks have their bytes. */
  constructor(memory: Uint8Array) {
    this.#memory = memory;
  }

  /**
   * Reports whether a task that waits can be read together with the ones before it, which begin with `first` and have
   * `bytes`. Lines of such a body have no faults for which it would be refused.
   */
  joins(first: BodyTask, task: IngestTask, bytes: number): boolean {
    return (
      isSmallBody(task) &&
      task.form === 'lines' &&
      task.enrichment === undefined &&
      task.bytes > 0 &&
      task.key.cell === first.key.cell &&
      task.channel === first.channel &&
      Math.abs(task.receivedMs - first.receivedMs) <= TOGETHER_MS &&
      dayOf(task.receivedMs) === dayOf(first.receivedMs) &&
      bytes + task.bytes < JOINED_BYTES_MAX &&
      this.#memory[task.start] !== MARK &&
      this.#memory[task.start + task.bytes - 1] !== CARRIAGE_RETURN
    );
  }

  /** Copies bodies behind each other, each with a line feed at its end; the bytes are good until the next call. */
  join(tasks: readonly BodyTask[]): Uint8Array {
    this.#length = 0;
    this.ends.length = 0;
    for (const { start, bytes } of tasks) {
      copyBytes(this.#memory, start, start + bytes, this.#bytes, this.#length);
      this.#length += bytes;
      if (this.#bytes[this.#length - 1] !== LINE_FEED) this.#bytes[this.#length++] = LINE_FEED;
      this.ends.push(this.#length);
    }
    return this.#bytes.subarray(0, this.#length);
  }
}
