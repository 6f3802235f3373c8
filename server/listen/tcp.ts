import { createServer, type Server } from 'node:net';
import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { Connections, type LinesOptions, type TcpCounts } from './connection.ts';

/** An open listener for connections with lines. */
export interface TcpListener {
  readonly port: number;
  readonly counts: TcpCounts;
  /** Connections that are open. */
  openCount(): number;
  /**
   * Takes no new connection and no more bytes; closes each connection when what it sent is durable, at most `graceMs`
   * later.
   */
  close(graceMs: number): Promise<void>;
}

const BACKLOG = 1_024;
const KEEP_ALIVE_MS = 60_000;

/** How sockets are accepted: idle ones stay open, and the end of one side is not that of the other. */
export const SOCKET_OPTIONS = {
  allowHalfOpen: true,
  keepAlive: true,
  keepAliveInitialDelay: KEEP_ALIVE_MS,
} as const;

/**
 * Listens for lines, `<key> <content>` each. Nothing is ever sent; a half-close is answered by ours when all lines are
 * durable. Rejects with USAGE when the address cannot be had. Source: interface.md 4.4, decisions.md 2.
 */
export function listenTcp(options: LinesOptions): Promise<TcpListener> {
  const connections = new Connections('tcp', options);
  const server = createServer(SOCKET_OPTIONS, (socket) => {
    connections.add(socket, () => socket.resetAndDestroy());
  });
  return listenWith(server, 'tcp', options, connections);
}

/** Listens with a server whose connections go to `connections`. `name` is the setting that errors tell. */
export function listenWith(
  server: Server,
  name: string,
  options: LinesOptions,
  connections: Connections,
): Promise<TcpListener> {
  const { host, port, failed } = options;
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const message = `${name}: ${host}:${port} cannot be listened on: ${cause.code}`;
      reject(new EngineError('USAGE', message, { cause }));
    });
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.on('error', failed);
      const address = must(server.address(), `${name} address`);
      resolve({
        port: typeof address === 'string' ? 0 : address.port,
        counts: connections.counts,
        openCount: () => connections.openCount,
        close: (graceMs) => close(server, connections, graceMs),
      });
    });
  });
}

async function close(server: Server, connections: Connections, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  connections.stop();
  const timer = setTimeout(() => connections.reset(), graceMs);
  await closed;
  clearTimeout(timer);
}
