import { addressText } from './header.ts';
import { type KernelSocket, kernelSockets } from './kernel-sockets.ts';

/** Groups of an IPv6 address that are a network's; a host may take any address in it. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/**
 * Owner of a remote address, as far as anybody can tell: an IPv4 address, also when it is mapped into IPv6, or the
 * first 64 bits of an IPv6 address.
 */
export function peerOf(address: string): string {
  const dotted = address.slice(address.lastIndexOf(':') + 1);
  if (dotted.includes('.')) return dotted;
  const [plain] = address.split('%', 1);
  const [left, right] = plain.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const zeros = Array.from({ length: Math.max(0, GROUPS - head.length - tail.length) }, () => '0');
  return [...head, ...zeros, ...tail].slice(0, NETWORK_GROUPS).join(':');
}

/** Established, and those whose client has ended its side. */
const OPEN_STATES: ReadonlySet<string> = new Set(['01', '08']);

/** Counts of the connections to a port of this machine by peer; none where the kernel does not tell. */
export function connectionsByPeer(port: number): Map<string, number> {
  return countsByPeer(kernelSockets('tcp', port));
}

/** Counts of the open connections among sockets by peer. */
export function countsByPeer(sockets: readonly KernelSocket[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { remote, state } of sockets) {
    if (!OPEN_STATES.has(state)) continue;
    const peer = peerOf(addressText(addressBytes(remote)));
    counts.set(peer, (counts.get(peer) ?? 0) + 1);
  }
  return counts;
}

/**
 * The bytes of an address as the kernel writes it: words of 32 bits in the order of this machine's bytes, then the
 * port.
 */
function addressBytes(text: string): Uint8Array {
  const words = text.split(':', 1)[0].match(/.{8}/g) ?? [];
  return Uint8Array.from(words.flatMap((word) => [...Buffer.from(word, 'hex').reverse()]));
}
