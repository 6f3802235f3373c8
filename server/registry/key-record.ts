import { EngineError } from '../../engine/base/errors.ts';
import { DIGEST_BYTES } from './digest.ts';

/** Write keys let events in, read keys let them out. */
export type KeyKind = 'write' | 'read';

/** Daily quota of a key: percent of the plan limit, or megabytes of 1,000,000 bytes. */
export interface Quota {
  type: 'percentage' | 'megabytes';
  value: number;
}

/** A key as it is stored. Its text is nowhere, only the SHA-256 digest of it. */
export interface KeyRecord {
  kind: KeyKind;
  id: string;
  name: string;
  digest: Uint8Array;
  createdMs: number;
  /** The switch; read keys have none and are always on. */
  enabled: boolean;
  /** Quota of a write key. */
  quota?: Quota;
  /** Search text that limits what a read key sees. */
  filter?: string;
  /** The fields and tagsets that the filter named when it was set: without one of them it hides everything. */
  filterIds?: readonly string[];
}

/** An entry of a record in the file `keys`: the state of a key from now on, or the id of a deleted one. */
export type KeyEntry = { type: 'key'; key: KeyRecord } | { type: 'deleted'; id: string };

/** Bytes of a megabyte, in quotas and limits. Source: INTERFACE.md 2.1. */
export const MEGABYTE_BYTES = 1_000_000;

/** Characters of a name, at most. */
export const NAME_CHARACTERS_MAX = 100;

/** Megabytes a day of a quota, at most: 100 TB. */
export const QUOTA_MB_MAX = 100_000_000;

/** Characters of a security filter, at most. */
export const FILTER_CHARACTERS_MAX = 10_000;

const VALUE_SHOWN_MAX = 60;
const KINDS: readonly unknown[] = ['write', 'read'];
const QUOTA_TYPES: readonly unknown[] = ['percentage', 'megabytes'];
const CONTROL = /\p{Cc}|\p{Cs}/u;

/** Throws USAGE when `name` is no name: 1 to 100 characters, no control characters, no blank at an end. */
export function checkName(name: unknown, parameter = 'name'): asserts name is string {
  const refuse = (why: string): never => {
    throw new EngineError('USAGE', `${parameter} ${why}`);
  };
  const allowed = `1 to ${NAME_CHARACTERS_MAX} characters`;
  if (typeof name !== 'string') return refuse(`must be a text of ${allowed}`);
  const count = [...name].length;
  if (count < 1 || count > NAME_CHARACTERS_MAX) {
    refuse(`has ${count} characters; allowed are ${allowed}`);
  }
  if (CONTROL.test(name)) refuse('has a control character in it');
  if (name.trim() !== name) refuse('begins or ends with a blank');
}

/** Throws USAGE when `quota` is none: its type, a value above 0 and at most 100 percent or QUOTA_MB_MAX. */
export function checkQuota(quota: unknown): asserts quota is Quota {
  const { type, value } = fieldsOf(quota, 'daily_quota');
  if (!QUOTA_TYPES.includes(type)) {
    throw new EngineError(
      'USAGE',
      `daily_quota.type is ${shown(type)}; allowed are "percentage" and "megabytes"`,
    );
  }
  const most = type === 'percentage' ? 100 : QUOTA_MB_MAX;
  if (typeof value !== 'number' || !(value > 0 && value <= most)) {
    throw new EngineError(
      'USAGE',
      `daily_quota.value is ${shown(value)}; allowed are numbers above 0, at most ${most}`,
    );
  }
}

/** Checks a record of the file `keys`. Throws CORRUPTION naming its number and what is wrong. */
export function readEntries(record: unknown, recordNumber: number): KeyEntry[] {
  try {
    if (!Array.isArray(record)) throw new EngineError('USAGE', 'not a list');
    return record.map(readEntry);
  } catch (cause) {
    if (!(cause instanceof EngineError)) throw cause;
    throw new EngineError('CORRUPTION', `record ${recordNumber} of keys: ${cause.message}`, {
      cause,
    });
  }
}

function readEntry(entry: unknown): KeyEntry {
  const { type, id, key } = fieldsOf(entry, 'entry');
  if (type === 'deleted' && typeof id === 'string') return { type, id };
  if (type !== 'key') throw new EngineError('USAGE', `entry of type ${shown(type)}`);
  return { type, key: readKey(key) };
}

function readKey(value: unknown): KeyRecord {
  const fields = fieldsOf(value, 'key');
  const { kind, id, name, digest, createdMs, enabled, quota, filter, filterIds } = fields;
  const wrong = (field: string): EngineError => new EngineError('USAGE', `wrong ${field} of a key`);
  if (!KINDS.includes(kind)) throw wrong('kind');
  if (typeof id !== 'string' || id === '') throw wrong('id');
  checkName(name);
  if (!(digest instanceof Uint8Array) || digest.length !== DIGEST_BYTES) throw wrong('digest');
  if (typeof createdMs !== 'number') throw wrong('createdMs');
  if (typeof enabled !== 'boolean') throw wrong('enabled');
  if (quota !== undefined) checkQuota(quota);
  if (filter !== undefined && typeof filter !== 'string') throw wrong('filter');
  if (filterIds !== undefined && !areTexts(filterIds)) throw wrong('filterIds');
  return {
    kind: kind as KeyKind,
    id,
    name,
    digest: Uint8Array.from(digest),
    createdMs,
    enabled,
    ...(quota === undefined ? {} : { quota: { type: quota.type, value: quota.value } }),
    ...(filter === undefined ? {} : { filter }),
    ...(filterIds === undefined ? {} : { filterIds }),
  };
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** The fields of an object from outside, as a copy without a prototype. */
function fieldsOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new EngineError('USAGE', `${what} is ${shown(value)}; it must be an object`);
  }
  return Object.assign(Object.create(null), value);
}

/** A value from outside for a message: short, and never deep. */
function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  const cut = value.length > VALUE_SHOWN_MAX ? `${value.slice(0, VALUE_SHOWN_MAX)}...` : value;
  return JSON.stringify(cut);
}
