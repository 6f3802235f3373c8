import { EngineError } from '../../engine/base/errors.ts';
import { type Address, addressText } from '../address.ts';
import { holderOf } from './kernel-sockets.ts';

const IN_USE = 'EADDRINUSE';
const REASONS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'the process has no right to ports below 1024'],
  ['EADDRNOTAVAIL', 'this machine does not have the address'],
  ['ENOTFOUND', 'the host has no address'],
  ['EAI_AGAIN', 'the host has no address now'],
  ['EAFNOSUPPORT', 'this machine does not have such addresses'],
  ['EMFILE', 'the process has too many open files'],
]);

/**
 * The error about an address that cannot be had, USAGE. It names the setting, the address and why, and has the cause.
 * For an address in use it also names the holder, where that can be known, and the ways to set another address.
 */
export function listenFault(
  setting: string,
  address: Address,
  cause: Partial<NodeJS.ErrnoException> | undefined,
  protocol: 'tcp' | 'udp' = 'tcp',
): EngineError {
  const code = cause?.code ?? '';
  const known =
    code === IN_USE ? `${holderText(protocol, address)} listens there` : REASONS.get(code);
  const reason = known ?? cause?.message ?? 'the system does not say why';
  const told = known === undefined ? reason : `${reason} (${code})`;
  const remedy = code === IN_USE ? `; ${remedyText(setting)}` : '';
  const message = `${setting} is ${addressText(address)}, which cannot be listened on: ${told}${remedy}`;
  return new EngineError('USAGE', message, { cause });
}

function holderText(protocol: 'tcp' | 'udp', { port }: Address): string {
  const holder = holderOf(protocol, port);
  if (holder === undefined) return 'something else';
  if (holder.pid === process.pid) return 'this process itself';
  return `${holder.program} (process ${holder.pid})`;
}

function remedyText(setting: string): string {
  if (setting.startsWith('listener')) return 'the configuration file sets its address';
  const flag = setting.replaceAll('_', '-');
  return `--${flag} or LOGSEAM_${setting.toUpperCase()} sets another address`;
}
