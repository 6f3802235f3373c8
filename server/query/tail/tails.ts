import { must } from '../../../engine/base/assert.ts';
import { QueryRefused } from '../refusal.ts';
import { Tail, type TailRequest, type TailSources, type TailStream } from './tail.ts';
import type { TailPlace } from './tail-token.ts';

/** Tails of one key, and of all. */
const TAILS_PER_KEY_MAX = 20;
const TAILS_MAX = 200;
/** Interval at which tails are checked for permission to go on. */
const CHECK_MS = 500;

/** The live tails of the service. Owned by the front thread. */
export class Tails {
  readonly #sources: TailSources;
  readonly #tails = new Set<Tail>();
  readonly #countOf = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(sources: TailSources) {
    this.#sources = sources;
    sources.blocks.watch(() => {
      for (const tail of this.#tails) tail.committed();
    });
  }

  /** Tails that are open. */
  get count(): number {
    return this.#tails.size;
  }

  /** The place that a token tells; `undefined` when it is malformed, changed, or of another folder. */
  placeOf(token: string): TailPlace | undefined {
    return this.#sources.tokens.decode(token);
  }

  /**
   * Opens a tail from `request.place` on, or from what is committed at this moment. It begins when the returned
   * function is called with the stream to write to. Throws QueryRefused when there are too many.
   */
  open(request: TailRequest): (sink: TailStream) => Promise<void> {
    if (this.#closed) throw new QueryRefused(503, 'stopping', 'the service is stopping');
    const { key } = request;
    const ofKey = this.#countOf.get(key) ?? 0;
    if (ofKey >= TAILS_PER_KEY_MAX || this.#tails.size >= TAILS_MAX) {
      throw new QueryRefused(
        429,
        'queue_full',
        `too many tails: ${ofKey} of this key and ${this.#tails.size} of all are open; ` +
          `allowed: ${TAILS_PER_KEY_MAX} and ${TAILS_MAX}`,
      );
    }
    const tail = new Tail(this.#sources, request);
    return async (sink) => {
      this.#enter(tail, key);
      try {
        if (this.#closed) tail.end('stopping');
        await tail.stream(sink);
      } finally {
        this.#leave(tail, key);
      }
    };
  }

  /** Ends all tails, and those that come. */
  close(): void {
    this.#closed = true;
    for (const tail of this.#tails) tail.end('stopping');
  }

  #enter(tail: Tail, key: string): void {
    this.#tails.add(tail);
    this.#countOf.set(key, (this.#countOf.get(key) ?? 0) + 1);
    this.#timer ??= setInterval(() => {
      for (const each of this.#tails) each.check();
    }, CHECK_MS);
  }

  #leave(tail: Tail, key: string): void {
    this.#tails.delete(tail);
    const left = must(this.#countOf.get(key), 'tails of a key') - 1;
    if (left > 0) this.#countOf.set(key, left);
    else this.#countOf.delete(key);
    if (this.#tails.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
