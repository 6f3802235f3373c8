import type { ApiExample } from './example.ts';

/** Requests of the routes of `admin.ts` by their ids; a test runs each. */
export const ADMIN_EXAMPLES = {
  testExtensions: [
    {
      name: 'definition',
      summary: 'One that is not there yet',
      body: {
        extension: { kind: 'keyvalue' },
        samples: ['{"timestamp":"2026-03-01T10:00:00Z","message":"user=ann ms=12"}'],
      },
      reply: {
        result: {
          events: [
            {
              event: {
                custom: { timestamp: '2026-03-01T10:00:00Z', user: 'ann', ms: 12 },
                message: 'user=ann ms=12',
              },
              date: '2026-03-01T10:00:00.000Z',
              matched: true,
            },
          ],
          ms: 0.8,
        },
      },
    },
    {
      name: 'all',
      summary: 'All that are on',
      body: {
        all: true,
        samples: ['<13>1 2026-03-01T10:00:00Z web-1 shop - - - order 17 took 0.5 s'],
      },
      reply: {
        result: {
          events: [
            {
              event: {
                custom: { order: { id: 17, seconds: 0.5 } },
                syslog: {
                  prival: 13,
                  severity: 5,
                  facility: 1,
                  version: 1,
                  timestamp: '2026-03-01T10:00:00Z',
                  hostname: 'web-1',
                  appname: 'shop',
                },
                message: 'order 17 took 0.5 s',
              },
              date: '2026-03-01T10:00:00.000Z',
              matched: true,
              rule: 'order',
            },
          ],
          ms: 0.9,
        },
      },
    },
  ],
  makeSnapshot: [
    {
      ...{ name: 'nightly', summary: 'Before copying', isExcerpt: true },
      body: { id: 'nightly' },
      reply: { result: { id: 'nightly', records: 3, open_segments: [] } },
    },
  ],
  deleteSnapshot: [
    {
      ...{ name: 'nightly', summary: 'Behind it', parameters: { id: 'nightly' } },
      reply: { result: { id: 'nightly', deleted: true } },
    },
  ],
  showRetention: [
    {
      ...{ name: 'forever', summary: 'Nothing is dropped' },
      reply: { result: { days: null, bytes: null, free_bytes: null, set: false } },
    },
  ],
  testRetention: [
    {
      ...{ name: 'days', summary: 'Of an age of 90 days' },
      body: { days: 90 },
      reply: {
        result: {
          ...{ days: 90, bytes: null, free_bytes: null },
          age: { segments: 0, events: 0, bytes: 0 },
          space: { segments: 0, events: 0, bytes: 0 },
          waits: false,
        },
      },
      isExcerpt: true,
    },
  ],
  changeRetention: [
    {
      ...{ name: 'days', summary: '10 years' },
      body: { days: 3_650 },
      reply: { result: { days: 3_650, bytes: null, free_bytes: null, set: true } },
    },
  ],
  resetRetention: [
    {
      ...{ name: 'configured', summary: 'As it is configured' },
      reply: { result: { days: null, bytes: null, free_bytes: null, set: false } },
    },
  ],
  listAudit: [
    {
      ...{ name: 'newest', summary: 'The newest changes', isExcerpt: true },
      reply: {
        result: {
          audit: [
            {
              ...{ at: '2026-03-01T10:00:00.000Z', who: 'admin-token', peer: '127.0.0.1' },
              ...{ what: 'create', resource: 'users', name: 'ann' },
            },
          ],
        },
      },
    },
  ],
  serviceHealth: [
    {
      name: 'health',
      summary: 'Nothing waits',
      reply: { result: { queues: { queries_waiting: 0 } } },
      isExcerpt: true,
    },
  ],
  deliveryLedger: [
    {
      ...{ name: 'whole', summary: 'Nothing was refused', isExcerpt: true },
      reply: { result: { retention_dropped: 0 } },
    },
  ],
  diskByAttribute: [
    {
      ...{ name: 'all', summary: 'All attributes by name', isExcerpt: true },
      reply: { result: { other_attributes: { count: 0, bytes: 0 } } },
    },
  ],
  listQueries: [
    {
      ...{ name: 'none', summary: 'None runs, and none was slow' },
      reply: { result: { queries: [], slow: [] } },
    },
  ],
  cancelAnyQuery: [
    {
      name: 'answered',
      summary: 'A query that is not running any more',
      parameters: { id: '1' },
      status: 404,
      reply: { error: { status: 404, message: 'the query "1" is unknown or answered' } },
    },
  ],
  listTroubles: [
    {
      name: 'troubles',
      summary: 'All kinds',
      reply: { result: { troubles: [{ kind: 'line_cut', count: 0 }] } },
      isExcerpt: true,
    },
  ],
} satisfies Record<string, readonly ApiExample[]>;
