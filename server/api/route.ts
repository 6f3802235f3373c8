import type { Predicate } from '../../engine/query/model/predicate.ts';
import { shown } from '../language/shown.ts';
import type { JobAnswer, QueryJob } from '../query/job.ts';
import type { LiveQueries } from '../query/live-queries.ts';
import type { Tails } from '../query/tail/tails.ts';
import type { Definitions } from '../registry/definitions.ts';
import { withoutLongWords } from '../safe-text.ts';
import { ApiError, type ApiRequest } from './reply.ts';
import type { Resolver } from './resolver.ts';
import { meantHint } from './schema-fault.ts';

/** A read key that a request was authenticated by. */
export interface ReadKey {
  id: string;
  /** The security filter: what the key may see. */
  filter: Predicate;
}

/** Requests' view of the definitions. */
export type DefinitionTable = Pick<Definitions, 'list' | 'get'>;

/** Context of a route of the output API: the key is known, the body is JSON of any shape. */
export interface ReadContext {
  request: ApiRequest;
  /** The parameter in the path; empty without one. */
  id: string;
  body: unknown;
  key: ReadKey;
  definitions: DefinitionTable;
  /** Meanings of declared ids. */
  resolver: Resolver;
  /** The time of the request, read once. */
  nowMs: number;
  /** Events that are reached of a range of more than a day. */
  boundEvents: number;
  /** The queries that are not answered. */
  live: LiveQueries;
  /** The key as it is now, for what goes on for long. Throws ApiError 401 when it is gone. */
  currentKey(): ReadKey;
  /** Runs a query; rejects when the engine cannot, or when the client goes away. */
  run(job: QueryJob): Promise<JobAnswer>;
  tails: OpenTails;
  /** Aborted when the client goes away, or has its query cancelled. */
  signal: AbortSignal;
}

/** Requests' view of the live tails. */
export type OpenTails = Pick<Tails, 'open' | 'placeOf'>;

/**
 * The key that a request carries: header `x-api-key`, else parameter `api_key`, else `Authorization`, as Bearer or in
 * either part of Basic. Source: INTERFACE.md 5.
 */
export function keyOf({ headers, query }: ApiRequest): string | undefined {
  const key = headers.get('x-api-key') ?? query.get('api_key') ?? authorized(headers);
  return key === '' ? undefined : key;
}

function authorized(headers: Map<string, string>): string | undefined {
  const match = /^(bearer|basic) +(\S+) *$/i.exec(headers.get('authorization') ?? '');
  if (match === null) return undefined;
  if (match[1].toLowerCase() === 'bearer') return match[2];
  const parts = Buffer.from(match[2], 'base64').toString('latin1').split(':');
  return parts.find((part) => part !== '');
}

/** Throws 415 unless the body is declared as JSON; parameters are allowed. Source: INTERFACE.md 4.1. */
export function requireJsonType(request: ApiRequest): void {
  const type = request.headers.get('content-type');
  if (type?.split(';', 1)[0].trim().toLowerCase() === 'application/json') return;
  const sent = type === undefined ? 'is missing' : `${shown(type)} is not allowed`;
  throw new ApiError(415, `the header Content-Type ${sent}; allowed: application/json`);
}

/** Throws 400 for a query parameter that is not `allowed`. Source: INTERFACE.md 4.1. */
export function requireKnownQuery(request: ApiRequest, allowed: readonly string[]): void {
  for (const name of request.query.keys()) {
    if (allowed.includes(name)) continue;
    const hint = meantHint(name, allowed);
    throw new ApiError(
      400,
      `the query parameter ${shown(withoutLongWords(name))} is unknown;${hint} allowed: ${allowed.join(', ')}`,
    );
  }
}
