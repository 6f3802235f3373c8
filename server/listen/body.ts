import type { Intake } from '../ingest/intake.ts';
import { SLOT_PADDING_BYTES, SLOT_UNIT_BYTES, type Slot } from '../ingest/slots.ts';
import type { IngestThread } from '../ingest/thread.ts';

/** What a slot of a body of unknown length has at first. */
const FIRST_BYTES = SLOT_UNIT_BYTES - SLOT_PADDING_BYTES;

/** What came of adding a chunk: taken; the body is too large; there is no room. */
export type BodyProgress = 'taken' | 'large' | 'full';

/** The body of an input request while it arrives: it lies in a slot from its first byte on. */
export class InputBody {
  readonly thread: IngestThread;
  readonly #bytesMax: number;
  #slot: Slot | undefined;
  #filledBytes = 0;

  constructor(thread: IngestThread, slot: Slot, bytesMax: number) {
    this.thread = thread;
    this.#slot = slot;
    this.#bytesMax = bytesMax;
  }

  /** Takes a slot for a body of `bytes`, or of unknown length; `undefined` when there is no room. */
  static reserve(
    intake: Pick<Intake, 'reserve'>,
    bytes: number | undefined,
    bytesMax: number,
  ): InputBody | undefined {
    const place = intake.reserve(bytes ?? Math.min(FIRST_BYTES, bytesMax));
    return place === undefined ? undefined : new InputBody(place.thread, place.slot, bytesMax);
  }

  get bytes(): number {
    return this.#filledBytes;
  }

  /** Copies a chunk behind the ones before; the slot moves when it has to grow. Takes nothing when it says so. */
  add(chunk: Uint8Array): BodyProgress {
    if (this.#slot === undefined) return 'full';
    const bytes = this.#filledBytes + chunk.length;
    if (bytes > this.#bytesMax) return 'large';
    if (bytes > this.#slot.capacityBytes) {
      const wanted = Math.min(Math.max(bytes, this.#filledBytes * 2), this.#bytesMax);
      const grown = this.thread.slots.grow(this.#slot, this.#filledBytes, wanted);
      if (grown === undefined) return 'full';
      this.#slot = grown;
    }
    this.thread.slots.write(chunk, this.#slot.start + this.#filledBytes);
    this.#filledBytes = bytes;
    return 'taken';
  }

  /** The slot, which is the caller's from now on; `undefined` when it was given up. */
  take(): Slot | undefined {
    const slot = this.#slot;
    this.#slot = undefined;
    return slot;
  }

  /** Gives the slot back, when it is still this body's. */
  release(): void {
    const slot = this.take();
    if (slot !== undefined) this.thread.slots.release(slot);
  }
}

/** The body of any other request while it arrives. */
export class SmallBody {
  readonly #bytesMax: number;
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Copies a chunk; false when the body is too large. */
  add(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bytesMax) return false;
    if (chunk.length > 0) this.#chunks.push(chunk.slice());
    return true;
  }

  /** The whole of it. */
  whole(): Uint8Array {
    return Buffer.concat(this.#chunks, this.#bytes);
  }
}
