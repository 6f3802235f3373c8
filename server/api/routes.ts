import { EngineError } from '../../engine/base/errors.ts';
import { shown } from '../language/shown.ts';
import type { JobAnswer, QueryJob } from '../query/job.ts';
import { LiveQueries, type QueryProgress } from '../query/live-queries.ts';
import { HeldAnswer } from '../query/load/held-answer.ts';
import { QueryRefused } from '../query/refusal.ts';
import { withoutKeys, withoutLongWords } from '../safe-text.ts';
import type { AuthFailures } from './access/failures.ts';
import { corsHeaders, preflightReply } from './cors.ts';
import { parseQueryBody } from './json.ts';
import { aggregateEvents } from './read/aggregate.ts';
import { executeAnalysis } from './read/analyses.ts';
import { discoverAttributes } from './read/attributes.ts';
import { completeSearch } from './read/complete.ts';
import { contextOfEvent } from './read/context.ts';
import { discoverFieldsMetrics, discoverGroups } from './read/discover.ts';
import { fetchEvent, listEvents } from './read/events.ts';
import { exportEvents } from './read/export.ts';
import { discoverFacets } from './read/facets.ts';
import { closing, liveQuery, queryOf } from './read/queries.ts';
import { tailEvents } from './read/tail.ts';
import { ApiError, type ApiRequest, errorReply, type Reply } from './reply.ts';
import type { Resolver } from './resolver.ts';
import {
  type DefinitionTable,
  keyOf,
  type OpenTails,
  type ReadContext,
  type ReadKey,
  type ReadRoute,
  requireJsonType,
  requireKnownQuery,
} from './route.ts';

/** Answers about the service's operation. */
export interface Operation {
  /** Tells whether the service can do its work now. */
  ready(): Reply;
  metrics(): Reply;
  /** The description of the interface. */
  openapi(): Reply;
  /** Set when anybody may read the metrics, which tell the names and the volumes of keys. */
  metricsOpen: boolean;
  /** Reports whether the request carries the administration's token. */
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
   * Runs a query of the key with that id in a query worker, and writes into `progress` how far it is; its answer counts as
   * memory until `held` lets it go. Rejects with EngineError and QueryRefused.
   */
  run(
    job: QueryJob,
    signal: AbortSignal,
    key: string,
    progress?: QueryProgress,
    held?: HeldAnswer,
  ): Promise<JobAnswer>;
  tails: OpenTails;
  nowMs(): number;
  /** Events that are reached of a range of more than a day. */
  boundEvents: number;
  /** Answers everything below `/admin/api/`, its own keys and refusals included. */
  admin(request: ApiRequest): Promise<Reply>;
  health(): Reply;
  operation: Operation;
  /** Receives every error that is answered by 500. */
  log(error: unknown): void;
}

const ADMIN_PREFIX = '/admin/api/';
/** When a query that was refused for load may come again. */
const RETRY_SECONDS = '1';
const HEALTH_PATH = '/healthz';
const READY_PATH = '/readyz';
const METRICS_PATH = '/metrics';
const OPENAPI_PATH = '/openapi.json';
const TAIL_PATH = '/beta/events/tail';
const QUERY_PATH = /^\/beta\/queries\/([^/]+)$/;
const EXECUTE_PATH = /^\/beta\/saved_analyses\/([^/]+)\/execute$/;

const READ_ROUTES: ReadonlyMap<string, ReadRoute> = new Map([
  ['/beta/events/list', listEvents],
  ['/beta/events/fetch', fetchEvent],
  ['/beta/events/export', exportEvents],
  ['/beta/events/context', contextOfEvent],
  ['/beta/events/aggregate', aggregateEvents],
  ['/beta/discover/groups', discoverGroups],
  ['/beta/discover/fields_metrics', discoverFieldsMetrics],
  ['/beta/discover/attributes', discoverAttributes],
  ['/beta/discover/facets', discoverFacets],
  ['/beta/discover/complete', completeSearch],
]);

/** Paths that take no body as an empty object, without a content type. */
const BARE_PATHS: ReadonlySet<string> = new Set(['/beta/discover/groups']);

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
    if (request.path.startsWith(ADMIN_PREFIX)) {
      return answered(dependencies, () => dependencies.admin(request));
    }
    const reply = await answered(dependencies, () => route(dependencies, live, request));
    watchStream(dependencies, reply);
    return { ...reply, headers: { ...reply.headers, ...corsHeaders() } };
  };
}

/** Tells of what breaks a reply that was begun: nobody is answered by 500 any more. */
function watchStream({ log }: RouteDependencies, reply: Reply): void {
  const { stream } = reply;
  if (stream === undefined) return;
  reply.stream = async (sink) => {
    try {
      await stream(sink);
    } catch (error) {
      if (refusalOf(error).status === 500) log(error);
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
  if (request.path === HEALTH_PATH) {
    requireMethod(request, ['GET', 'HEAD']);
    return dependencies.health();
  }
  if (request.path === READY_PATH) {
    requireMethod(request, ['GET', 'HEAD']);
    return dependencies.operation.ready();
  }
  if (request.path === OPENAPI_PATH) {
    requireMethod(request, ['GET', 'HEAD']);
    return dependencies.operation.openapi();
  }
  if (request.path === METRICS_PATH) {
    requireMethod(request, ['GET', 'HEAD']);
    requireOverview(dependencies, request);
    return dependencies.operation.metrics();
  }
  const asked = QUERY_PATH.exec(request.path)?.[1];
  if (asked !== undefined) {
    requireMethod(request, ['GET', 'DELETE']);
    return liveQuery(live, asked, request, authenticate(dependencies, request));
  }
  const analysis = EXECUTE_PATH.exec(request.path)?.[1];
  if (analysis !== undefined) {
    requireMethod(request, ['GET', 'POST']);
    return withContext(dependencies, live, request, (context) =>
      executeAnalysis(analysis, request, context),
    );
  }
  if (request.path === TAIL_PATH) {
    requireMethod(request, ['GET', 'POST']);
    return withContext(dependencies, live, request, async (context) =>
      tailEvents(request, context),
    );
  }
  const read = READ_ROUTES.get(request.path);
  if (read === undefined) {
    throw new ApiError(404, `the path ${shown(withoutLongWords(request.path))} does not exist`);
  }
  requireMethod(request, ['POST']);
  return withContext(dependencies, live, request, (context) => {
    const isBare = request.body.length === 0 && BARE_PATHS.has(request.path);
    if (!isBare) requireJsonType(request);
    requireKnownQuery(request);
    return read({ ...context, body: isBare ? {} : parseQueryBody(request.body) });
  });
}

/**
 * The reply of `answer`, which is given what a request is answered from; its body is not read yet. Rejects with ApiError
 * 401 and 403, and because of an id of the query 400 and 409.
 */
async function withContext(
  dependencies: RouteDependencies,
  live: LiveQueries,
  request: ApiRequest,
  answer: (context: ReadContext) => Promise<Reply>,
): Promise<Reply> {
  const key = authenticate(dependencies, request);
  const query = queryOf(live, request, key);
  const signal = query?.signal ?? request.signal;
  const packing = acceptsGzip(request.headers.get('accept-encoding')) ? { gzip: true } : {};
  const held = new HeldAnswer();
  const context: ReadContext = {
    body: undefined,
    key,
    definitions: dependencies.definitions,
    resolver: dependencies.resolver,
    nowMs: dependencies.nowMs(),
    boundEvents: dependencies.boundEvents,
    currentKey: () => authenticate(dependencies, request),
    run: (job) => dependencies.run({ ...job, ...packing }, signal, key.id, query?.progress, held),
    tails: dependencies.tails,
    signal,
  };
  try {
    return { ...(await closing(query, async () => answer(context))), over: () => held.release() };
  } catch (error) {
    held.release();
    throw error;
  }
}

/** Reports whether a client takes gzip. Source: RFC 9110, 12.5.3. */
function acceptsGzip(accepted: string | undefined): boolean {
  return (accepted ?? '').split(',').some((element) => {
    const [coding, ...parameters] = element.toLowerCase().split(';');
    const isRefused = parameters.some((parameter) => /^\s*q=0(?:\.0*)?\s*$/.test(parameter));
    return ['gzip', 'x-gzip'].includes(coding.trim()) && !isRefused;
  });
}

function requireMethod(request: ApiRequest, allowed: string[]): void {
  if (allowed.includes(request.method)) return;
  const allow = [...allowed, 'OPTIONS'].join(', ');
  throw new ApiError(405, `the method ${shown(request.method)} is not allowed; allowed: ${allow}`, {
    allow,
  });
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
    failures.note('read', request.peer);
    throw new ApiError(
      401,
      'the caller could not be authenticated: a read key is missing; allowed: header x-api-key or ' +
        'query parameter api_key',
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
