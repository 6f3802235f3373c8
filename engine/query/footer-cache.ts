import { type Footer, memoryOf } from '../segment/footer.ts';

/** Memory of what one cache keeps: for a thousand small segments, or a hundred of a million rows each. */
const BYTES_MAX = 32 * 1024 * 1024;

interface KeptFooter {
  footer: Footer;
  bytes: number;
}

/**
 * Footers of sealed segments, at which a query looks before it opens any block. What was used longest ago goes when
 * there is too much. Used by one thread.
 */
export class FooterCache {
  readonly #bytesMax: number;
  /** By segment, the one that was used last at the end. */
  readonly #kept = new Map<number, KeptFooter>();
  #bytes = 0;

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Memory that it takes, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The footer of a segment; `read` reads it when it is not kept, and throws what it likes. */
  get(segment: number, read: () => Footer): Footer {
    const known = this.#kept.get(segment);
    if (known === undefined) return this.#keep(segment, read());
    this.#kept.delete(segment);
    this.#kept.set(segment, known);
    return known.footer;
  }

  /** Forgets segments that are gone. */
  forget(segments: readonly number[]): void {
    for (const segment of segments) this.#drop(segment);
  }

  /** Forgets all. */
  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  #keep(segment: number, footer: Footer): Footer {
    const bytes = memoryOf(footer);
    this.#kept.set(segment, { footer, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#drop(oldest);
    }
    return footer;
  }

  #drop(segment: number): void {
    this.#bytes -= this.#kept.get(segment)?.bytes ?? 0;
    this.#kept.delete(segment);
  }
}
