import { must } from '../../../engine/base/assert.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { nearest } from '../../../engine/base/nearest.ts';
import { shown } from '../../language/shown.ts';
import { sameSecret } from '../../registry/digest.ts';
import { withoutLongWords } from '../../safe-text.ts';
import type { AuthFailures } from '../access/failures.ts';
import { ApiError, type ApiRequest, type Reply } from '../reply.ts';
import { ADMIN_ROUTES } from '../routes/admin.ts';
import { RouteTable } from '../routes/match.ts';
import type { AdminResource } from '../routes/route.ts';
import type { Callers } from '../session/callers.ts';

/** Dependencies of the admin API. */
export interface AdminDeps {
  /** The token of the file `admin-token`. */
  token: string;
  failures: Pick<AuthFailures, 'note'>;
  /** Callers who have logged in; without it there are none. */
  callers?: Pick<Callers, 'of'>;
  /** Resources by the name in the path. */
  resources: ReadonlyMap<string, AdminResource>;
}

/** Path of the admin API. */
export const ADMIN_PATH = '/admin/api/';

const WHO = 'admin-token';

const TABLE = new RouteTable(ADMIN_ROUTES);

/**
 * Makes the handler of `/admin/api/`. It needs `Authorization: Bearer` with the token, or the session of an admin.
 * Rejects with ApiError: 400, 401, 403, 404, 405, 413, 415, 503. Source: INTERFACE.md 13.
 */
export function createAdmin(deps: AdminDeps): (request: ApiRequest) => Promise<Reply> {
  return async (request) => {
    const asker = { who: authenticate(request, deps), peer: request.peer };
    const match = TABLE.find(request.path, request.method);
    if (match === undefined) throw new ApiError(404, unknownPath(deps, request.path));
    const { route, id } = match;
    const action = deps.resources.get(route.resource)?.[route.action];
    try {
      return await must(action, `${route.action} of ${route.resource}`)({ request, asker, id });
    } catch (error) {
      throw asApiError(error);
    }
  };
}

/** Reports whether the header `Authorization` carries the token of the file `admin-token`. */
export function isAdministrator(authorization: string | undefined, token: string): boolean {
  const match = /^Bearer +(\S+) *$/i.exec(authorization ?? '');
  return match !== null && sameSecret(match[1], token);
}

/** The one who asks, as the audit log names it. */
function authenticate(request: ApiRequest, { token, failures, callers }: AdminDeps): string {
  if (isAdministrator(request.headers.get('authorization'), token)) return WHO;
  const caller = callers?.of(request);
  if (caller?.role === 'admin') return caller.name;
  if (caller !== undefined) {
    throw new ApiError(403, 'forbidden: a reader has logged in; allowed: an admin');
  }
  // Whoever has the token is let in whatever others do that come from the same address.
  if (failures.note('admin', request.peer)) {
    const message = 'too many requests with a wrong token; allowed: 100 a minute';
    throw new ApiError(429, message, { 'Retry-After': '60' });
  }
  const message =
    'could not be authenticated: header authorization must be Bearer with the token of the file admin-token';
  throw new ApiError(401, message, { 'WWW-Authenticate': 'Bearer' });
}

function unknownPath({ resources }: AdminDeps, path: string): string {
  const [name = '', ...rest] = path.slice(ADMIN_PATH.length).split('/');
  if (resources.has(name)) {
    const more = shown(withoutLongWords(rest.join('/')));
    return `${name} have no ids, ${more} is not known; there is ${ADMIN_PATH}${name}`;
  }
  const close = nearest(name, resources.keys());
  const allowed = [...resources.keys()].join(', ');
  const hint = close === undefined ? '' : `; did you mean ${close}?`;
  return `resource ${shown(withoutLongWords(name))} is unknown; there are ${allowed}${hint}`;
}

/** The ApiError for an EngineError of the registry; other errors as they are. */
function asApiError(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  if (error.code === 'USAGE' || error.code === 'LIMIT') return new ApiError(400, error.message);
  return new ApiError(503, 'the change could not be written; see the log of the service');
}

/** The fields of a JSON object as pairs: names from outside are never looked up in it. Throws ApiError 400. */
export function fieldsOf(value: unknown, what: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiError(400, `${what} is ${shown(value)}; it must be an object`);
  }
  return Object.entries(value);
}
