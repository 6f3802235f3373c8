import { addressText } from './header.ts';
import { peerOf } from './peer.ts';

/** Connections of a listener for HTTP. */
export interface HttpCounts {
  /** Connections since the start. */
  connections: number;
  connectionsOpen: number;
  /** Closed at once, as there were too many, or too many of the peer. */
  connectionsRefused: number;
}

/** Used part of a connection. */
interface HttpConnection {
  getRemoteAddress(): ArrayBuffer;
  close(): unknown;
}

/** Connections of this machine beyond those of all: who administers it is not locked out. */
const OWN_CONNECTIONS = 8;
const OWN_PEERS: ReadonlySet<string> = new Set(['127.0.0.1', '::1']);
/** The part of a limit from which on a peer may have no more than its own part. */
const CROWDED_SHARE = 3 / 4;
const PEER_SHARE = 1 / 2;
/**
 * Least time between two questions to the kernel about who has connections, and the greatest part of the time for
 * them.
 */
const ASKED_MS = 250;
const ASKED_SHARE = 1 / 100;

/**
 * Counts the connections of a listener for HTTP and closes those that are too many, of all or of a peer; idle ones end
 * after 10 seconds anyway.
 */
export class HttpConnections {
  readonly counts: HttpCounts = { connections: 0, connectionsOpen: 0, connectionsRefused: 0 };
  readonly #max: number;
  readonly #byPeer: () => Map<string, number>;
  /** Connections by their peers, at some moment and with those that came later. */
  #peers = new Map<string, number>();
  #askAgainMs = 0;

  /**
   * `max`: connections that may be open, beside some of this machine. The library does not tell whose connection has
   * ended, so `byPeer` counts the present connections of the port by peer, as the kernel knows them.
   */
  constructor(max: number, byPeer: () => Map<string, number>) {
    this.#max = max;
    this.#byPeer = byPeer;
  }

  /** Takes note of a connection: `change` is 1 for one that was opened, -1 for one that was closed. */
  changed(connection: HttpConnection, change: number): void {
    const { counts } = this;
    counts.connectionsOpen += change;
    if (change < 0) return;
    counts.connections++;
    if (counts.connectionsOpen <= this.#max * CROWDED_SHARE) return;
    const address = addressText(new Uint8Array(connection.getRemoteAddress()));
    const isOwn = OWN_PEERS.has(address);
    const max = isOwn ? this.#max + OWN_CONNECTIONS : this.#max;
    if (counts.connectionsOpen <= max && (isOwn || this.#hasRoom(peerOf(address)))) return;
    counts.connectionsRefused++;
    connection.close();
  }

  /** Reports whether a peer has at most its share, with a connection that has just come. */
  #hasRoom(peer: string): boolean {
    const nowMs = performance.now();
    const known = this.#peers.get(peer) ?? 0;
    this.#peers.set(peer, known + 1);
    if (nowMs >= this.#askAgainMs) {
      this.#peers = this.#byPeer();
      const endMs = performance.now();
      this.#askAgainMs = endMs + Math.max(ASKED_MS, (endMs - nowMs) / ASKED_SHARE);
    }
    return (this.#peers.get(peer) ?? 0) <= this.#max * PEER_SHARE;
  }
}
