import type { Predicate } from '../../../engine/query/model/predicate.ts';
import { shown } from '../../language/shown.ts';
import type { Session, Sessions } from '../../registry/account/sessions.ts';
import type { Role } from '../../registry/account/user-record.ts';
import type { User, Users } from '../../registry/account/users.ts';
import type { Keys } from '../../registry/keys.ts';
import { ApiError, type ApiRequest } from '../reply.ts';
import type { ReadKey } from '../route.ts';
import { sessionTokens } from './cookie.ts';
import { requireSameOrigin } from './same-origin.ts';

/** One who has logged in, here or at a trusted proxy. */
export interface Caller {
  /** `undefined` of one whom a proxy names. */
  readonly session?: Session;
  /** A user, or whoever has a read key. */
  readonly type: 'user' | 'key';
  readonly name: string;
  readonly role: Role;
  /** The search text that limits the events. */
  readonly filter?: string;
  /** The rights to read, as those of a read key. */
  readonly readKey: ReadKey;
}

/** Header by which an admin asks as a read key would, with its id. */
export const VIEW_AS = 'x-logseam-view-as';

/** A security filter as it is kept, and the id by which its tree is remembered. */
export interface FilterText {
  readonly id: string;
  readonly name: string;
  readonly filter?: string;
  readonly filterIds?: readonly string[];
}

/** The surroundings of the callers. */
export interface CallersOptions {
  sessions: Pick<Sessions, 'of'>;
  users: Pick<Users, 'get' | 'list'>;
  keys: Pick<Keys, 'named'>;
  /** The tree of a security filter, as it is declared now. */
  filterOf(text: FilterText): Predicate;
}

/** Finds out who a request with a session is from, or one of a user whom a trusted proxy names. */
export class Callers {
  readonly #options: CallersOptions;

  constructor(options: CallersOptions) {
    this.#options = options;
  }

  /**
   * The caller of a request: the user whom a trusted proxy names, else the one of the session whose cookie it carries;
   * `undefined` without one, and when the session is over, its user or key is gone or the password another one. Throws
   * ApiError 403 as `requireSameOrigin` does, and when the proxy names nobody who is there.
   */
  of(request: ApiRequest): Caller | undefined {
    const caller = this.#named(request) ?? this.#withSession(request);
    if (caller !== undefined) requireSameOrigin(request);
    return caller;
  }

  /**
   * The rights to read of a request: those of its caller, or, when an admin asks with the header
   * `x-logseam-view-as`, those of that read key. Throws ApiError 403 for others who ask so, and 404 for a key that
   * is not there.
   */
  readerOf(request: ApiRequest): ReadKey | undefined {
    const caller = this.of(request);
    const viewed = request.headers.get(VIEW_AS);
    if (caller === undefined || viewed === undefined) return caller?.readKey;
    if (caller.role !== 'admin') {
      throw new ApiError(403, `forbidden: ${VIEW_AS} is for the session of an admin`);
    }
    const { keys, filterOf } = this.#options;
    const key = keys.named('read', viewed);
    if (key === undefined) throw new ApiError(404, `${VIEW_AS} ${shown(viewed)} is no read key`);
    return { id: caller.readKey.id, filter: filterOf(key) };
  }

  /** The user whom a trusted proxy names; an empty name is none. */
  #named({ proxyUsers = [] }: ApiRequest): Caller | undefined {
    if (proxyUsers.length > 1) {
      throw new ApiError(
        403,
        `forbidden: the proxy names ${proxyUsers.length} users; allowed: one`,
      );
    }
    const [name = ''] = proxyUsers;
    if (name === '') return undefined;
    const user = this.#options.users.list().find((each) => each.name === name);
    if (user !== undefined) return this.#ofUser(user);
    throw new ApiError(
      403,
      `forbidden: the proxy names ${shown(name)}, who is no user; ask an admin`,
    );
  }

  #withSession({ headers }: ApiRequest): Caller | undefined {
    for (const token of sessionTokens(headers.get('cookie'))) {
      const session = this.#options.sessions.of(token);
      const caller = session === undefined ? undefined : this.#caller(session);
      if (caller !== undefined) return caller;
    }
    return undefined;
  }

  #caller(session: Session): Caller | undefined {
    const { users, keys, filterOf } = this.#options;
    const { subject } = session;
    if (subject.type === 'key') {
      const key = keys.named('read', subject.id);
      if (key?.id !== subject.id) return undefined;
      const readKey = { id: key.id, filter: filterOf(key) };
      return { session, type: 'key', role: 'reader', readKey, ...named(key) };
    }
    const user = users.get(subject.id);
    if (user?.passwordNumber !== subject.passwordNumber) return undefined;
    return { session, ...this.#ofUser(user) };
  }

  #ofUser(user: User): Caller {
    const readKey = { id: user.id, filter: this.#options.filterOf(user) };
    return { type: 'user', role: user.role, readKey, ...named(user) };
  }
}

function named({ name, filter }: FilterText): { name: string; filter?: string } {
  return filter === undefined ? { name } : { name, filter };
}
