import { BODY_SCHEMAS, text } from '../schema.ts';
import {
  type ApiOperation,
  type ApiParameter,
  EXAMPLE_EVENT_ID,
  EXAMPLE_TIME,
  json,
  QUERY_ID,
  QUERY_REFUSALS,
} from './operation.ts';
import {
  cancelledReply,
  contextReply,
  exportLine,
  fetchReply,
  listReply,
  plainText,
  progressReply,
} from './reply-schema.ts';

const READ = { tag: 'Events', access: 'reader' } as const;
const POST_QUERY = {
  ...READ,
  method: 'post',
  parameters: [QUERY_ID],
  refusals: QUERY_REFUSALS,
} as const;

/** Events: one, many, all, those around one, and those that come. */
export const EVENT_OPERATIONS: readonly ApiOperation[] = [
  {
    ...{ ...POST_QUERY, id: 'listEvents', path: '/beta/events/list' },
    summary: 'A page of events',
    about: 'Newest first unless `order` says otherwise.',
    bodies: json(BODY_SCHEMAS.list),
    replies: json(listReply),
    examples: [
      {
        name: 'search',
        summary: 'Whole events that a search finds',
        body: {
          time: EXAMPLE_TIME,
          filters: [{ search: { query: 'orders http.status_code:>=500' } }],
          event: true,
        },
        reply: {
          result: {
            events: [
              {
                id: 'KftqqVJ0tHb0W4YvkmQXEw',
                date: '2026-03-01T10:02:00.000Z',
                event: {
                  custom: {
                    timestamp: '2026-03-01T10:02:00Z',
                    http: { verb: 'GET', status_code: 503, response_time: 1.8 },
                    user: 'ann',
                  },
                  syslog: { appname: 'shop' },
                  message: 'GET /orders failed: no database',
                },
              },
            ],
          },
        },
      },
      {
        name: 'page',
        summary: 'The next page, with columns',
        body: {
          time: EXAMPLE_TIME,
          columns: [{ attribute: 'custom.http.verb' }, { field: 'syslog.appname' }],
          limit: 2,
          afterEvent: EXAMPLE_EVENT_ID,
        },
        reply: {
          result: {
            events: [
              {
                id: '8vC0mBzq3Yd5hTnWk1rPXg',
                date: '2026-03-01T10:01:00.000Z',
                columns: ['POST', 'shop'],
              },
              {
                id: 'c2RMu7FJ_xE-9pLsQaVt4A',
                date: '2026-03-01T10:00:00.000Z',
                columns: ['GET', 'shop'],
              },
            ],
          },
        },
      },
    ],
  },
  {
    ...{ ...POST_QUERY, id: 'fetchEvent', path: '/beta/events/fetch' },
    summary: 'One event',
    bodies: json(BODY_SCHEMAS.fetch),
    replies: json(fetchReply),
    refusals: [...QUERY_REFUSALS, 404],
    examples: [
      {
        name: 'event',
        summary: 'A whole event by its id',
        body: { id: EXAMPLE_EVENT_ID, event: true },
        reply: {
          result: {
            id: 'KftqqVJ0tHb0W4YvkmQXEw',
            date: '2026-03-01T10:02:00.000Z',
            event: {
              custom: {
                timestamp: '2026-03-01T10:02:00Z',
                http: { verb: 'GET', status_code: 503, response_time: 1.8 },
                user: 'ann',
              },
              syslog: { appname: 'shop' },
              message: 'GET /orders failed: no database',
            },
          },
        },
      },
    ],
  },
  {
    ...{ ...POST_QUERY, id: 'contextOfEvent', path: '/beta/events/context' },
    summary: 'An event and those around it',
    bodies: json(BODY_SCHEMAS.context),
    replies: json(contextReply),
    refusals: [...QUERY_REFUSALS, 404],
    examples: [
      {
        name: 'context',
        summary: 'What came before an event',
        body: { id: EXAMPLE_EVENT_ID, before: 2, after: 0, columns: [{ attribute: 'message' }] },
        reply: {
          result: {
            before: [
              {
                id: 'c2RMu7FJ_xE-9pLsQaVt4A',
                date: '2026-03-01T10:00:00.000Z',
                columns: ['GET /cart'],
              },
              {
                id: '8vC0mBzq3Yd5hTnWk1rPXg',
                date: '2026-03-01T10:01:00.000Z',
                columns: ['POST /orders'],
              },
            ],
            event: {
              id: 'KftqqVJ0tHb0W4YvkmQXEw',
              date: '2026-03-01T10:02:00.000Z',
              columns: ['GET /orders failed: no database'],
            },
            after: [],
          },
        },
      },
    ],
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
    examples: [
      {
        name: 'ndjson',
        summary: 'Whole events, oldest first',
        body: { time: EXAMPLE_TIME, order: 'asc', limit: 1 },
        reply: {
          id: 'c2RMu7FJ_xE-9pLsQaVt4A',
          date: '2026-03-01T10:00:00.000Z',
          event: {
            custom: {
              timestamp: '2026-03-01T10:00:00Z',
              http: { verb: 'GET', status_code: 200, response_time: 0.12 },
              user: 'ann',
            },
            syslog: { appname: 'shop' },
            message: 'GET /cart',
          },
        },
      },
      {
        name: 'csv',
        summary: 'Columns as CSV',
        body: {
          time: EXAMPLE_TIME,
          format: 'csv',
          columns: [{ attribute: 'custom.user' }, { attribute: 'message' }],
        },
        replyType: 'text/csv',
        reply:
          'id,date,custom.user,message\r\nKftqqVJ0tHb0W4YvkmQXEw,2026-03-01T10:02:00.000Z,ann,GET /orders failed: no database\r\n8vC0mBzq3Yd5hTnWk1rPXg,2026-03-01T10:01:00.000Z,bob,POST /orders\r\nc2RMu7FJ_xE-9pLsQaVt4A,2026-03-01T10:00:00.000Z,ann,GET /cart\r\n',
      },
    ],
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
export const TAIL_OPERATIONS: readonly ApiOperation[] = [
  {
    ...{ ...TAIL, id: 'tailEvents', method: 'get' },
    summary: 'Events as they come, as server-sent events',
    about:
      'Each message has an event as JSON, and an id. `event: dropped` tells how many were left out, `event: end` why it ended.',
    parameters: [...TAIL_PARAMETERS, QUERY_ID],
    refusals: [400, 409, 411, 429, 503],
    examples: [
      {
        name: 'tail',
        summary: 'Failures of a program',
        parameters: { query: 'syslog.appname:shop http.status_code:>=500', event: true },
        reply: 'retry: 2000\nid: Zk3Vw1bqTfW0uJ8yQ2eRhX7mNdLc5sPa9gKiOvB4tYxE6rHz\n\n',
      },
    ],
  },
  {
    ...{ ...TAIL, id: 'tailEventsByBody', method: 'post' },
    summary: 'The same, asked for by a body',
    bodies: json(BODY_SCHEMAS.tail),
    parameters: [QUERY_ID],
    refusals: [...QUERY_REFUSALS, 411],
    examples: [
      {
        name: 'tail',
        summary: 'Columns of all events',
        body: { event: false, columns: [{ attribute: 'message' }] },
        reply: 'retry: 2000\nid: Zk3Vw1bqTfW0uJ8yQ2eRhX7mNdLc5sPa9gKiOvB4tYxE6rHz\n\n',
      },
    ],
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
export const QUERY_OPERATIONS: readonly ApiOperation[] = [
  {
    ...{ ...QUERY, id: 'queryProgress', method: 'get' },
    summary: 'How far a query is',
    replies: json(progressReply),
    examples: [
      {
        name: 'answered',
        summary: 'A query that is not running any more',
        parameters: { query_id: 'report-7' },
        status: 404,
        reply: {
          error: { status: 404, message: 'the query "report-7" is unknown or answered' },
        },
      },
    ],
  },
  {
    ...{ ...QUERY, id: 'cancelQuery', method: 'delete' },
    summary: 'Cancels a query, which is then answered by 503',
    replies: json(cancelledReply),
    examples: [
      {
        name: 'answered',
        summary: 'A query that is not running any more',
        parameters: { query_id: 'report-7' },
        status: 404,
        reply: {
          error: { status: 404, message: 'the query "report-7" is unknown or answered' },
        },
      },
    ],
  },
];
