import { type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { must } from '../../../engine/base/assert.ts';
import { shown } from '../../language/shown.ts';
import { ROLES, type Role } from '../../registry/account/user-record.ts';
import type { User, UserChange, Users } from '../../registry/account/users.ts';
import type { Asker } from '../../registry/journal.ts';
import { parseJsonBody } from '../json.ts';
import { ApiError, type ApiRequest, resultReply } from '../reply.ts';
import { requireJsonType } from '../route.ts';
import type { AdminResource } from '../routes/route.ts';
import { choice, object, text } from '../schema.ts';
import { refuse } from '../schema-fault.ts';

const name = text('a string of 1 to 100 characters');
const role = choice(...ROLES);
const password = text('a string of 12 to 256 characters');
const filter = Type.Optional(
  Type.Union([Type.String(), Type.Null()], { description: 'a search query, or null' }),
);
const made = object({ name, role, password, security_filter: filter });
const changed = object({
  name: Type.Optional(name),
  role: Type.Optional(role),
  password: Type.Optional(password),
  security_filter: filter,
});
const validators = { made: Compile(made), changed: Compile(changed) };

/** Schemas of the bodies by which users are made and changed, for the description of the interface. */
export const USER_SCHEMAS: { made: TSchema; changed: TSchema } = { made, changed };

/** The surroundings of the resource of users. */
export interface UserResourceDeps {
  users: Users;
  /** The declared ids that a security filter names. Throws an Error whose message tells the fault and its position. */
  filterIds(text: string): string[];
  /** Called when a user was made: the set-up link ends. */
  made(): Promise<void>;
  /** Called when the user of that id is gone. */
  deleted(id: string, asker: Asker): Promise<void>;
}

/** A user as the API shows it. */
interface ShownUser {
  id: string;
  name: string;
  role: string;
  security_filter: string | null;
  created: string;
}

/** The resource `users`, by id or name. Source: INTERFACE.md 13. */
export function userResource(deps: UserResourceDeps): [string, AdminResource] {
  const { users } = deps;
  const existing = (idOrName: string): User => {
    const user = users.named(idOrName);
    if (user !== undefined) return user;
    throw new ApiError(404, `there is no user with the id or name ${shown(idOrName)}`);
  };
  const resource: AdminResource = {
    list: async () => resultReply(JSON.stringify({ users: users.list().map(shownUser) })),
    make: async ({ request, asker }) => {
      const body = bodyOf(request);
      if (!validators.made.Check(body)) refuse(validators.made, body);
      const { name, role, password } = body;
      const wanted = { name, role: roleOf(role), password, ...filterOf(deps, body) };
      const user = await users.create(wanted, asker);
      await deps.made();
      return resultReply(JSON.stringify(shownUser(user)));
    },
    show: async ({ id }) => resultReply(JSON.stringify(shownUser(existing(id)))),
    change: async ({ request, asker, id }) => {
      const user = existing(id);
      const body = bodyOf(request);
      if (!validators.changed.Check(body)) refuse(validators.changed, body);
      const { name, role, password } = body;
      const change: UserChange = filterOf(deps, body);
      if (name !== undefined) change.name = name;
      if (role !== undefined) change.role = roleOf(role);
      if (password !== undefined) change.password = password;
      return resultReply(JSON.stringify(shownUser(await users.change(user.id, change, asker))));
    },
    delete: async ({ asker, id: idOrName }) => {
      const { id, name } = existing(idOrName);
      await users.delete(id, asker);
      await deps.deleted(id, asker);
      return resultReply(JSON.stringify({ id, name, deleted: true }));
    },
  };
  return ['users', resource];
}

function bodyOf(request: ApiRequest): unknown {
  requireJsonType(request);
  return parseJsonBody(request.body);
}

function roleOf(text: string): Role {
  return must(
    ROLES.find((role) => role === text),
    'role',
  );
}

/** The filter of a body and the declared ids that it names. Throws ApiError 400 when it is malformed. */
function filterOf(
  { filterIds }: UserResourceDeps,
  { security_filter: filter }: { security_filter?: string | null },
): Pick<UserChange, 'filter' | 'filterIds'> {
  if (filter === undefined) return {};
  if (filter === null) return { filter };
  try {
    return { filter, filterIds: filterIds(filter) };
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    throw new ApiError(400, `security_filter ${shown(filter)}: ${cause.message}`);
  }
}

function shownUser({ id, name, role, filter, createdMs }: User): ShownUser {
  const created = new Date(createdMs).toISOString();
  return { id, name, role, security_filter: filter ?? null, created };
}
