import type { Log } from '../../log.ts';

/** API on which a caller could not be authenticated. */
export type FailureRoute = 'admin' | 'input' | 'login' | 'read';

const WINDOW_MS = 60_000;
/** Failures of a peer in a minute, behind which it is told to wait. */
const PER_PEER_MAX = 100;
/** Peers that are remembered; the one that was seen first is forgotten for a further one. */
const PEERS_MAX = 4_096;
/** Lines of the log a minute. */
const LINES_MAX = 10;

/** A peer's failures since its minute began. */
interface Recent {
  sinceMs: number;
  count: number;
}

/** Counts those who could not be authenticated, tells the log of some of them, and knows who tries too often. */
export class AuthFailures {
  readonly counts: Readonly<Record<FailureRoute, number>>;
  readonly #counts: Record<FailureRoute, number> = { admin: 0, input: 0, login: 0, read: 0 };
  readonly #log: Pick<Log, 'info'>;
  readonly #nowMs: () => number;
  readonly #peers = new Map<string, Recent>();
  #lines: Recent = { sinceMs: Number.NEGATIVE_INFINITY, count: 0 };
  /** Failures since the last line that no line told. */
  #untold = 0;

  /** `nowMs` is a clock that does not jump. */
  constructor(log: Pick<Log, 'info'>, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
    this.counts = this.#counts;
  }

  /** Notes a failure; whether the peer has had too many in its last minute. */
  note(route: FailureRoute, peer: string): boolean {
    this.#counts[route]++;
    const nowMs = this.#nowMs();
    const network = networkOf(peer);
    const known = this.#peers.get(network);
    const recent = known !== undefined && isOfMinute(known, nowMs) ? known : begin(nowMs);
    if (recent !== known) this.#remember(network, recent);
    recent.count++;
    this.#tell(route, peer, recent.count, nowMs);
    return recent.count > PER_PEER_MAX;
  }

  #remember(network: string, recent: Recent): void {
    this.#peers.delete(network);
    this.#peers.set(network, recent);
    const [oldest] = this.#peers.keys();
    if (this.#peers.size > PEERS_MAX && oldest !== undefined) this.#peers.delete(oldest);
  }

  #tell(route: FailureRoute, peer: string, failures: number, nowMs: number): void {
    if (!isOfMinute(this.#lines, nowMs)) this.#lines = begin(nowMs);
    // The first of a peer, and then a few more: one peer does not take all lines.
    if (this.#lines.count >= LINES_MAX || (failures & (failures - 1)) !== 0) {
      this.#untold++;
      return;
    }
    this.#lines.count++;
    this.#log.info('a caller could not be authenticated', {
      ...{ route, peer, failures, untold: this.#untold },
    });
    this.#untold = 0;
  }
}

/** The network by which a peer is counted: of IPv6 the first half, because its owner has all addresses in it. */
export function networkOf(peer: string): string {
  return peer.includes(':') ? peer.split('::', 1)[0].split(':').slice(0, 4).join(':') : peer;
}

function begin(nowMs: number): Recent {
  return { sinceMs: nowMs, count: 0 };
}

function isOfMinute({ sinceMs }: Recent, nowMs: number): boolean {
  return nowMs - sinceMs < WINDOW_MS;
}
