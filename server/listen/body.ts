import type { Intake } from '../ingest/intake.ts';
import { SLOT_PADDING_BYTES, SLOT_UNIT_BYTES, type Slot } from '../ingest/slots.ts';
import { Numbered } from '../ingest/turns/numbered.ts';
import type { IngestWorkerHandle } from '../ingest/worker-handle.ts';

/** Bytes of a slot at first, whatever length was declared. A larger slot follows the bytes that came. */
const FIRST_BYTES = 4 * SLOT_UNIT_BYTES - SLOT_PADDING_BYTES;
/** A body that has come for less time does not give way: nobody knows yet how fast it is. */
const TRIED_MS = 1_000;

/** Result of adding a chunk: taken; the body is too large; there is no room. */
export type BodyProgress = 'taken' | 'large' | 'full';

/**
 * Room for the bodies of input requests while they arrive. When it lacks, the one that has come slowest gives way to
 * those that are faster or new.
 */
export class BodyRoom {
  readonly #intake: Pick<Intake, 'reserve'>;
  readonly #nowMs: () => number;
  readonly #bodies = new Numbered<InputBody>();
  /** Since when none has found room. */
  #fullSinceMs: number | undefined;

  constructor(intake: Pick<Intake, 'reserve'>, nowMs = () => performance.now()) {
    this.#intake = intake;
    this.#nowMs = nowMs;
  }

  /**
   * Begins a body of `bytes`, or of unknown length, and at most `bytesMax`; `gaveWay` is called when it loses its room.
   * `undefined` when there is no room.
   */
  begin(bytes: number | undefined, bytesMax: number, gaveWay: () => void): InputBody | undefined {
    const firstBytes = Math.min(bytes ?? FIRST_BYTES, bytesMax, FIRST_BYTES);
    let place = this.#intake.reserve(firstBytes);
    while (place === undefined && this.#makeWay()) place = this.#intake.reserve(firstBytes);
    if (place === undefined) {
      this.#fullSinceMs ??= this.#nowMs();
      return undefined;
    }
    this.#fullSinceMs = undefined;
    const fullBytes = Math.min(bytes ?? bytesMax, bytesMax);
    const sizes = { fullBytes, bytesMax };
    const body = new InputBody(this, place, sizes, this.#nowMs(), gaveWay);
    body.number = this.#bodies.add(body);
    return body;
  }

  /** Time for which bodies have found no room by now, in milliseconds; 0 when there is some. */
  get fullMs(): number {
    if (this.#fullSinceMs === undefined) return 0;
    const place = this.#intake.reserve(FIRST_BYTES);
    if (place === undefined) return this.#nowMs() - this.#fullSinceMs;
    place.thread.slots.release(place.slot);
    this.#fullSinceMs = undefined;
    return 0;
  }

  /**
   * A slot for `bytes` of a body in the place of its own, `slot`; `undefined` when there is no room: then that stays.
   */
  grow(body: InputBody, slot: Slot, bytes: number): Slot | undefined {
    const { slots } = body.thread;
    let grown = slots.grow(slot, body.bytes, bytes);
    while (grown === undefined && this.#makeWay(body, slots.isOverBudget(bytes))) {
      grown = slots.grow(slot, body.bytes, bytes);
    }
    return grown;
  }

  /** A body is whole, or over. */
  end(body: InputBody): void {
    if (body.number === undefined) return;
    this.#bodies.delete(body.number);
    body.number = undefined;
  }

  /**
   * Has the slowest body give way, to `faster` when that is given: one of its thread, or `ofAny`. False when none has
   * to.
   */
  #makeWay(faster?: InputBody, ofAny = false): boolean {
    const nowMs = this.#nowMs();
    let slowest: InputBody | undefined;
    for (const body of this.#bodies) {
      if (nowMs - body.begunMs < TRIED_MS) continue;
      if (faster !== undefined && !ofAny && body.thread !== faster.thread) continue;
      if (slowest === undefined || body.speed(nowMs) < slowest.speed(nowMs)) slowest = body;
    }
    if (slowest === undefined || slowest === faster) return false;
    slowest.giveWay();
    return true;
  }
}

/** Size that a body may have: the declared one, and the maximum. */
interface BodySizes {
  fullBytes: number;
  bytesMax: number;
}

/** The body of an input request while it arrives: it lies in a slot from its first byte on. */
export class InputBody {
  readonly thread: IngestWorkerHandle;
  readonly begunMs: number;
  /** Number in its room, while it is there. */
  number: number | undefined;
  readonly #room: BodyRoom;
  readonly #sizes: BodySizes;
  readonly #gaveWay: () => void;
  #slot: Slot | undefined;
  #filledBytes = 0;

  constructor(
    room: BodyRoom,
    { thread, slot }: { thread: IngestWorkerHandle; slot: Slot },
    sizes: BodySizes,
    begunMs: number,
    gaveWay: () => void,
  ) {
    this.thread = thread;
    this.begunMs = begunMs;
    this.#room = room;
    this.#sizes = sizes;
    this.#slot = slot;
    this.#gaveWay = gaveWay;
  }

  get bytes(): number {
    return this.#filledBytes;
  }

  /** Bytes a millisecond so far. */
  speed(nowMs: number): number {
    return this.#filledBytes / (nowMs - this.begunMs);
  }

  /** Copies a chunk behind the ones before; the slot moves when it has to grow. Takes nothing when it says so. */
  add(chunk: Uint8Array): BodyProgress {
    if (this.#slot === undefined) return 'full';
    const bytes = this.#filledBytes + chunk.length;
    if (bytes > this.#sizes.bytesMax) return 'large';
    if (bytes > this.#slot.capacityBytes) {
      const grown = this.#room.grow(this, this.#slot, this.#stepFor(bytes));
      if (grown === undefined) return 'full';
      this.#slot = grown;
    }
    this.thread.slots.write(chunk, this.#slot.start + this.#filledBytes);
    this.#filledBytes = bytes;
    return 'taken';
  }

  /** The smallest halving of the full size that `bytes` fit in: so the last step finds no more than half in its way. */
  #stepFor(bytes: number): number {
    const needed = bytes + SLOT_PADDING_BYTES;
    let step = Math.max(this.#sizes.fullBytes + SLOT_PADDING_BYTES, needed);
    while (step / 2 >= needed) step = Math.ceil(step / 2);
    return step - SLOT_PADDING_BYTES;
  }

  /** The slot, which is the caller's from now on; `undefined` when it was given up. */
  take(): Slot | undefined {
    const slot = this.#slot;
    this.#slot = undefined;
    this.#room.end(this);
    return slot;
  }

  /** Gives the slot back, when it is still this body's. */
  release(): void {
    const slot = this.take();
    if (slot !== undefined) this.thread.slots.release(slot);
  }

  /** Gives the slot back to others, and tells so. */
  giveWay(): void {
    this.release();
    this.#gaveWay();
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
