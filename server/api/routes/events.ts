import {
  cancelledReply,
  contextReply,
  exportLine,
  fetchReply,
  listReply,
  plainText,
  progressReply,
} from '../openapi/reply-schema.ts';
import { contextOfEvent } from '../read/context.ts';
import { fetchEvent, listEvents } from '../read/events.ts';
import { exportEvents } from '../read/export.ts';
import { cancelQuery, queryProgress } from '../read/queries.ts';
import { tailEvents } from '../read/tail-request.ts';
import { BODY_SCHEMAS, text } from '../schema.ts';
import { EVENT_EXAMPLES } from './examples/events.ts';
import { type ApiParameter, json, QUERY_ID, QUERY_REFUSALS } from './operation.ts';
import type { ReadRoute } from './route.ts';

const READ = { tag: 'Events', access: 'reader' } as const;
const POST_QUERY = {
  ...READ,
  method: 'post',
  parameters: [QUERY_ID],
  refusals: QUERY_REFUSALS,
} as const;

/** Events: one, many, all, those around one, and those that come. */
export const EVENT_ROUTES: readonly ReadRoute[] = [
  {
    ...{ ...POST_QUERY, id: 'listEvents', path: '/beta/events/list' },
    summary: 'A page of events',
    about: 'Newest first unless `order` says otherwise.',
    bodies: json(BODY_SCHEMAS.list),
    replies: json(listReply),
    answer: listEvents,
    examples: EVENT_EXAMPLES.listEvents,
  },
  {
    ...{ ...POST_QUERY, id: 'fetchEvent', path: '/beta/events/fetch' },
    summary: 'One event',
    bodies: json(BODY_SCHEMAS.fetch),
    replies: json(fetchReply),
    refusals: [...QUERY_REFUSALS, 404],
    answer: fetchEvent,
    examples: EVENT_EXAMPLES.fetchEvent,
  },
  {
    ...{ ...POST_QUERY, id: 'contextOfEvent', path: '/beta/events/context' },
    summary: 'An event and those around it',
    bodies: json(BODY_SCHEMAS.context),
    replies: json(contextReply),
    refusals: [...QUERY_REFUSALS, 404],
    answer: contextOfEvent,
    examples: EVENT_EXAMPLES.contextOfEvent,
  },
  {
    ...{ ...POST_QUERY, id: 'exportEvents', path: '/beta/events/export' },
    summary: 'All events of a selection',
    about:
      'A line of JSON an event, or CSV. The connection is cut when the rest cannot be given; what is missing otherwise is told ' +
      'by the last line of NDJSON.',
    bodies: json(BODY_SCHEMAS.export),
    replies: [
      { type: 'application/x-ndjson', schema: exportLine },
      { type: 'text/csv', schema: plainText },
    ],
    refusals: [...QUERY_REFUSALS, 411, 500],
    answer: exportEvents,
    examples: EVENT_EXAMPLES.exportEvents,
  },
];

const TAIL = {
  ...READ,
  path: '/beta/events/tail',
  replies: [{ type: 'text/event-stream', schema: plainText }],
} as const;
const tailed = BODY_SCHEMAS.tail.properties;
const TAIL_PARAMETERS: readonly ApiParameter[] = [
  { name: 'query', in: 'query', about: 'A search.', schema: tailed.query },
  { name: 'filters', in: 'query', about: 'As of a list.', schema: tailed.filters, isJson: true },
  { name: 'event', in: 'query', about: 'Whether whole events come.', schema: tailed.event },
  { name: 'columns', in: 'query', about: 'As of a list.', schema: tailed.columns, isJson: true },
  { name: 'timezone', in: 'query', about: 'The zone of the dates.', schema: tailed.timezone },
  {
    ...{ name: 'limit_per_second', in: 'query' },
    about: 'Events a second at most; those above are counted as dropped.',
    schema: tailed.limit_per_second,
  },
  {
    ...{ name: 'last_event_id', in: 'query' },
    about: 'The id of the last message that came, to go on behind it.',
    schema: tailed.last_event_id,
  },
  {
    ...{ name: 'Last-Event-ID', in: 'header' },
    about: 'The same, as browsers send it.',
    schema: text('the id of an event of a tail'),
  },
];

/** Events as they come. */
export const TAIL_ROUTES: readonly ReadRoute[] = [
  {
    ...{ ...TAIL, id: 'tailEvents', method: 'get' },
    summary: 'Events as they come, as server-sent events',
    about:
      'Each message has an event as JSON, and an id. `event: dropped` tells how many were left out, `event: end` why it ended.',
    parameters: [...TAIL_PARAMETERS, QUERY_ID],
    refusals: [400, 409, 411, 429, 503],
    answer: tailEvents,
    examples: EVENT_EXAMPLES.tailEvents,
  },
  {
    ...{ ...TAIL, id: 'tailEventsByBody', method: 'post' },
    summary: 'The same, asked for by a body',
    bodies: json(BODY_SCHEMAS.tail),
    parameters: [QUERY_ID],
    refusals: [...QUERY_REFUSALS, 411],
    answer: tailEvents,
    examples: EVENT_EXAMPLES.tailEventsByBody,
  },
];

const QUERY_PARAMETER: ApiParameter = {
  ...{ name: 'query_id', schema: text() },
  in: 'path',
  about: 'The X-Query-Id of a query of the same key that is not answered.',
};
const QUERY = {
  path: '/beta/queries/{query_id}',
  tag: 'Queries',
  access: 'reader',
  parameters: [QUERY_PARAMETER],
  refusals: [400, 404] as number[],
} as const;

/** Queries that are not answered. */
export const QUERY_ROUTES: readonly ReadRoute[] = [
  {
    ...{ ...QUERY, id: 'queryProgress', method: 'get' },
    summary: 'How far a query is',
    replies: json(progressReply),
    answer: queryProgress,
    examples: EVENT_EXAMPLES.queryProgress,
  },
  {
    ...{ ...QUERY, id: 'cancelQuery', method: 'delete' },
    summary: 'Cancels a query, which is then answered by 503',
    replies: json(cancelledReply),
    answer: cancelQuery,
    examples: EVENT_EXAMPLES.cancelQuery,
  },
];
