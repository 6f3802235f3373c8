import { signal } from '@preact/signals';
import { Fault } from '../api/client.ts';

/**
 * A part of a screen that loads, fails and is cancelled by itself. While it loads again it keeps what it has, so that a
 * failure never empties it.
 */
export class Panel<T> {
  readonly data = signal<T | undefined>(undefined);
  readonly fault = signal<Fault | undefined>(undefined);
  readonly isLoading = signal(false);
  /** Milliseconds that the last answer took. */
  readonly tookMs = signal(0);
  #abort = new AbortController();
  #run: ((signal: AbortSignal) => Promise<T>) | undefined;

  /** Loads by `run`, in place of what is loading. */
  async load(run: (signal: AbortSignal) => Promise<T>): Promise<void> {
    this.cancel();
    this.#run = run;
    const abort = new AbortController();
    this.#abort = abort;
    this.isLoading.value = true;
    const began = performance.now();
    try {
      const data = await run(abort.signal);
      if (abort.signal.aborted) return;
      this.data.value = data;
      this.fault.value = undefined;
      this.tookMs.value = performance.now() - began;
    } catch (error) {
      if (abort.signal.aborted) return;
      this.fault.value = error instanceof Fault ? error : new Fault(-1, String(error));
    }
    this.isLoading.value = false;
  }

  /** Loads as the last time. */
  reload(): void {
    if (this.#run !== undefined) void this.load(this.#run);
  }

  /** Ends what is loading. */
  cancel(): void {
    this.#abort.abort();
    this.isLoading.value = false;
  }
}
