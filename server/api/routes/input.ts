import {
  healthReply,
  inputAnswer,
  inputBody,
  openapiReply,
  plainText,
  readyReply,
  unreadyReply,
} from '../openapi/reply-schema.ts';
import { choice, text } from '../schema.ts';
import { INPUT_EXAMPLES } from './examples/input.ts';
import { type ApiParameter, JSON_TYPE, json } from './operation.ts';
import type { InputRoute, OperationRoute } from './route.ts';

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
export const INPUT_ROUTES: readonly InputRoute[] = [
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
    examples: INPUT_EXAMPLES.sendEvents,
  },
  {
    ...INPUT,
    id: 'sendEventsWithKeyElsewhere',
    path: '/v1/input',
    summary: 'Stores events; the key is not in the path',
    about: 'As the same with the key in the path.',
    parameters: PARAMETERS,
    examples: INPUT_EXAMPLES.sendEventsWithKeyElsewhere,
  },
];

/** Operations that tell how the service does. */
export const OPERATION_ROUTES: readonly OperationRoute[] = [
  {
    ...{ id: 'health', method: 'get', path: '/healthz', tag: 'Operation', access: 'anybody' },
    summary: 'Tells that the process answers',
    replies: json(healthReply),
    refusals: [],
    answer: (operation) => operation.health(),
    examples: INPUT_EXAMPLES.health,
  },
  {
    ...{ id: 'readiness', method: 'get', path: '/readyz', tag: 'Operation', access: 'anybody' },
    summary: 'Tells whether the service can do its work',
    about:
      '503 with the reasons while it cannot. `damaged_segments` is there when events of the past are lost.',
    replies: json(readyReply),
    unready: unreadyReply,
    refusals: [],
    answer: (operation) => operation.ready(),
    examples: INPUT_EXAMPLES.readiness,
  },
  {
    ...{ id: 'metrics', method: 'get', path: '/metrics', tag: 'Operation', access: 'overview' },
    summary: 'Numbers about the service, for Prometheus',
    replies: [{ type: 'text/plain', schema: plainText }],
    refusals: [],
    answer: (operation) => operation.metrics(),
    examples: INPUT_EXAMPLES.metrics,
  },
  {
    ...{ id: 'description', method: 'get', path: '/openapi.json', tag: 'Operation' },
    access: 'anybody',
    summary: 'This description',
    replies: json(openapiReply),
    refusals: [],
    answer: (operation) => operation.openapi(),
    examples: INPUT_EXAMPLES.description,
  },
];
