import { EXAMPLE_TIME } from './example.ts';

/** A resource, and what its examples make and change. */
export interface Resource {
  name: string;
  /** Name of one of it, and of its operations. */
  one: string;
  operation: string;
  /** Name of many of it in ids of operations. */
  operations: string;
  made: readonly Record<string, unknown>[];
  /** As they are shown then. */
  shown: readonly Record<string, unknown>[];
  changed: Record<string, unknown>;
}

/** The resources that are listed, made, shown, changed and deleted alike. */
export const RESOURCES: readonly Resource[] = [
  {
    ...{ name: 'write_keys', one: 'a write key', operation: 'WriteKey', operations: 'WriteKeys' },
    made: [{ name: 'shop', daily_quota: { type: 'megabytes', value: 100 } }],
    shown: [
      {
        id: '1411424a85013563',
        name: 'shop',
        enabled: true,
        quota_reached: false,
        daily_usage: 0,
        daily_quota: { type: 'megabytes', value: 100 },
        ...{ days: [], last_seen: null, senders: [] },
      },
    ],
    changed: { enabled: false },
  },
  {
    ...{ name: 'read_keys', one: 'a read key', operation: 'ReadKey', operations: 'ReadKeys' },
    made: [{ name: 'shop', security_filter: 'syslog.appname:shop' }],
    shown: [{ id: 'c1ea827824fd55a5', name: 'shop', security_filter: 'syslog.appname:shop' }],
    changed: { security_filter: null },
  },
  {
    ...{ name: 'users', one: 'a user', operation: 'User', operations: 'Users' },
    made: [
      {
        name: 'ann',
        role: 'reader',
        password: 'correct horse battery',
        security_filter: 'syslog.appname:shop',
      },
    ],
    shown: [
      {
        ...{ id: '5e1f0c7a93b2d846', name: 'ann', role: 'reader' },
        ...{ security_filter: 'syslog.appname:shop', created: '2026-03-01T10:00:00.000Z' },
      },
    ],
    changed: { security_filter: null },
  },
  {
    ...{ name: 'fields', one: 'a field', operation: 'Field', operations: 'Fields' },
    made: [{ name: 'Verb', attribute: 'custom.http.verb' }],
    shown: [
      {
        id: 'verb',
        name: 'Verb',
        description: '',
        type: 'attribute',
        attribute: 'custom.http.verb',
      },
    ],
    changed: { description: 'The HTTP method' },
  },
  {
    ...{ name: 'tagsets', one: 'a tagset', operation: 'Tagset', operations: 'Tagsets' },
    made: [
      {
        name: 'Outcome',
        tags: [
          { name: 'Failed', query: 'http.status_code:>=500', color: '#d62728' },
          { name: 'Fine', query: 'http.status_code:*', color: '#2ca02c' },
        ],
      },
    ],
    shown: [
      {
        id: 'outcome',
        name: 'Outcome',
        description: '',
        type: 'tagset',
        tags: [
          { id: 'failed', name: 'Failed', color: '#d62728', query: 'http.status_code:>=500' },
          { id: 'fine', name: 'Fine', color: '#2ca02c', query: 'http.status_code:*' },
        ],
      },
    ],
    changed: { description: 'How a request ended' },
  },
  {
    ...{ name: 'metrics', one: 'a metric', operation: 'Metric', operations: 'Metrics' },
    made: [
      {
        ...{ name: 'Slowest answer', type: 'attribute', unit: 's' },
        ...{ attribute: 'custom.http.response_time', aggregation: 'max' },
      },
    ],
    shown: [
      {
        name: 'Slowest answer',
        type: 'attribute',
        unit: 's',
        attribute: 'custom.http.response_time',
        aggregation: 'max',
        id: 'slowest_answer',
        description: '',
      },
    ],
    changed: { unit: null },
  },
  {
    ...{ name: 'groups', one: 'a group', operation: 'Group', operations: 'Groups' },
    made: [{ id: 'shop', name: 'Shop', fields: ['verb', 'outcome'], metrics: ['slowest_answer'] }],
    shown: [
      {
        id: 'shop',
        name: 'Shop',
        fields: ['verb', 'outcome'],
        metrics: ['slowest_answer'],
        description: '',
      },
    ],
    changed: { description: 'What the shop is asked for' },
  },
  {
    ...{
      name: 'saved_analyses',
      one: 'a saved analysis',
      operation: 'SavedAnalysis',
      operations: 'SavedAnalyses',
    },
    made: [
      {
        ...{ name: 'Failed requests', kind: 'list', time: EXAMPLE_TIME },
        filters: [{ field: { id: 'outcome', values: ['failed'] } }],
      },
      {
        ...{ name: 'Requests by verb', kind: 'toplist', time: EXAMPLE_TIME },
        compute: [{ metric: { id: 'count' } }],
        groupBy: [{ field: { id: 'verb' } }],
      },
    ],
    shown: [
      {
        id: 'failed_requests',
        name: 'Failed requests',
        description: '',
        kind: 'list',
        time: { from: '2026-03-01T10:00:00Z', to: '2026-03-01T11:00:00Z' },
        filters: [{ field: { id: 'outcome', values: ['failed'] } }],
        columns: [],
      },
      {
        id: 'requests_by_verb',
        name: 'Requests by verb',
        description: '',
        kind: 'toplist',
        time: { from: '2026-03-01T10:00:00Z', to: '2026-03-01T11:00:00Z' },
        filters: [],
        compute: [{ metric: { id: 'count' } }],
        groupBy: [{ field: { id: 'verb' } }],
      },
    ],
    changed: { description: 'Answers of 500 and above' },
  },
  {
    ...{
      name: 'extensions',
      one: 'an extension',
      operation: 'Extension',
      operations: 'Extensions',
    },
    made: [
      {
        ...{ name: 'Shop lines', kind: 'grok', filter: 'syslog.appname:shop' },
        rules: 'order order %{integer:order.id} took %{number:order.seconds} s',
      },
    ],
    shown: [
      {
        id: 'shop_lines',
        name: 'Shop lines',
        description: '',
        enabled: false,
        filter: 'syslog.appname:shop',
        sources: ['message'],
        kind: 'grok',
        rules: 'order order %{integer:order.id} took %{number:order.seconds} s',
        helperRules: '',
        position: 17,
      },
    ],
    changed: { enabled: true, position: 0 },
  },
];
