import { EngineError } from '../../engine/base/errors.ts';
import { type Address, addressText } from '../address.ts';

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'something else listens there'],
  ['EACCES', 'the process has no right to ports below 1024'],
  ['EADDRNOTAVAIL', 'this machine does not have the address'],
  ['ENOTFOUND', 'the host has no address'],
  ['EAI_AGAIN', 'the host has no address now'],
  ['EAFNOSUPPORT', 'this machine does not have such addresses'],
  ['EMFILE', 'the process has too many open files'],
]);

/** The error about an address that cannot be had, USAGE: it names the setting, the address and why, and has the cause. */
export function listenFault(
  setting: string,
  address: Address,
  cause: Partial<NodeJS.ErrnoException> | undefined,
): EngineError {
  const code = cause?.code ?? '';
  const reason = REASONS.get(code) ?? cause?.message ?? 'the system does not say why';
  const told = REASONS.has(code) ? `${reason} (${code})` : reason;
  const message = `${setting} is ${addressText(address)}, which cannot be listened on: ${told}`;
  return new EngineError('USAGE', message, { cause });
}
