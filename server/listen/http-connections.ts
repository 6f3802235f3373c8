import { addressText } from './header.ts';

/** Connections of a listener for HTTP. */
export interface HttpCounts {
  /** Connections since the start. */
  connections: number;
  connectionsOpen: number;
  /** Closed at once, as there were too many. */
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

/** Counts the connections of a listener for HTTP and closes those that are too many; idle ones end after 10 seconds anyway. */
export class HttpConnections {
  readonly counts: HttpCounts = { connections: 0, connectionsOpen: 0, connectionsRefused: 0 };
  readonly #max: number;

  /** `max`: connections that may be open, beside some of this machine. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Takes note of a connection: `change` is 1 for one that was opened, -1 for one that was closed. */
  changed(connection: HttpConnection, change: number): void {
    const { counts } = this;
    counts.connectionsOpen += change;
    if (change < 0) return;
    counts.connections++;
    if (counts.connectionsOpen <= this.#max) return;
    const peer = addressText(new Uint8Array(connection.getRemoteAddress()));
    if (OWN_PEERS.has(peer) && counts.connectionsOpen <= this.#max + OWN_CONNECTIONS) return;
    counts.connectionsRefused++;
    connection.close();
  }
}
