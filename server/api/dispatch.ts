import { EngineError } from '../../engine/base/errors.ts';
import { shown } from '../language/shown.ts';
import type { JobAnswer, QueryJob } from '../query/job.ts';
import { LiveQueries, type QueryProgress } from '../query/live-queries.ts';
import { HeldAnswer } from '../query/load/held-answer.ts';
import { QueryRefused } from '../query/refusal.ts';
import type { Asker } from '../query/running-queries.ts';
import { withoutKeys, withoutLongWords } from '../safe-text.ts';
import type { AuthFailures } from './access/failures.ts';
import { ADMIN_PATH } from './admin/admin.ts';
import type { ConsoleAssets } from './console/assets.ts';
import { corsHeaders, preflightReply } from './cors.ts';
import { parseQueryBody } from './json.ts';
import { closing, queryOf } from './read/queries.ts';
import { ApiError, type ApiRequest, errorReply, type Reply, takesCoding } from './reply.ts';
import type { Resolver } from './resolver.ts';
import {
  type DefinitionTable,
  keyOf,
  type OpenTails,
  type ReadKey,
  requireJsonType,
  requireKnownQuery,
} from './route.ts';
import { RouteTable } from './routes/match.ts';
import { QUERY_ID } from './routes/operation.ts';
import type { AccountRoute, Operation, OperationRoute, ReadRoute } from './routes/route.ts';
import { ROUTES } from './routes/table.ts';
import type { AccountOptions } from './session/account.ts';

/** The state of the service, and who may know of it. */
export interface OperationAccess extends Operation {
  /** Anybody may read the metrics: they tell the names and the volumes of keys. */
  metricsOpen: boolean;
  /** The request carries the administration's token. */
  isAdministrator(request: ApiRequest): boolean;
  failures: Pick<AuthFailures, 'note'>;
}

/** Dependencies of the routes on the rest of the server. */
export interface RouteDependencies {
  /** The read key whose secret is `key`. */
  readKey(key: string): ReadKey | undefined;
  isWriteKey(key: string): boolean;
  definitions: DefinitionTable;
  resolver: Resolver;
  /**
   * Runs a query in a query worker, and writes into `progress` how far it is; its answer counts
   * as memory until `held` lets it go. Rejects with EngineError and QueryRefused.
   */
  run(
    job: QueryJob,
    signal: AbortSignal,
    asker: Asker,
    progress?: QueryProgress,
    held?: HeldAnswer,
  ): Promise<JobAnswer>;
  tails: OpenTails;
  nowMs(): number;
  /** Events that are reached of a range of more than a day. */
  boundEvents: number;
  /** Answers everything below `/admin/api/`, its own keys and refusals included. */
  admin(request: ApiRequest): Promise<Reply>;
  operation: OperationAccess;
  account: AccountOptions;
  /** The console's page and files. */
  assets: Pick<ConsoleAssets, 'has' | 'reply'>;
  /** Receives every error that is answered by 500, or that breaks off a reply whose client is still there. */
  log(error: unknown): void;
}

const ACCOUNT_PATH = '/account/';
/** When a query that was refused for load may come again. */
const RETRY_SECONDS = '1';
const decoder = new TextDecoder();
/** Bytes of a body of which a text is made; less of it is shown, so that no part of a key is. */
const TEXT_BYTES_MAX = 4_096;

const TABLE = new RouteTable<ReadRoute | AccountRoute | OperationRoute>(
  ROUTES.filter((route) => route.access !== 'admin' && route.access !== 'writer'),
);

/**
 * The function that answers every request but those of the input routes. It never rejects; its replies carry the CORS
 * headers, except those of the administration. Checks come in the order path, method, key, content type, query
 * parameters, body. Source: INTERFACE.md 4.1 and 7.
 */
export function createRoutes(
  dependencies: RouteDependencies,
): (request: ApiRequest) => Promise<Reply> {
  const live = new LiveQueries();
  return async (request) => {
    if (request.path.startsWith(ADMIN_PATH)) {
      return answered(dependencies, () => dependencies.admin(request));
    }
    if (dependencies.assets.has(request.path)) {
      return answered(dependencies, async () => dependencies.assets.reply(request));
    }
    const reply = await answered(dependencies, () => route(dependencies, live, request));
    watchStream(dependencies, reply);
    // Sessions are for the console, which is of the same origin.
    const cors = request.path.startsWith(ACCOUNT_PATH) ? {} : corsHeaders();
    return { ...reply, headers: { ...reply.headers, ...cors } };
  };
}

/** Logs what breaks off a reply that has begun: its client only sees the connection close. */
function watchStream({ log }: RouteDependencies, reply: Reply): void {
  const { stream } = reply;
  if (stream === undefined) return;
  reply.stream = async (sink) => {
    try {
      await stream(sink);
    } catch (error) {
      const isClientGone = error instanceof EngineError && error.code === 'CANCELLED';
      if (!isClientGone) log(error);
      throw error;
    }
  };
}

async function route(
  dependencies: RouteDependencies,
  live: LiveQueries,
  request: ApiRequest,
): Promise<Reply> {
  if (request.method === 'OPTIONS') return preflightReply(request);
  const match = TABLE.find(request.path, request.method, ['OPTIONS']);
  if (match === undefined) {
    throw new ApiError(404, `the path ${shown(withoutLongWords(request.path))} does not exist`);
  }
  const { route, id } = match;
  if (route.access === 'reader') return read(dependencies, live, request, route, id);
  if (isOfAccount(route)) return route.answer(dependencies.account, request, id);
  if (route.access === 'overview') requireOverview(dependencies, request);
  return route.answer(dependencies.operation);
}

function isOfAccount(route: AccountRoute | OperationRoute): route is AccountRoute {
  return route.access === 'login' || route.access === 'session';
}

/**
 * The reply to a request with a read key. Rejects with ApiError 401 and 403, and because of an id of the query 400 and
 * 409.
 */
async function read(
  dependencies: RouteDependencies,
  live: LiveQueries,
  request: ApiRequest,
  route: ReadRoute,
  id: string,
): Promise<Reply> {
  const key = authenticate(dependencies, request);
  const isQuery = route.parameters?.includes(QUERY_ID) === true;
  const query = isQuery ? queryOf(live, request, key) : undefined;
  const signal = query?.signal ?? request.signal;
  const packing = takesCoding(request, 'gzip', 'x-gzip') ? { gzip: true } : {};
  const held = new HeldAnswer();
  const textOf = (): string => textOfRequest(request, (text) => isKey(dependencies, text));
  const asker: Asker = { key: key.id, textOf };
  const answer = async (): Promise<Reply> =>
    route.answer({
      ...{ request, id, key, live, signal },
      body: bodyOf(route, request),
      definitions: dependencies.definitions,
      resolver: dependencies.resolver,
      nowMs: dependencies.nowMs(),
      boundEvents: dependencies.boundEvents,
      currentKey: () => authenticate(dependencies, request),
      run: (job) => dependencies.run({ ...job, ...packing }, signal, asker, query?.progress, held),
      tails: dependencies.tails,
    });
  try {
    return { ...(await closing(query, answer)), over: () => held.release() };
  } catch (error) {
    held.release();
    throw error;
  }
}

/** The beginning of a request, without keys that may be in it. */
function textOfRequest({ path, body }: ApiRequest, isOne: (text: string) => boolean): string {
  return withoutKeys(`${path} ${decoder.decode(body.subarray(0, TEXT_BYTES_MAX))}`, isOne);
}

/** The JSON body of a request; `undefined` of a route without one. Throws ApiError 400, 413 and 415. */
function bodyOf(
  { bodies, isBodyOptional, parameters = [] }: ReadRoute,
  request: ApiRequest,
): unknown {
  const isBare = isBodyOptional === true && request.body.length === 0;
  const hasBody = bodies !== undefined && !isBare;
  if (hasBody) requireJsonType(request);
  const names = parameters.flatMap((each) => (each.in === 'query' ? [each.name] : []));
  requireKnownQuery(request, [...names, 'api_key']);
  if (hasBody) return parseQueryBody(request.body);
  return isBare ? {} : undefined;
}

/** Throws ApiError unless the request may know of all keys. */
function requireOverview(dependencies: RouteDependencies, request: ApiRequest): void {
  const { metricsOpen, isAdministrator } = dependencies.operation;
  if (metricsOpen || isAdministrator(request)) return;
  if (authenticate(dependencies, request).filter.type === 'all') return;
  throw new ApiError(
    403,
    'forbidden: the read key has a security filter; allowed: one without, or the token of the file admin-token',
  );
}

function authenticate(dependencies: RouteDependencies, request: ApiRequest): ReadKey {
  const { failures } = dependencies.operation;
  const key = keyOf(request);
  if (key === undefined) {
    const reader = dependencies.account.callers.readerOf(request);
    if (reader !== undefined) return reader;
    failures.note('read', request.peer);
    throw new ApiError(
      401,
      'the caller could not be authenticated: a read key is missing; allowed: header x-api-key or ' +
        'authorization, query parameter api_key, or a session',
    );
  }
  const readKey = dependencies.readKey(key);
  if (readKey !== undefined) return readKey;
  if (dependencies.isWriteKey(key)) {
    throw new ApiError(403, 'forbidden: a write key cannot read; allowed: a read key');
  }
  failures.note('read', request.peer);
  throw new ApiError(401, 'the caller could not be authenticated: the read key is unknown');
}

/** The reply of `answer`, or the one that tells why there is none. */
async function answered(
  dependencies: RouteDependencies,
  answer: () => Promise<Reply>,
): Promise<Reply> {
  try {
    return await answer();
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal.status === 500) dependencies.log(error);
    // What was sent in a wrong place is told back, but for keys.
    refusal.message = withoutKeys(refusal.message, (text) => isKey(dependencies, text));
    return errorReply(refusal);
  }
}

function isKey({ readKey, isWriteKey }: RouteDependencies, text: string): boolean {
  return readKey(text) !== undefined || isWriteKey(text);
}

function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof QueryRefused) {
    const headers = error.mayRetry ? { 'retry-after': RETRY_SECONDS } : {};
    return new ApiError(error.status, error.message, headers);
  }
  if (error instanceof EngineError) {
    if (error.code === 'LIMIT') return new ApiError(400, error.message);
    if (error.code === 'CANCELLED') {
      return new ApiError(503, 'the query was cancelled: the client left');
    }
    if (error.code === 'CLOSED') return new ApiError(503, 'the service is stopping');
  }
  return new ApiError(500, 'internal error');
}
