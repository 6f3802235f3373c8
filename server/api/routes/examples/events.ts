import { type ApiExample, EXAMPLE_EVENT_ID, EXAMPLE_TIME } from './example.ts';

/** Requests of the routes of `events.ts` by their ids; a test runs each. */
export const EVENT_EXAMPLES = {
  listEvents: [
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
  fetchEvent: [
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
  contextOfEvent: [
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
  exportEvents: [
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
  tailEvents: [
    {
      name: 'tail',
      summary: 'Failures of a program',
      parameters: { query: 'syslog.appname:shop http.status_code:>=500', event: true },
      reply: 'retry: 2000\nid: Zk3Vw1bqTfW0uJ8yQ2eRhX7mNdLc5sPa9gKiOvB4tYxE6rHz\n\n',
    },
  ],
  tailEventsByBody: [
    {
      name: 'tail',
      summary: 'Columns of all events',
      body: { event: false, columns: [{ attribute: 'message' }] },
      reply: 'retry: 2000\nid: Zk3Vw1bqTfW0uJ8yQ2eRhX7mNdLc5sPa9gKiOvB4tYxE6rHz\n\n',
    },
  ],
  queryProgress: [
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
  cancelQuery: [
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
} satisfies Record<string, readonly ApiExample[]>;
