import { type ApiExample, EXAMPLE_WRITE_KEY } from './example.ts';

/** The events that the other examples find. */
const EXAMPLE_EVENTS = [
  {
    timestamp: '2026-03-01T10:00:00Z',
    syslog: { appname: 'shop' },
    http: { verb: 'GET', status_code: 200, response_time: 0.12 },
    user: 'ann',
    message: 'GET /cart',
  },
  {
    timestamp: '2026-03-01T10:01:00Z',
    syslog: { appname: 'shop' },
    http: { verb: 'POST', status_code: 201, response_time: 0.34 },
    user: 'bob',
    message: 'POST /orders',
  },
  {
    timestamp: '2026-03-01T10:02:00Z',
    syslog: { appname: 'shop' },
    http: { verb: 'GET', status_code: 503, response_time: 1.8 },
    user: 'ann',
    message: 'GET /orders failed: no database',
  },
];

/** Requests of the routes of `input.ts` by their ids; a test runs each. */
export const INPUT_EXAMPLES = {
  sendEvents: [
    {
      name: 'events',
      summary: 'Three events with dates of their own',
      parameters: { write_key: EXAMPLE_WRITE_KEY },
      body: EXAMPLE_EVENTS,
      reply: { ok: true },
    },
    {
      name: 'lines',
      summary: 'Lines of syslog and of text',
      parameters: { write_key: EXAMPLE_WRITE_KEY, hostname: 'web-1' },
      type: 'text/plain',
      body: '<13>1 - - shop - - - cache=warm took=12\nplain text\n',
      reply: { ok: true },
    },
    {
      name: 'debug',
      summary: 'What would become of a line',
      parameters: { write_key: EXAMPLE_WRITE_KEY, debug: '1' },
      type: 'text/plain',
      body: '<13>1 2026-03-01T10:00:00Z web-1 shop - - - cache=warm took=12',
      reply: {
        ok: true,
        debug: true,
        events: [
          {
            date: '2026-03-01T10:00:00.000Z',
            event: {
              custom: { cache: 'warm', took: 12 },
              syslog: {
                ...{ prival: 13, severity: 5, facility: 1, version: 1 },
                ...{ timestamp: '2026-03-01T10:00:00Z', hostname: 'web-1', appname: 'shop' },
              },
              message: 'cache=warm took=12',
            },
          },
        ],
        tookMs: 0.2,
      },
    },
  ],
  sendEventsWithKeyElsewhere: [
    {
      name: 'none',
      summary: 'A body without events',
      body: [],
      reply: { ok: true },
    },
  ],
  health: [{ name: 'health', summary: 'It does', reply: { ok: true } }],
  readiness: [{ name: 'ready', summary: 'It can', reply: { ok: true } }],
  metrics: [
    {
      name: 'metrics',
      summary: 'All of them',
      isExcerpt: true,
      reply:
        '# HELP logseam_ready Whether /readyz answers 200.\n# TYPE logseam_ready gauge\nlogseam_ready 1\n',
    },
  ],
  description: [
    {
      name: 'description',
      summary: 'Its beginning',
      reply: { openapi: '3.1.0', paths: {} },
      isExcerpt: true,
    },
  ],
} satisfies Record<string, readonly ApiExample[]>;
