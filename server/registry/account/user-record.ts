import { EngineError } from '../../../engine/base/errors.ts';
import { checkName } from '../key-record.ts';
import type { PasswordHash } from './password.ts';

/** Admins manage everything and see all events; readers see the events that their security filter leaves. */
export const ROLES = ['admin', 'reader'] as const;

/** The rights of a user. */
export type Role = (typeof ROLES)[number];

/** A user as it is stored. */
export interface UserRecord {
  id: string;
  name: string;
  role: Role;
  createdMs: number;
  password: PasswordHash;
  /** Counts the passwords of the user: a session ends when another one is set. */
  passwordNumber: number;
  /** Search text that limits the events that a reader sees. */
  filter?: string;
  /** The fields and tagsets that the filter named when it was set: without one of them it hides everything. */
  filterIds?: readonly string[];
}

/** An entry of a record in the file `users`: the state of a user from now on, or the id of a deleted one. */
export type UserEntry = { type: 'user'; user: UserRecord } | { type: 'deleted'; id: string };

/** Checks a record of the file `users`. Throws CORRUPTION naming its number and what is wrong. */
export function readUserEntry(record: unknown, recordNumber: number): UserEntry {
  try {
    const { type, id, user } = fieldsOf(record);
    if (type === 'deleted' && typeof id === 'string') return { type, id };
    if (type !== 'user') throw new EngineError('USAGE', 'its type is unknown');
    return { type, user: readUser(user) };
  } catch (cause) {
    if (!(cause instanceof EngineError)) throw cause;
    throw new EngineError('CORRUPTION', `record ${recordNumber} of users: ${cause.message}`, {
      cause,
    });
  }
}

function readUser(value: unknown): UserRecord {
  const fields = fieldsOf(value);
  const { id, name, role, createdMs, password, passwordNumber, filter, filterIds } = fields;
  const wrong = (field: string): EngineError =>
    new EngineError('USAGE', `wrong ${field} of a user`);
  if (typeof id !== 'string' || id === '') throw wrong('id');
  checkName(name);
  const known = ROLES.find((each) => each === role);
  if (known === undefined) throw wrong('role');
  if (typeof createdMs !== 'number') throw wrong('createdMs');
  const { salt, hash } = fieldsOf(password);
  if (!(salt instanceof Uint8Array && hash instanceof Uint8Array)) throw wrong('password');
  if (!Number.isSafeInteger(passwordNumber)) throw wrong('passwordNumber');
  if (filter !== undefined && typeof filter !== 'string') throw wrong('filter');
  if (filterIds !== undefined && !areTexts(filterIds)) throw wrong('filterIds');
  return {
    id,
    name,
    role: known,
    createdMs,
    password: { salt: Uint8Array.from(salt), hash: Uint8Array.from(hash) },
    passwordNumber: Number(passwordNumber),
    ...(filter === undefined ? {} : { filter }),
    ...(filterIds === undefined ? {} : { filterIds }),
  };
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** The fields of an object of a file, as a copy without a prototype. */
function fieldsOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new EngineError('USAGE', 'it is no object');
  }
  return Object.assign(Object.create(null), value);
}
