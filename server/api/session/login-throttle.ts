const WINDOW_MS = 60_000;
/** Wrong passwords a minute, from one network and for one name. */
const PER_NETWORK_MAX = 10;
const PER_NAME_MAX = 30;
/** Networks and names that are remembered; the one that was seen first is forgotten for a further one. */
const REMEMBERED_MAX = 4_096;

/** Failures since a minute began. */
interface Recent {
  sinceMs: number;
  count: number;
}

/** Counts wrong passwords by network and by name, and makes those wait who guess. */
export class LoginThrottle {
  readonly #nowMs: () => number;
  readonly #networks = new Map<string, Recent>();
  readonly #names = new Map<string, Recent>();

  /** `nowMs` is a clock that is never set. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Seconds until a network may try that name again; 0 when it may now. */
  waitSeconds(network: string, name: string): number {
    const ofNetwork = this.#wait(this.#networks, network, PER_NETWORK_MAX);
    return Math.ceil(Math.max(ofNetwork, this.#wait(this.#names, name, PER_NAME_MAX)) / 1_000);
  }

  /** Notes an attempt before its password is checked, so that many at once count too. */
  attempt(network: string, name: string): void {
    this.#count(this.#networks, network);
    this.#count(this.#names, name);
  }

  /** Forgets the attempts of a network that had the right password. */
  succeeded(network: string, name: string): void {
    this.#networks.delete(network);
    this.#names.delete(name);
  }

  #wait(recents: Map<string, Recent>, which: string, most: number): number {
    const recent = recents.get(which);
    if (recent === undefined || recent.count < most) return 0;
    return Math.max(0, recent.sinceMs + WINDOW_MS - this.#nowMs());
  }

  #count(recents: Map<string, Recent>, which: string): void {
    const nowMs = this.#nowMs();
    const known = recents.get(which);
    if (known !== undefined && nowMs - known.sinceMs < WINDOW_MS) {
      known.count++;
      return;
    }
    recents.delete(which);
    recents.set(which, { sinceMs: nowMs, count: 1 });
    const [oldest] = recents.keys();
    if (recents.size > REMEMBERED_MAX && oldest !== undefined) recents.delete(oldest);
  }
}
