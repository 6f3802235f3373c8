const WINDOW_MS = 60_000;
/**
 * Wrong passwords a minute from one network. All networks together guess as fast as hashes are computed, a few a
 * second.
 */
const FAILURES_MAX = 10;
/** Networks that are remembered; the one that was seen first is forgotten for a further one. */
const NETWORKS_MAX = 4_096;

/** Attempts of a network since its minute began. */
interface Recent {
  sinceMs: number;
  count: number;
}

/**
 * Makes networks wait that guess passwords. Names are not counted: whoever guesses from elsewhere would lock the user
 * out.
 */
export class LoginThrottle {
  readonly #nowMs: () => number;
  readonly #networks = new Map<string, Recent>();

  /** `nowMs` is a clock that is never set. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Seconds until a network may try again; 0 when it may now. Counts as an attempt then, until `succeeded`. */
  attempt(network: string): number {
    const nowMs = this.#nowMs();
    const known = this.#networks.get(network);
    const isRecent = known !== undefined && nowMs - known.sinceMs < WINDOW_MS;
    if (isRecent && known.count >= FAILURES_MAX) {
      return Math.ceil((known.sinceMs + WINDOW_MS - nowMs) / 1_000);
    }
    if (isRecent) known.count++;
    else this.#begin(network, nowMs);
    return 0;
  }

  /** Forgets the attempts of a network that had a right password. */
  succeeded(network: string): void {
    this.#networks.delete(network);
  }

  #begin(network: string, sinceMs: number): void {
    this.#networks.delete(network);
    this.#networks.set(network, { sinceMs, count: 1 });
    const [oldest] = this.#networks.keys();
    if (this.#networks.size > NETWORKS_MAX && oldest !== undefined) this.#networks.delete(oldest);
  }
}
