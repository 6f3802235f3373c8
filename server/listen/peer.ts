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
