import { createServer, type Server } from 'node:net';
import { must } from '../../engine/base/assert.ts';
import type { Address } from '../address.ts';
import { Connections, type ConnectionsOptions } from './connection.ts';
import { listenFault } from './listen-fault.ts';

/** Dependencies of a listener for lines. Its port may be 0: any free one. */
export interface LinesOptions extends Address, ConnectionsOptions {
  /** The setting that errors name. */
  setting: string;
  /** Receives accept failures, such as too many open files; the listener goes on. */
  failed: (error: Error) => void;
}

/** An open listener for connections with lines. */
export interface TcpListener {
  readonly port: number;
  /**
   * Takes no new connection and no more bytes; closes each connection when what it sent is durable, at most `graceMs`
   * later.
   */
  close(graceMs: number): Promise<void>;
  /** Takes no new connection and ends all at once, so that their senders see an error: the worker dies. */
  lose(): void;
}

/** A port that no other process has. */
export interface ClaimedPort extends Address {
  /** Gives it up, for those who share it. */
  release(): Promise<void>;
}

const BACKLOG = 1_024;
const KEEP_ALIVE_MS = 60_000;

/** Options of accepted sockets: idle ones stay open, and the end of one side is not that of the other. */
export const SOCKET_OPTIONS = {
  allowHalfOpen: true,
  keepAlive: true,
  keepAliveInitialDelay: KEEP_ALIVE_MS,
} as const;

/**
 * Takes an address for this process alone: those that share a port say nothing when another process shares it too.
 * Rejects with USAGE, naming the setting, when the address cannot be had.
 */
export async function claimPort(setting: string, { host, port }: Address): Promise<ClaimedPort> {
  const server = createServer((socket) => socket.resetAndDestroy());
  const found = await listening(server, setting, { host, port }, false);
  return {
    host,
    port: found,
    release: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The error about an address that a library could not have without saying why: taking it in another way tells. */
export async function refusalOf(setting: string, address: Address): Promise<unknown> {
  try {
    const claim = await claimPort(setting, address);
    await claim.release();
    return listenFault(setting, address, undefined);
  } catch (error) {
    return error;
  }
}

/**
 * Listens for lines, `<key> <content>` each, on a port that others who do so share. Nothing is ever sent; a half-close
 * is answered by ours when all lines are durable. Rejects with USAGE when the address cannot be had. Source:
 * INTERFACE.md 4.4.
 */
export function listenTcp(options: LinesOptions): Promise<TcpListener> {
  const connections = new Connections('tcp', options);
  const server = createServer(SOCKET_OPTIONS, (socket) => {
    const place = connections.admit(socket);
    if (place !== undefined) connections.add(socket, () => socket.resetAndDestroy(), place);
  });
  return listenWith(server, options, connections);
}

/** Listens with a server whose connections go to `connections`. */
export async function listenWith(
  server: Server,
  options: LinesOptions,
  connections: Connections,
): Promise<TcpListener> {
  const port = await listening(server, options.setting, options, true);
  server.on('error', options.failed);
  return {
    port,
    close: (graceMs) => close(server, connections, graceMs),
    lose: () => {
      server.close();
      connections.lose();
    },
  };
}

/** Resolves with the port when the server listens. */
function listening(
  server: Server,
  setting: string,
  { host, port }: Address,
  reusePort: boolean,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const refused = (cause: NodeJS.ErrnoException): void => {
      reject(listenFault(setting, { host, port }, cause));
    };
    server.once('error', refused);
    server.listen({ host, port, backlog: BACKLOG, reusePort }, () => {
      server.off('error', refused);
      const address = must(server.address(), `address of ${setting}`);
      resolve(typeof address === 'string' ? 0 : address.port);
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
