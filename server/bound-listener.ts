import { EngineError } from '../engine/base/errors.ts';
import { nearest } from '../engine/base/nearest.ts';
import { type Address, addressText, readAddress } from './address.ts';

/** A listener whose lines need no key: they belong to the write key with that name. */
export interface BoundListener {
  protocol: 'tcp' | 'tls' | 'udp';
  address: Address;
  /** Name of a write key, which need not exist yet. */
  key: string;
}

/** The key of the array of tables in the file of settings. */
export const LISTENER_KEY = 'listener';

const PROTOCOLS = ['tcp', 'tls', 'udp'] as const;
const FIELDS: readonly string[] = ['protocol', 'address', 'key'];
const LISTENERS_MAX = 100;

/**
 * Reads the tables `[[listener]]` of a file of settings. Source: INTERFACE.md 1.1.
 * Throws USAGE naming the table, the field, its value and what is allowed.
 */
export function readBoundListeners(path: string, value: unknown): BoundListener[] {
  if (!Array.isArray(value) || value.length > LISTENERS_MAX) {
    throw failure(
      `${path}: ${LISTENER_KEY} has to be at most ${LISTENERS_MAX} tables [[listener]]`,
    );
  }
  return value.map((table, index) => readTable(`${path}: listener ${index + 1}`, table));
}

/** The tables that `readBoundListeners` reads. */
export function writeBoundListeners(listeners: readonly BoundListener[]): object[] {
  return listeners.map((listener) => ({ ...listener, address: addressText(listener.address) }));
}

function readTable(where: string, table: unknown): BoundListener {
  if (typeof table !== 'object' || table === null) throw failure(`${where} is no table`);
  const fields = new Map<string, unknown>(Object.entries(table));
  for (const name of fields.keys()) {
    if (FIELDS.includes(name)) continue;
    const close = nearest(name, FIELDS);
    const hint = close === undefined ? '' : `; did you mean ${close}?`;
    throw failure(`${where}: ${name} is unknown${hint}`);
  }
  const wrong = (name: string, allowed: string): EngineError => {
    const shown = (JSON.stringify(fields.get(name)) ?? 'missing').slice(0, 100);
    return failure(`${where}: ${name} is ${shown}; allowed are ${allowed}`);
  };
  const protocol = PROTOCOLS.find((each) => each === fields.get('protocol'));
  if (protocol === undefined) throw wrong('protocol', PROTOCOLS.join(', '));
  const address = readAddress(String(fields.get('address')));
  if (address === undefined) throw wrong('address', 'HOST:PORT, IPv6 addresses in brackets');
  const key = fields.get('key');
  if (typeof key !== 'string' || key === '') throw wrong('key', 'names of write keys');
  return { protocol, address, key };
}

function failure(message: string): EngineError {
  return new EngineError('USAGE', message);
}
