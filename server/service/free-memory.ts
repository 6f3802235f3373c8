import { openCLibrary } from '../c-library.ts';

/** Resident memory above which what is free of it is given back. */
const RSS_BYTES_MIN = 320 * 1024 * 1024;
/** Time between two looks: what queries free and take again in a second is not to be taken from the system anew. */
const LOOK_MS = 2_000;

/** Gives the system back what the allocator of C keeps of freed memory, in a thread of its own. */
export type Trim = () => Promise<void>;

/** `malloc_trim` of the C library; undefined where it cannot be called. */
export async function openTrim(): Promise<Trim | undefined> {
  const library = await openCLibrary();
  if (library === undefined) return undefined;
  try {
    const trim = library.func('int malloc_trim(size_t)');
    return () => new Promise((resolve) => trim.async(0, () => resolve()));
  } catch {
    // Another C library may have none.
    return undefined;
  }
}

let opened: Promise<Trim | undefined> | undefined;

/** `malloc_trim`, looked up at the first call, as most services never need it; does nothing where there is none. */
export async function trim(): Promise<void> {
  opened ??= openTrim();
  await (await opened)?.();
}

/**
 * Gives free memory back to the system while much is resident. Buffers of all sizes are taken and freed in turn, so
 * that what is free lies between what is not: the allocator by itself gives back only what is at the end.
 */
export class FreeMemory {
  readonly #trim: Trim;
  readonly #rssBytes: () => number;
  #trimming = false;

  constructor(trim: Trim, rssBytes = () => process.memoryUsage.rss()) {
    this.#trim = trim;
    this.#rssBytes = rssBytes;
  }

  /** Looks from now on, for as long as the process does anything else. */
  begin(): void {
    setInterval(() => void this.look(), LOOK_MS).unref();
  }

  /** Gives back what is free when much is resident, but not while it does so already. */
  async look(): Promise<void> {
    if (this.#trimming || this.#rssBytes() < RSS_BYTES_MIN) return;
    this.#trimming = true;
    await this.#trim();
    this.#trimming = false;
  }
}
