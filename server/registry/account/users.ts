import { must } from '../../../engine/base/assert.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import type { Disk } from '../../../engine/base/file.ts';
import { makeId } from '../digest.ts';
import { type Asker, AUDIT_PATH, type Journal, openJournal } from '../journal.ts';
import { checkName, FILTER_CHARACTERS_MAX } from '../key-record.ts';
import { checkPassword, hashPassword, isPassword } from './password.ts';
import { type Role, readUserEntry, type UserEntry, type UserRecord } from './user-record.ts';

/** Users that may exist at once. */
export const USERS_MAX = 1_024;

/** Path of the record file. */
export const USERS_PATH = 'users';

/** A user in memory. */
export type User = Readonly<UserRecord>;

/** The fields of a user to be made. */
export interface NewUser {
  name: string;
  role: Role;
  password: string;
  filter?: string | null;
  /** Those that the filter names. */
  filterIds?: readonly string[];
}

/** The fields of a user that change; `null` takes the filter away. */
export type UserChange = Partial<NewUser>;

/** The surroundings of the users. */
export interface UsersOptions {
  disk: Disk;
  nowMs: () => number;
}

/**
 * The users of the service, in memory and in the file `users`. Owned by the front thread. A change is durable before it
 * is in force. Methods reject with USAGE when what is asked is not allowed, LIMIT beyond USERS_MAX and when too many
 * passwords are being hashed, IO when the change cannot be written; then it is not in force.
 */
export class Users {
  readonly #nowMs: () => number;
  readonly #journal: Journal;
  readonly #byId = new Map<string, User>();

  constructor({ nowMs }: UsersOptions, journal: Journal, entries: readonly UserEntry[]) {
    this.#nowMs = nowMs;
    this.#journal = journal;
    for (const entry of entries) this.#apply(entry);
  }

  /** The users, oldest first. */
  list(): User[] {
    return [...this.#byId.values()];
  }

  /** The user of an id. */
  get(id: string): User | undefined {
    return this.#byId.get(id);
  }

  /** The user with that id or, when there is none, with that name. */
  named(idOrName: string): User | undefined {
    return this.#byId.get(idOrName) ?? this.list().find(({ name }) => name === idOrName);
  }

  /** Damage in one copy of the file that was healed from the other, a sentence each. */
  get healed(): readonly string[] {
    return this.#journal.healed;
  }

  /** Makes a user. `asker` goes to the audit log. */
  async create(wanted: NewUser, asker: Asker): Promise<User> {
    return this.#create(wanted, asker, false);
  }

  /** Makes the first user, an admin; rejects with USAGE when there is one already. */
  async createFirst(wanted: Omit<NewUser, 'role'>, asker: Asker): Promise<User> {
    return this.#create({ ...wanted, role: 'admin' }, asker, true);
  }

  /** Changes a user. A new password ends the sessions of the user. */
  async change(id: string, change: UserChange, asker: Asker): Promise<User> {
    const { name, role, password, filter, filterIds } = change;
    if (password !== undefined) checkPassword(password);
    const hash = password === undefined ? undefined : await hashPassword(password);
    return this.#journal.inTurn(async () => {
      const record = { ...this.#existing(id) };
      if (name !== undefined) record.name = name;
      if (role !== undefined) record.role = role;
      if (hash !== undefined) {
        record.password = hash;
        record.passwordNumber++;
      }
      if (filter !== undefined) {
        delete record.filter;
        delete record.filterIds;
        if (filter !== null) record.filter = filter;
        if (filterIds !== undefined) record.filterIds = filterIds;
      }
      this.#check(record);
      if (record.role !== 'admin') this.#keepAnAdmin(id);
      const what = hash === undefined ? 'change' : 'change with password';
      await this.#write({ type: 'user', user: record }, record, asker, what);
      return this.#existing(id);
    });
  }

  /** Deletes a user, whose sessions end. */
  delete(id: string, asker: Asker): Promise<void> {
    return this.#journal.inTurn(async () => {
      const user = this.#existing(id);
      this.#keepAnAdmin(id);
      await this.#write({ type: 'deleted', id }, user, asker, 'delete');
    });
  }

  /**
   * The user of that name whose password it is. Takes as long for users that do not exist. Rejects with LIMIT when too
   * many passwords are being hashed.
   */
  async authenticate(name: string, password: string): Promise<User | undefined> {
    const user = this.list().find((each) => each.name === name);
    const isRight = await isPassword(password, user?.password);
    // The user may have changed or gone meanwhile.
    const now = user === undefined ? undefined : this.#byId.get(user.id);
    return isRight && now?.passwordNumber === user?.passwordNumber ? now : undefined;
  }

  /** Waits for changes that run; later ones reject with CLOSED. */
  close(): Promise<void> {
    return this.#journal.close();
  }

  async #create(wanted: NewUser, asker: Asker, isFirst: boolean): Promise<User> {
    checkPassword(wanted.password);
    const password = await hashPassword(wanted.password);
    return this.#journal.inTurn(async () => {
      if (isFirst && this.#byId.size > 0) {
        throw new EngineError('USAGE', 'there is a user already: log in');
      }
      if (this.#byId.size >= USERS_MAX) {
        throw new EngineError('LIMIT', `there are ${USERS_MAX} users; allowed are ${USERS_MAX}`);
      }
      const { name, role, filter, filterIds } = wanted;
      const user: UserRecord = {
        id: makeId(),
        ...{ name, role, password },
        createdMs: this.#nowMs(),
        passwordNumber: 1,
        ...(typeof filter === 'string' ? { filter } : {}),
        ...(filterIds === undefined ? {} : { filterIds }),
      };
      this.#check(user);
      await this.#write({ type: 'user', user }, user, asker, 'create');
      return must(this.#byId.get(user.id), 'new user');
    });
  }

  #existing(id: string): User {
    const user = this.#byId.get(id);
    if (user === undefined) throw new EngineError('USAGE', `there is no user with the id "${id}"`);
    return user;
  }

  #keepAnAdmin(id: string): void {
    if (this.list().some((user) => user.role === 'admin' && user.id !== id)) return;
    if (this.#existing(id).role !== 'admin') return;
    throw new EngineError('USAGE', 'the last admin stays: make another one first');
  }

  #check({ id, name, role, filter }: UserRecord): void {
    checkName(name);
    const other = this.list().find((each) => each.name === name);
    if (other !== undefined && other.id !== id) {
      throw new EngineError('USAGE', `name "${name}" is taken by another user`);
    }
    if (filter === undefined) return;
    if (role === 'admin') {
      throw new EngineError('USAGE', 'an admin has no security_filter; allowed: readers');
    }
    if (filter.length > FILTER_CHARACTERS_MAX) {
      throw new EngineError(
        'USAGE',
        `security_filter has ${filter.length} characters; allowed are ${FILTER_CHARACTERS_MAX}`,
      );
    }
  }

  async #write(entry: UserEntry, user: User, asker: Asker, what: string): Promise<void> {
    const at = new Date(this.#nowMs()).toISOString();
    const { id, name, role, filter } = user;
    await this.#journal.write(entry, [
      { at, ...asker, what, resource: 'users', id, name, role, filter },
    ]);
    this.#apply(entry);
  }

  #apply(entry: UserEntry): void {
    if (entry.type === 'deleted') this.#byId.delete(entry.id);
    else this.#byId.set(entry.user.id, entry.user);
  }
}

/** Opens the users of a data folder. Rejects with CORRUPTION when the file `users` is not what was written. */
export async function openUsers(options: UsersOptions): Promise<Users> {
  const { records, journal } = await openJournal(options.disk, USERS_PATH, AUDIT_PATH, false);
  try {
    const last = new Map<string, UserEntry>();
    for (const [index, record] of records.entries()) {
      const entry = readUserEntry(record, index);
      if (entry.type === 'user') last.set(entry.user.id, entry);
      else last.delete(entry.id);
    }
    const entries = [...last.values()];
    await journal.compact(entries);
    return new Users(options, journal, entries);
  } catch (error) {
    await journal.close();
    throw error;
  }
}
