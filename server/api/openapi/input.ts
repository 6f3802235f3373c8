import { choice, text } from '../schema.ts';
import {
  type ApiOperation,
  type ApiParameter,
  EXAMPLE_WRITE_KEY,
  JSON_TYPE,
  json,
} from './operation.ts';
import {
  healthReply,
  inputAnswer,
  inputBody,
  openapiReply,
  plainText,
  readyReply,
  unreadyReply,
} from './reply-schema.ts';

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

const inQuery = (name: string, about: string): ApiParameter => ({
  ...{ name, in: 'query', about },
  schema: text(),
});
const inHeader = (name: string, about: string): ApiParameter => ({
  ...{ name, in: 'header', about },
  schema: text(),
});

const PARAMETERS: readonly ApiParameter[] = [
  inQuery('hostname', 'The attribute `hostname` of events that have none.'),
  inQuery('appname', 'The attribute `appname` of events that have none.'),
  inQuery('username', 'The attribute `username` of events that have none.'),
  {
    name: 'debug',
    in: 'query',
    about: '`1`: what would become of the body is shown, and nothing is stored.',
    schema: choice('1'),
  },
  inHeader('X-Service-Add-IP', 'Attribute of each event that gets the address of the caller.'),
  inHeader('X-Service-Add-UserAgent', 'Attribute of each event that gets the caller’s User-Agent.'),
  inHeader('Content-Encoding', 'One of gzip, deflate, br, zstd and identity.'),
];

const INPUT = {
  method: 'post',
  tag: 'Input',
  access: 'writer',
  bodies: [
    { type: JSON_TYPE, schema: inputBody },
    { type: 'text/plain', schema: plainText },
    { type: 'application/x-ndjson', schema: plainText },
    { type: 'application/logplex-1', schema: plainText },
  ],
  isBodyOptional: true,
  replies: json(inputAnswer),
  refusals: [400, 413, 415, 429, 503, 507],
} as const;

/** The input API. */
export const INPUT_OPERATIONS: readonly ApiOperation[] = [
  {
    ...INPUT,
    id: 'sendEvents',
    path: '/v1/input/{write_key}',
    summary: 'Stores events',
    about:
      'All events of a request are stored, or none. 200 means that they are synced to disk. The body is a JSON object or an ' +
      'array of them, or lines: JSON, syslog or text.',
    parameters: [
      { name: 'write_key', in: 'path', about: 'A write key.', schema: text() },
      ...PARAMETERS,
    ],
    examples: [
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
  },
  {
    ...INPUT,
    id: 'sendEventsWithKeyElsewhere',
    path: '/v1/input',
    summary: 'Stores events; the key is not in the path',
    about: 'As the same with the key in the path.',
    parameters: PARAMETERS,
    examples: [
      {
        name: 'none',
        summary: 'A body without events',
        body: [],
        reply: { ok: true },
      },
    ],
  },
];

/** Operations that tell how the service does. */
export const OPERATION_OPERATIONS: readonly ApiOperation[] = [
  {
    ...{ id: 'health', method: 'get', path: '/healthz', tag: 'Operation', access: 'anybody' },
    summary: 'Tells that the process answers',
    replies: json(healthReply),
    refusals: [],
    examples: [{ name: 'health', summary: 'It does', reply: { ok: true } }],
  },
  {
    ...{ id: 'readiness', method: 'get', path: '/readyz', tag: 'Operation', access: 'anybody' },
    summary: 'Tells whether the service can do its work',
    about:
      '503 with the reasons while it cannot. `damaged_segments` is there when events of the past are lost.',
    replies: json(readyReply),
    unready: unreadyReply,
    refusals: [],
    examples: [{ name: 'ready', summary: 'It can', reply: { ok: true } }],
  },
  {
    ...{ id: 'metrics', method: 'get', path: '/metrics', tag: 'Operation', access: 'overview' },
    summary: 'Numbers about the service, for Prometheus',
    replies: [{ type: 'text/plain', schema: plainText }],
    refusals: [],
    examples: [
      {
        name: 'metrics',
        summary: 'All of them',
        isExcerpt: true,
        reply:
          '# HELP logseam_ready Whether /readyz answers 200.\n# TYPE logseam_ready gauge\nlogseam_ready 1\n',
      },
    ],
  },
  {
    ...{ id: 'description', method: 'get', path: '/openapi.json', tag: 'Operation' },
    access: 'anybody',
    summary: 'This description',
    replies: json(openapiReply),
    refusals: [],
    examples: [
      {
        name: 'description',
        summary: 'Its beginning',
        reply: { openapi: '3.1.0', paths: {} },
        isExcerpt: true,
      },
    ],
  },
];
