import type { Socket } from 'node:net';
import { createSecureContext, createServer } from 'node:tls';
import { EngineError } from '../../engine/base/errors.ts';
import type { CertificateTexts, TlsPlan } from '../ingest/socket-order.ts';
import { Connections } from './connection.ts';
import { type LinesOptions, listenWith, SOCKET_OPTIONS, type TcpListener } from './tcp.ts';

/** Dependencies of the TLS listener. */
export interface TlsOptions extends LinesOptions, TlsPlan {
  /** Time that a handshake may take; 10 seconds when left out. */
  handshakeMs?: number;
}

/** An open TLS listener. */
export interface TlsListener extends TcpListener {
  /** New connections get this certificate, which was checked; those that are open stay. */
  reload(certificate: CertificateTexts): void;
}

const HANDSHAKE_MS = 10_000;

/**
 * Throws USAGE when no TLS end can be made of a certificate and a key, naming the reason.
 * `what` tells where they came from.
 */
export function checkPair(certificate: CertificateTexts, what: string): void {
  try {
    createSecureContext(certificate);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError('USAGE', `${what} cannot be used: ${reason}`, { cause });
  }
}

/**
 * Listens for lines as `listenTcp` does, over TLS. A client that fails the handshake, or is too slow at it, is cut off.
 * At most TLS 1.2 is the safe choice: clients that never read lose their last lines to the session tickets of 1.3.
 * Source: INTERFACE.md 1.1 and 4.4.
 */
export async function listenTls(options: TlsOptions): Promise<TlsListener> {
  const connections = new Connections('tls', options);
  const { certificate, versionMax, ticketKeys } = options;
  const shared = {
    minVersion: 'TLSv1.2',
    maxVersion: versionMax === '1.2' ? 'TLSv1.2' : 'TLSv1.3',
    ticketKeys: Buffer.from(ticketKeys),
  } as const;
  const server = createServer({
    ...SOCKET_OPTIONS,
    ...shared,
    ...certificate,
    handshakeTimeout: options.handshakeMs ?? HANDSHAKE_MS,
  });
  // A reset is for the socket below the encryption. Nothing leads to it from above but the peer that both have.
  const sockets = new Map<string, { below: Socket; place: number }>();
  const inHandshake = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    const place = connections.admit(socket);
    if (place === undefined) return;
    const peer = endOf(socket);
    sockets.set(peer, { below: socket, place });
    inHandshake.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(peer);
      inHandshake.delete(socket);
    });
  });
  server.on('secureConnection', (socket) => {
    const admitted = sockets.get(endOf(socket));
    if (admitted === undefined) {
      socket.destroy();
      return;
    }
    const { below, place } = admitted;
    inHandshake.delete(below);
    // A client that asks for new handshakes all the time costs more than it does.
    socket.disableRenegotiation();
    connections.add(socket, () => below.resetAndDestroy(), place);
  });
  server.on('tlsClientError', (_, socket) => socket.destroy());
  const { port, close, lose } = await listenWith(server, options, connections);
  const cutHandshakes = (): void => {
    for (const socket of inHandshake) socket.resetAndDestroy();
  };
  return {
    port,
    close: (graceMs) => {
      const closed = close(graceMs);
      cutHandshakes();
      return closed;
    },
    lose: () => {
      lose();
      cutHandshakes();
    },
    reload: (next) => server.setSecureContext({ ...shared, ...next }),
  };
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
