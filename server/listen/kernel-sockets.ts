import {
  processIds,
  programOf,
  readKernelText,
  socketInodes,
} from '../../engine/base/text-file.ts';

/** A socket of this machine as the kernel tells it: its columns are texts of hexadecimal or decimal digits. */
export interface KernelSocket {
  /** Address without the port: words of 32 bits in the order of this machine's bytes. */
  host: string;
  port: number;
  /** Address of the other end, with its port. */
  remote: string;
  /** State of TCP; of UDP it says nothing. */
  state: string;
  inode: string;
  /** Datagrams that were dropped. */
  drops: string;
}

/** The state of a TCP socket that listens. */
const LISTENING = '0A';

/** The sockets of a protocol, all or those of a local port; none where the kernel does not tell. */
export function kernelSockets(protocol: 'tcp' | 'udp', port?: number): KernelSocket[] {
  const texts = ['', '6'].map((version) => readKernelText(`/proc/net/${protocol}${version}`) ?? '');
  return socketsIn(texts.join('\n'), port);
}

/** The sockets of texts like /proc/net/tcp, all or those of a local port. */
export function socketsIn(text: string, wanted?: number): KernelSocket[] {
  const sockets: KernelSocket[] = [];
  for (const line of text.split('\n')) {
    const columns = line.trim().split(/\s+/);
    const [host = '', digits = ''] = (columns[1] ?? '').split(':');
    const port = Number.parseInt(digits, 16);
    if (Number.isNaN(port) || (wanted !== undefined && port !== wanted)) continue;
    const [, , remote = '', state = '', , , , , , inode = '', , , drops = ''] = columns;
    sockets.push({ host, port, remote, state, inode, drops });
  }
  return sockets;
}

/**
 * Ports on which another process listens beside this one. The kernel lets processes of one user share a port when both
 * ask for it, as two that start at the same moment do.
 */
export function sharedPorts(): Set<number> {
  const own = socketInodes();
  const all = kernelSockets('tcp').filter(({ state }) => state === LISTENING);
  const others = all.filter(({ inode }) => !own.has(inode));
  const shared = all.filter(
    (ours) =>
      own.has(ours.inode) &&
      others.some((other) => other.port === ours.port && overlap(ours, other)),
  );
  return new Set(shared.map(({ port }) => port));
}

/** Reports whether a connection may go to either: one host, or all of them. */
function overlap(one: KernelSocket, other: KernelSocket): boolean {
  return one.host === other.host || [one, other].some(({ host }) => /^0+$/.test(host));
}

/**
 * The process that listens on a port, as far as this one may know: its program and id. `undefined` when it is another
 * user's, or when there are several.
 */
export function holderOf(
  protocol: 'tcp' | 'udp',
  port: number,
): { program: string; pid: number } | undefined {
  const inodes = kernelSockets(protocol, port)
    .filter(({ state }) => protocol === 'udp' || state === LISTENING)
    .map(({ inode }) => inode);
  if (inodes.length === 0) return undefined;
  const holders = new Map<string, number>();
  for (const pid of processIds()) {
    const own = socketInodes(pid);
    // Processes share sockets with their children: the eldest counts.
    for (const inode of inodes) if (own.has(inode) && !holders.has(inode)) holders.set(inode, pid);
  }
  const [pid, ...others] = new Set(holders.values());
  const program = pid === undefined ? undefined : programOf(pid);
  return program === undefined || others.length > 0 ? undefined : { program, pid };
}
