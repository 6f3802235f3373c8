import { DEFINITION_SCHEMAS } from '../admin/definition-schema.ts';
import { executeBody } from '../read/execute-schema.ts';
import { BODY_SCHEMAS, text } from '../schema.ts';
import {
  type ApiOperation,
  type ApiParameter,
  BODY_REFUSALS,
  EXAMPLE_TIME,
  json,
  QUERY_ID,
  QUERY_REFUSALS,
} from './operation.ts';
import {
  aggregateReply,
  attributesReply,
  completeReply,
  discoverReply,
  executeReply,
  facetsReply,
  groupsReply,
} from './reply-schema.ts';

const POST = { method: 'post', access: 'reader' } as const;
const ANALYSIS = { name: 'analysis_id', in: 'path', about: 'The id of a saved analysis.' } as const;
const EXECUTE = {
  path: '/beta/saved_analyses/{analysis_id}/execute',
  tag: 'Analyses',
  access: 'reader',
  replies: json(executeReply),
} as const;
const executed = executeBody.properties;
const time = executed.time.properties;

const EXECUTE_PARAMETERS: readonly ApiParameter[] = [
  { ...ANALYSIS, schema: text() },
  { name: 'from', in: 'query', about: 'Replaces that of the saved time.', schema: time.from },
  { name: 'to', in: 'query', about: 'Replaces that of the saved time.', schema: time.to },
  { name: 'timezone', in: 'query', about: 'The zone of the range.', schema: time.timezone },
  { name: 'offset', in: 'query', about: 'East of UTC, without a zone.', schema: time.offset },
  { name: 'limit', in: 'query', about: 'Rows at most.', schema: executed.limit },
  {
    ...{ name: 'field.from', in: 'query' },
    about: 'Events of a list view that are left out before the page.',
    schema: executed['field.from'],
  },
  { name: 'format', in: 'query', about: 'Names, colours, texts.', schema: executed.format },
  QUERY_ID,
];

/** Numbers about events, and analyses that were saved. */
export const ANALYSIS_OPERATIONS: readonly ApiOperation[] = [
  {
    ...{ ...POST, id: 'aggregateEvents', path: '/beta/events/aggregate', tag: 'Analyses' },
    summary: 'Metrics in buckets of events',
    about: 'groupBys nest: the top buckets of the first, inside each those of the second.',
    parameters: [QUERY_ID],
    bodies: json(BODY_SCHEMAS.aggregate),
    replies: json(aggregateReply),
    refusals: QUERY_REFUSALS,
    examples: [
      {
        name: 'top',
        summary: 'Events and the mean response time by verb, in natural order',
        body: {
          time: EXAMPLE_TIME,
          compute: [
            { metric: { id: 'count' } },
            { metric: { id: 'max:custom.http.response_time', output: 'slowest' } },
          ],
          groupBy: [
            {
              field: {
                ...{ id: 'custom.http.verb', output: 'verb', limit: 1 },
                order: { '@natural': 'asc' },
              },
            },
          ],
        },
        reply: {
          result: {
            aggregates: [{ bucket: { verb: 'GET' }, values: { count: 2, slowest: 1.8 } }],
            lastBucket: { verb: 'GET' },
          },
        },
      },
      {
        name: 'series',
        summary: 'Events over time, formatted',
        body: {
          time: { ...EXAMPLE_TIME, timezone: 'Europe/Paris' },
          compute: [{ timeseries: { metricId: 'count', interval: '30m' } }],
          format: true,
        },
        reply: {
          result: {
            aggregates: [
              {
                bucket: {},
                values: {
                  count: [
                    { time: '2026-03-01T11:00:00.000+01:00', value: { value: 3, formatted: '3' } },
                    { time: '2026-03-01T11:30:00.000+01:00', value: { value: 0, formatted: '0' } },
                  ],
                },
              },
            ],
          },
        },
      },
    ],
  },
  {
    ...{ ...EXECUTE, id: 'executeAnalysis', method: 'post' },
    summary: 'Executes a saved analysis',
    about: 'What the body does not have is as it was saved.',
    parameters: [{ ...ANALYSIS, schema: text() }, QUERY_ID],
    bodies: json(executeBody),
    isBodyOptional: true,
    refusals: [...QUERY_REFUSALS, 404],
    examples: [
      {
        name: 'list',
        summary: 'A list view',
        parameters: { analysis_id: 'failed_requests' },
        body: { limit: 1 },
        reply: {
          result: {
            events: [
              {
                id: 'KftqqVJ0tHb0W4YvkmQXEw',
                date: '2026-03-01T10:02:00.000Z',
                custom: {
                  timestamp: '2026-03-01T10:02:00Z',
                  http: { verb: 'GET', status_code: 503, response_time: 1.8 },
                  user: 'ann',
                },
                syslog: { appname: 'shop' },
                message: 'GET /orders failed: no database',
                reception: { date: '2026-11-21T18:30:41.414Z' },
              },
            ],
          },
        },
      },
      {
        name: 'toplist',
        summary: 'A top list',
        parameters: { analysis_id: 'requests_by_verb' },
        body: { format: true },
        reply: {
          result: {
            values: [
              {
                time: 1772359200000,
                fields: { f0: { id: 'GET', name: 'GET', color: '#30cfa7' } },
                metrics: { m0: { value: 2, formatted: '2' } },
              },
              {
                time: 1772359200000,
                fields: { f0: { id: 'POST', name: 'POST', color: '#50e250' } },
                metrics: { m0: { value: 1, formatted: '1' } },
              },
            ],
          },
        },
      },
    ],
  },
  {
    ...{ ...EXECUTE, id: 'executeAnalysisByParameters', method: 'get' },
    summary: 'Executes a saved analysis; what is asked of it stands in the query',
    parameters: EXECUTE_PARAMETERS,
    refusals: [400, 404, 409, 429, 503],
    examples: [
      {
        name: 'toplist',
        summary: 'A top list of another time',
        parameters: {
          ...{ analysis_id: 'requests_by_verb', from: '2026-03-01T10:01:00Z' },
          ...{ to: '2026-03-01T11:00:00Z', limit: 1 },
        },
        reply: {
          result: { values: [{ time: 1772359260000, fields: { f0: 'GET' }, metrics: { m0: 1 } }] },
        },
      },
    ],
  },
];

const DISCOVERY = { ...POST, tag: 'Discovery' } as const;

/** Operations of discovery. */
export const DISCOVERY_OPERATIONS: readonly ApiOperation[] = [
  {
    ...{ ...DISCOVERY, id: 'discoverGroups', path: '/beta/discover/groups' },
    summary: 'All groups of fields and metrics',
    bodies: json(DEFINITION_SCHEMAS.discoverGroups),
    replies: json(groupsReply),
    refusals: BODY_REFUSALS,
    examples: [
      {
        name: 'groups',
        summary: 'All of them',
        body: {},
        reply: {
          result: {
            groups: [
              { id: 'default', name: 'Default', description: 'What every service has' },
              { id: 'shop', name: 'Shop', description: '' },
            ],
          },
        },
      },
    ],
  },
  {
    ...{ ...DISCOVERY, id: 'discoverFieldsMetrics', path: '/beta/discover/fields_metrics' },
    summary: 'Fields and metrics',
    bodies: json(DEFINITION_SCHEMAS.discover),
    replies: json(discoverReply),
    refusals: BODY_REFUSALS,
    examples: [
      {
        name: 'group',
        summary: 'Those of a group',
        body: { fields: true, metrics: true, groups: ['shop'] },
        reply: {
          result: {
            fields: [
              {
                id: 'verb',
                name: 'Verb',
                description: '',
                type: 'attribute',
                attribute: 'custom.http.verb',
              },
              {
                id: 'outcome',
                name: 'Outcome',
                description: '',
                type: 'tagset',
                tags: [
                  { id: 'failed', name: 'Failed', color: '#d62728' },
                  { id: 'fine', name: 'Fine', color: '#2ca02c' },
                ],
              },
            ],
            metrics: [
              {
                id: 'slowest_answer',
                name: 'Slowest answer',
                description: '',
                type: 'attribute',
                attribute: 'custom.http.response_time',
                aggregation: 'max',
              },
            ],
          },
        },
      },
    ],
  },
  {
    ...{ ...DISCOVERY, id: 'discoverAttributes', path: '/beta/discover/attributes' },
    summary: 'The attributes that events have, and their most frequent values',
    parameters: [QUERY_ID],
    bodies: json(BODY_SCHEMAS.attributes),
    replies: json(attributesReply),
    refusals: QUERY_REFUSALS,
    examples: [
      {
        name: 'attributes',
        summary: 'Those below a prefix',
        body: { time: EXAMPLE_TIME, prefix: 'custom.http', limit: 2, values: 1 },
        reply: {
          result: {
            attributes: [
              {
                attribute: 'custom.http.response_time',
                kinds: ['number'],
                events: 3,
                distinct: 3,
                values: [{ value: 0.12, count: 1 }],
                min: 0.12,
                max: 1.8,
              },
              {
                attribute: 'custom.http.status_code',
                kinds: ['number'],
                events: 3,
                distinct: 3,
                values: [{ value: 200, count: 1 }],
                min: 200,
                max: 503,
              },
            ],
          },
        },
      },
    ],
  },
  {
    ...{ ...DISCOVERY, id: 'discoverFacets', path: '/beta/discover/facets' },
    summary: 'The most frequent values of some attributes',
    parameters: [QUERY_ID],
    bodies: json(BODY_SCHEMAS.facets),
    replies: json(facetsReply),
    refusals: QUERY_REFUSALS,
    examples: [
      {
        name: 'facets',
        summary: 'Two attributes',
        body: {
          time: EXAMPLE_TIME,
          fields: ['custom.http.verb', 'custom.http.status_code'],
          limit: 1,
        },
        reply: {
          result: {
            facets: [
              { field: 'custom.http.verb', values: [{ value: 'GET', count: 2 }], more: true },
              { field: 'custom.http.status_code', values: [{ value: 200, count: 1 }], more: true },
            ],
          },
        },
      },
    ],
  },
  {
    ...{ ...DISCOVERY, id: 'completeSearch', path: '/beta/discover/complete' },
    summary: 'What may stand at a place of a search',
    parameters: [QUERY_ID],
    bodies: json(BODY_SCHEMAS.complete),
    replies: json(completeReply),
    refusals: QUERY_REFUSALS,
    examples: [
      {
        name: 'name',
        summary: 'A name that is begun',
        body: { query: 'http.st', time: EXAMPLE_TIME, limit: 3 },
        reply: {
          result: {
            from: 0,
            to: 7,
            suggestions: [{ text: 'http.status_code:', kind: 'attribute', count: 3 }],
          },
        },
      },
      {
        name: 'value',
        summary: 'Values of an attribute',
        body: { query: 'http.verb:', time: EXAMPLE_TIME, limit: 2 },
        reply: {
          result: {
            from: 10,
            to: 10,
            suggestions: [
              { text: 'GET', kind: 'value', count: 2 },
              { text: 'POST', kind: 'value', count: 1 },
            ],
          },
        },
      },
    ],
  },
];
