import { EngineError } from '../../../engine/base/errors.ts';
import { nearest } from '../../../engine/base/nearest.ts';
import { shown } from '../../language/shown.ts';
import { sameSecret } from '../../registry/digest.ts';
import type { Asker } from '../../registry/journal.ts';
import { withoutLongWords } from '../../safe-text.ts';
import type { AuthFailures } from '../access/failures.ts';
import { ApiError, type ApiRequest, type Reply } from '../reply.ts';

/** A resource of the admin API; `asker` asks for changes, as the audit log names them. */
export interface AdminResource {
  /** Answers `/admin/api/<resource>`. Throws or rejects with ApiError, or EngineError of the registry. */
  collection(request: ApiRequest, asker: Asker): Promise<Reply>;
  /** Answers `/admin/api/<resource>/<id>`; the id is what stands there, slashes included. */
  single(id: string, request: ApiRequest, asker: Asker): Promise<Reply>;
}

/** Dependencies of the admin API. */
export interface AdminDeps {
  /** The token of the file `admin-token`. */
  token: string;
  failures: Pick<AuthFailures, 'note'>;
  /** Resources by the name in the path. */
  resources: ReadonlyMap<string, AdminResource>;
}

/** Path of the admin API. */
export const ADMIN_PATH = '/admin/api/';

const WHO = 'admin-token';

/**
 * Makes the handler of `/admin/api/`. It needs `Authorization: Bearer` with the token.
 * Rejects with ApiError: 400, 401, 404, 405, 413, 415, 503. Source: INTERFACE.md 13.
 */
export function createAdmin(deps: AdminDeps): (request: ApiRequest) => Promise<Reply> {
  return async (request) => {
    authenticate(request, deps);
    const asker = { who: WHO, peer: request.peer };
    const rest = request.path.slice(ADMIN_PATH.length);
    const slash = rest.indexOf('/');
    const name = slash < 0 ? rest : rest.slice(0, slash);
    const resource = deps.resources.get(name);
    if (resource === undefined) throw new ApiError(404, unknownResource(deps, name));
    try {
      if (slash < 0) return await resource.collection(request, asker);
      return await resource.single(rest.slice(slash + 1), request, asker);
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

function authenticate(request: ApiRequest, { token, failures }: AdminDeps): void {
  if (isAdministrator(request.headers.get('authorization'), token)) return;
  // Whoever has the token is let in whatever others do that come from the same address.
  if (failures.note('admin', request.peer)) {
    const message = 'too many requests with a wrong token; allowed: 100 a minute';
    throw new ApiError(429, message, { 'Retry-After': '60' });
  }
  const message =
    'could not be authenticated: header authorization must be Bearer with the token of the file admin-token';
  throw new ApiError(401, message, { 'WWW-Authenticate': 'Bearer' });
}

function unknownResource(deps: AdminDeps, name: string): string {
  const close = nearest(name, deps.resources.keys());
  const allowed = [...deps.resources.keys()].join(', ');
  const hint = close === undefined ? '' : `; did you mean ${close}?`;
  return `resource ${shown(withoutLongWords(name))} is unknown; there are ${allowed}${hint}`;
}

/** The ApiError for an EngineError of the registry; other errors as they are. */
function asApiError(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  if (error.code === 'USAGE' || error.code === 'LIMIT') return new ApiError(400, error.message);
  return new ApiError(503, 'the change could not be written; see the log of the service');
}

/** The 405 of a resource. `allowed` are methods between commas. */
export function methodNotAllowed(method: string, allowed: string): ApiError {
  const message = `method ${shown(method)} is not allowed here; allowed are ${allowed}`;
  return new ApiError(405, message, { Allow: allowed });
}

/** The fields of a JSON object as pairs: names from outside are never looked up in it. Throws ApiError 400. */
export function fieldsOf(value: unknown, what: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiError(400, `${what} is ${shown(value)}; it must be an object`);
  }
  return Object.entries(value);
}
