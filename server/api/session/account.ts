import { EngineError } from '../../../engine/base/errors.ts';
import { checkPassword } from '../../registry/account/password.ts';
import { SESSION_MS, type Sessions, type Subject } from '../../registry/account/sessions.ts';
import type { SetupLink } from '../../registry/account/setup-link.ts';
import type { User, Users } from '../../registry/account/users.ts';
import type { Views } from '../../registry/account/views.ts';
import type { Asker } from '../../registry/journal.ts';
import type { Key } from '../../registry/keys.ts';
import { networkOf } from '../access/failures.ts';
import { parseJsonBody } from '../json.ts';
import { ApiError, type ApiRequest, type Reply, resultReply } from '../reply.ts';
import { requireJsonType, requireKnownQuery } from '../route.ts';
import { checkLogin, checkOwnPassword, checkSetup } from './account-schema.ts';
import type { Caller, Callers } from './callers.ts';
import { endedCookie, sessionCookie } from './cookie.ts';
import type { LoginThrottle } from './login-throttle.ts';
import { requireSameOrigin } from './same-origin.ts';

/** The surroundings of the routes of accounts. */
export interface AccountOptions {
  users: Users;
  sessions: Sessions;
  views: Views;
  setup: SetupLink;
  callers: Callers;
  throttle: LoginThrottle;
  /** The read key with that text. */
  readKey(text: string): Key | undefined;
  /** Notes one who could not be authenticated. */
  failed(peer: string): void;
}

/** The caller that a request's session tells. Throws ApiError 401 without one. */
export function callerOf(
  { callers }: Pick<AccountOptions, 'callers'>,
  request: ApiRequest,
): Caller {
  const caller = callers.of(request);
  if (caller !== undefined) return caller;
  throw new ApiError(401, 'the caller could not be authenticated: there is no session; log in');
}

/** `GET /account/session`: who has logged in. */
export async function showSession(options: AccountOptions, request: ApiRequest): Promise<Reply> {
  return shownReply(callerOf(options, request));
}

/** `POST /account/session`. Throws ApiError 401 when name, password or key are wrong, 429 and 503. */
export async function logIn(options: AccountOptions, request: ApiRequest): Promise<Reply> {
  requireSameOrigin(request);
  const body = checkLogin(bodyOf(request));
  const { users, throttle, failed, readKey } = options;
  const { peer } = request;
  const waitSeconds = throttle.attempt(networkOf(peer));
  if (waitSeconds > 0) {
    const message = `too many logins with a wrong password or key; allowed again in ${waitSeconds} s`;
    throw new ApiError(429, message, { 'retry-after': String(waitSeconds) });
  }
  if ('read_key' in body) {
    const key = readKey(body.read_key);
    if (key !== undefined) {
      return begun(options, request, { type: 'key', id: key.id }, `read key ${key.name}`);
    }
    failed(peer);
    throw new ApiError(401, 'the caller could not be authenticated: the read key is unknown');
  }
  const user = await checked(() => users.authenticate(body.name, body.password));
  if (user !== undefined) return begun(options, request, subjectOf(user), user.name);
  failed(peer);
  throw new ApiError(401, 'the caller could not be authenticated: name or password is wrong');
}

/** `DELETE /account/session`. Throws ApiError 403 to a user whom a proxy names. */
export async function logOut(options: AccountOptions, request: ApiRequest): Promise<Reply> {
  const { session, name } = callerOf(options, request);
  if (session === undefined) {
    throw new ApiError(
      403,
      'forbidden: a proxy says who asks, and there is no session; log out there',
    );
  }
  await options.sessions.end(session, { who: name, peer: request.peer });
  return {
    ...resultReply('{"ended":true}'),
    headers: { 'set-cookie': endedCookie(request.isSecure) },
  };
}

/** `POST /account/setup`: makes the first user. Throws ApiError 403 when the link is not valid. */
export async function setUp(options: AccountOptions, request: ApiRequest): Promise<Reply> {
  requireSameOrigin(request);
  const { token, name, password } = checkSetup(bodyOf(request));
  const { setup, users, throttle } = options;
  if (throttle.attempt(networkOf(request.peer)) > 0 || !setup.isToken(token)) {
    options.failed(request.peer);
    throw new ApiError(
      403,
      'the set-up link is not valid: it is printed when the service starts, and works until there is a user',
    );
  }
  const user = await users
    .createFirst({ name, password }, asker('set-up link', request))
    .catch(refuse);
  await setup.end();
  return begun(options, request, subjectOf(user), user.name);
}

/** `POST /account/password`. Throws ApiError 403 when the password is not the one in force. */
export async function changePassword(options: AccountOptions, request: ApiRequest): Promise<Reply> {
  const caller = callerOf(options, request);
  if (caller.type === 'key') {
    throw new ApiError(403, 'forbidden: a session of a read key has no password');
  }
  const { password, new_password } = checkOwnPassword(bodyOf(request));
  await checked(async () => checkPassword(new_password, 'new_password'));
  const { users, throttle } = options;
  const waitSeconds = throttle.attempt(networkOf(request.peer));
  const user =
    waitSeconds > 0 ? undefined : await checked(() => users.authenticate(caller.name, password));
  if (user === undefined) throw new ApiError(403, 'forbidden: password is not the one in force');
  const change = { password: new_password };
  const changed = await users.change(user.id, change, asker(caller.name, request)).catch(refuse);
  return begun(options, request, subjectOf(changed), changed.name);
}

/** Begins a session and gives its cookie. */
async function begun(
  { sessions, callers, throttle }: AccountOptions,
  request: ApiRequest,
  subject: Subject,
  who: string,
): Promise<Reply> {
  throttle.succeeded(networkOf(request.peer));
  const token = await sessions.begin(subject, asker(who, request));
  const cookie = sessionCookie(token, SESSION_MS, request.isSecure);
  const headers = new Map(request.headers).set('cookie', cookie.split(';', 1)[0]);
  const reply = shownReply(callerOf({ callers }, { ...request, headers, proxyUsers: [] }));
  return { ...reply, headers: { 'set-cookie': cookie, 'cache-control': 'no-store' } };
}

function shownReply({ type, name, role, filter, session }: Caller): Reply {
  const shown = {
    ...{ type, name, role, security_filter: filter ?? null },
    ends: session === undefined ? null : new Date(session.startedMs + SESSION_MS).toISOString(),
  };
  return { ...resultReply(JSON.stringify(shown)), headers: { 'cache-control': 'no-store' } };
}

/** The JSON body of a request without parameters. Throws ApiError 400 and 415. */
export function bodyOf(request: ApiRequest): unknown {
  requireJsonType(request);
  requireKnownQuery(request, []);
  return parseJsonBody(request.body);
}

function subjectOf({ id, passwordNumber }: User): Subject {
  return { type: 'user', id, passwordNumber };
}

function asker(who: string, { peer }: ApiRequest): Asker {
  return { who, peer };
}

/** The result of `work`; throws ApiError 503 when too many passwords are being checked. */
function checked<T>(work: () => Promise<T>): Promise<T> {
  return work().catch(refuse);
}

/** Throws the ApiError for an EngineError of the registry. */
export function refuse(error: unknown): never {
  if (!(error instanceof EngineError)) throw error;
  if (error.code === 'USAGE') throw new ApiError(400, error.message);
  if (error.code !== 'LIMIT') {
    throw new ApiError(503, 'the change could not be written; see the log of the service');
  }
  throw new ApiError(503, error.message, { 'retry-after': '1' });
}
