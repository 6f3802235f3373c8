/**
 * What a request keeps of its last query: the memory of the answer counts until the client has taken it. Owned by the request,
 * which has one query at a time.
 */
export class HeldAnswer {
  #release: (() => void) | undefined;

  /** Lets go of the answer before, and keeps another one until `release`. */
  keep(release: () => void): void {
    this.release();
    this.#release = release;
  }

  /** Lets go of what is kept; calling it again does nothing. */
  release(): void {
    this.#release?.();
    this.#release = undefined;
  }
}
