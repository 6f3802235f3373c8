import { type ApiExample, EXAMPLE_TIME } from './example.ts';

/** Requests of the routes of `analysis.ts` by their ids; a test runs each. */
export const ANALYSIS_EXAMPLES = {
  aggregateEvents: [
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
  executeAnalysis: [
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
  executeAnalysisByParameters: [
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
  discoverGroups: [
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
  discoverFieldsMetrics: [
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
  discoverAttributes: [
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
  discoverFacets: [
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
  completeSearch: [
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
} satisfies Record<string, readonly ApiExample[]>;
