import { type TSchema, Type } from 'typebox';
import type { ApiExample } from './examples/example.ts';

/** Callers that may ask for an operation. `reader`: a read key; `overview`: see INTERFACE.md 14. */
export type Access = 'anybody' | 'writer' | 'reader' | 'admin' | 'overview' | 'login' | 'session';

/** A parameter of a path, of a query or in a header. */
export interface ApiParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  about: string;
  schema: TSchema;
  /** Set when its text is JSON. */
  isJson?: boolean;
}

/** A form that a body or a reply may have. */
export interface ApiContent {
  type: string;
  schema: TSchema;
}

/** Operation of the service. A path has one for each of its methods. */
export interface ApiOperation {
  id: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  path: string;
  tag: string;
  summary: string;
  about?: string;
  access: Access;
  parameters?: readonly ApiParameter[];
  /** Forms of the body; none: there is no body. */
  bodies?: readonly ApiContent[];
  /** Set when the body may be missing. */
  isBodyOptional?: boolean;
  replies: readonly ApiContent[];
  /** The reply by 503, when that is no error. */
  unready?: TSchema;
  /** Other statuses, each with an error, but those that all operations of its access have. */
  refusals: readonly number[];
  examples: readonly ApiExample[];
}

/** The type of most bodies. */
export const JSON_TYPE = 'application/json';

/** A body or a reply of JSON. */
export const json = (schema: TSchema): ApiContent[] => [{ type: JSON_TYPE, schema }];

/** Statuses of all requests with a body of JSON to the output API that are no success. */
export const BODY_REFUSALS: readonly number[] = [400, 413, 415];
/**
 * Refusals that all queries share: an id in use, a chunked request with a long answer, too many queries, and the
 * causes that stop one.
 */
export const QUERY_REFUSALS: readonly number[] = [...BODY_REFUSALS, 409, 411, 429, 503];

/** The header by which a query can be asked for. */
export const QUERY_ID: ApiParameter = {
  name: 'X-Query-Id',
  in: 'header',
  about:
    'A name for this query, under which its progress can be asked for and it can be cancelled.',
  schema: Type.String({ pattern: '^[\\w-]{1,64}$' }),
};
