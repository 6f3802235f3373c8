/** The last 24 hours, as a saved analysis has them. */
const DAY = { from: 'now-24h', to: 'now' };

const search = (query: string): object[] => [{ search: { query } }];
const compute = (...ids: string[]): object[] => ids.map((id) => ({ metric: { id } }));
const byField = (id: string, limit = 10): object => ({ field: { id, limit } });
const byTime = (interval: string): object => ({ time: { interval } });

const attribute = (id: string, name: string, path: string): object => ({
  ...{ id, name, type: 'attribute', attribute: path },
});

/** Definitions of the demonstration by the resource of the administration that makes them, in their order. */
export const DEFINITIONS: readonly [resource: string, definitions: readonly object[]][] = [
  [
    'fields',
    [
      attribute('service', 'Service', 'custom.service'),
      attribute('host', 'Host', 'custom.host'),
      attribute('version', 'Version', 'custom.version'),
      attribute('page', 'Page', 'custom.http.request'),
      attribute('http_status', 'HTTP status', 'custom.http.status_code'),
      attribute('app', 'Application', 'custom.kubernetes.labels.app'),
      attribute('fault', 'Fault', 'custom.error.type'),
    ],
  ],
  [
    'tagsets',
    [
      {
        ...{ id: 'speed', name: 'Speed', description: 'How long visitors waited' },
        tags: [
          { name: 'Too slow', color: '#b3115b', query: 'http.response_time:>=2' },
          { name: 'Slow', color: '#d98500', query: 'http.response_time:[0.3 TO 2}' },
          { name: 'Fast', color: '#2b7a4b', query: 'http.response_time:<0.3' },
        ],
      },
    ],
  ],
  [
    'metrics',
    [
      {
        ...{ id: 'response_p95', name: 'Response time, 95 %', type: 'attribute', unit: 's' },
        ...{ attribute: 'custom.http.response_time', aggregation: 'pc95' },
      },
      {
        ...{ id: 'turnover', name: 'Turnover', type: 'attribute' },
        ...{ attribute: 'custom.order.amount', aggregation: 'sum' },
      },
      {
        ...{ id: 'visitors', name: 'Visitors', type: 'attribute' },
        ...{ attribute: 'custom.network.client_ip', aggregation: 'cardinality' },
      },
      {
        ...{ id: 'kilobytes_a_visitor', name: 'Kilobytes a visitor', type: 'formula', unit: 'kB' },
        formula: 'sum:custom.http.response_bytes / visitors / 1000',
      },
    ],
  ],
  [
    'groups',
    [
      {
        ...{ id: 'shop', name: 'Shop', description: 'What the shop is asked for' },
        fields: ['service', 'page', 'http_status', 'version', 'fault'],
        metrics: ['count', 'response_p95', 'turnover', 'visitors', 'kilobytes_a_visitor'],
      },
    ],
  ],
  [
    'saved_analyses',
    [
      {
        ...{ id: 'traffic', name: 'Traffic by status', kind: 'timeseries', time: DAY },
        ...{ compute: compute('count'), groupBy: [byField('log_status'), byTime('15m')] },
      },
      {
        ...{ id: 'response_times', name: 'Response times', kind: 'timeseries', time: DAY },
        ...{ compute: compute('response_p95'), groupBy: [byTime('15m')] },
      },
      {
        ...{ id: 'failed_payments', name: 'Failed payments by version', kind: 'table', time: DAY },
        filters: search('service:payment'),
        ...{ compute: compute('count', 'turnover') },
        groupBy: [byField('version'), byField('log_status')],
      },
      {
        ...{ id: 'slow_pages', name: 'Slowest pages', kind: 'toplist', time: DAY },
        ...{ compute: compute('response_p95', 'count'), groupBy: [byField('page')] },
      },
      {
        ...{ id: 'faults', name: 'Faults of the shop', kind: 'list', time: DAY },
        ...{
          filters: search('error.type:*'),
          columns: [{ field: 'service' }, { field: 'fault' }],
        },
      },
    ],
  ],
];
