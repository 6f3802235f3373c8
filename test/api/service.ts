import type { Predicate } from '../../engine/query/model/predicate.ts';
import { createRoutes, type RouteDependencies } from '../../server/api/dispatch.ts';
import type { ApiRequest, Reply } from '../../server/api/reply.ts';
import { NOTHING_DECLARED } from '../../server/api/resolver.ts';
import type { QueryJob } from '../../server/query/job.ts';
import { piecesOf } from '../support/answer.ts';

export const NOW = Date.UTC(2021, 2, 31, 12);
export const HIDDEN: Predicate = {
  type: 'value',
  paths: ['custom.t'],
  match: { type: 'text', text: 'a' },
};
export const LIST = '/beta/events/list';
export const FETCH = '/beta/events/fetch';
export const AGGREGATE = '/beta/events/aggregate';
export const TIME = { from: 'now-1h', to: 'now' };

/** Accounts that nobody has. */
const NOBODY = {
  callers: { of: () => undefined, readerOf: () => undefined },
} as unknown as RouteDependencies['account'];

/** Routes over fake dependencies, and what they were asked. Replies in pieces are made whole. */
export function service(changes: Partial<RouteDependencies> = {}) {
  const jobs: QueryJob[] = [];
  const logged: unknown[] = [];
  const routes = createRoutes({
    readKey: (key) => {
      if (key === 'reader') return { id: 'r1', filter: { type: 'all' } };
      return key === 'narrow' ? { id: 'r2', filter: HIDDEN } : undefined;
    },
    isWriteKey: (key) => key === 'writer',
    definitions: { list: () => [], get: () => undefined },
    resolver: NOTHING_DECLARED,
    run: async (job) => {
      jobs.push(job);
      return piecesOf('{"some":"thing"}');
    },
    tails: { open: () => async () => {}, placeOf: () => undefined },
    nowMs: () => NOW,
    boundEvents: 50_000_000,
    admin: async () => ({ status: 200, body: '"admin"' }),
    assets: { has: () => false, reply: () => ({ status: 404, body: '' }) },
    operation: {
      health: () => ({ status: 200, body: '{"ok":true}' }),
      ready: () => ({ status: 200, body: '{"ok":true}' }),
      metrics: () => ({ status: 200, body: 'x 1\n', contentType: 'text/plain' }),
      openapi: () => ({ status: 200, body: '{}' }),
      metricsOpen: false,
      failures: { note: () => false },
      isAdministrator: ({ headers }) => headers.get('authorization') === 'Bearer token',
    },
    account: NOBODY,
    log: (error) => logged.push(error),
    ...changes,
  });
  const answer = async (asked: ApiRequest): Promise<Reply> => {
    const { pieces, ...reply } = await routes(asked);
    return pieces === undefined ? reply : { ...reply, body: Buffer.concat(pieces).toString() };
  };
  return { answer, jobs, logged };
}

export interface Sent {
  method?: string;
  query?: [string, string][];
  headers?: Record<string, string>;
  body?: unknown;
  raw?: string;
}

export function request(path: string, sent: Sent = {}): ApiRequest {
  const headers = { 'x-api-key': 'reader', 'content-type': 'application/json', ...sent.headers };
  return {
    method: sent.method ?? 'POST',
    path,
    query: new Map(sent.query ?? []),
    headers: new Map(Object.entries(headers).filter(([, value]) => value !== '')),
    body: Buffer.from(sent.raw ?? JSON.stringify('body' in sent ? sent.body : {})),
    peer: '127.0.0.1',
    isSecure: false,
    signal: new AbortController().signal,
  };
}

/** The message of a refusal, which must have the error form. */
export function messageOf(reply: Reply): string {
  const { error } = JSON.parse(String(reply.body));
  if (error.status !== reply.status) throw new Error(`${error.status} is not ${reply.status}`);
  return error.message;
}
