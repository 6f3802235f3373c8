import t from 'tap';
import { EngineError } from '../../engine/base/errors.ts';
import { AGGREGATE, FETCH, HIDDEN, LIST, NOW, request, service, TIME } from './service.ts';

t.test('a list with only a time has the defaults', async (t) => {
  const { answer, jobs } = service();
  const reply = await answer(request(LIST, { body: { time: TIME } }));
  t.equal(reply.status, 200);
  t.equal(reply.body, '{"result":{"some":"thing"}}');
  t.same(jobs, [
    {
      type: 'list',
      zone: 'UTC',
      explain: false,
      query: {
        fromMs: NOW - 3_600_000,
        toMs: NOW,
        predicate: { type: 'all' },
        order: 'desc',
        limit: 50,
        event: false,
        columns: [],
      },
      hints: {
        selection: { fromMs: NOW - 3_600_000, toMs: NOW, predicate: { type: 'all' } },
        terms: [],
        visible: { type: 'all' },
      },
    },
  ]);
});

t.test('a list hands on all that it is asked', async (t) => {
  const { answer, jobs } = service();
  const body = {
    time: { from: 0, to: '10', timezone: 'Europe/Paris' },
    filters: [
      { field: { id: 'custom.status', values: ['200', '304'] } },
      { field: { id: 'syslog.appname', values: ['x'], exclude: true } },
      { search: 'error' },
      { search: { query: 'a:*' } },
      { search: '' },
    ],
    event: true,
    columns: [
      { field: 'custom.a' },
      { attribute: 'message' },
      { metric: 'count' },
      { metric: 'avg:syslog.x' },
    ],
    limit: 1000,
    afterEvent: 'some-id',
    order: 'asc',
  };
  t.equal((await answer(request(LIST, { body, headers: { 'x-api-key': 'narrow' } }))).status, 200);
  const value = (path: string, text: string) => ({
    type: 'value',
    paths: [path],
    match: { type: 'text', text },
  });
  t.same(jobs, [
    {
      type: 'list',
      zone: 'Europe/Paris',
      explain: false,
      query: {
        fromMs: 0,
        toMs: 10,
        predicate: {
          type: 'and',
          children: [
            HIDDEN,
            {
              type: 'or',
              children: [value('custom.status', '200'), value('custom.status', '304')],
            },
            { type: 'not', child: value('syslog.appname', 'x') },
            { type: 'words', words: [[{ literal: 'error' }]] },
            { type: 'exists', paths: ['custom.a'] },
          ],
        },
        order: 'asc',
        limit: 1000,
        after: 'some-id',
        event: true,
        columns: [
          { type: 'attribute', path: 'custom.a' },
          { type: 'attribute', path: 'message' },
          { type: 'count' },
          { type: 'attribute', path: 'syslog.x' },
        ],
      },
    },
  ]);
});

t.test('the security filter holds whatever the search says', async (t) => {
  const { answer, jobs } = service();
  const headers = { 'x-api-key': 'narrow' };
  for (const search of ['a OR b', 'x) OR (y', '* OR *', '"', 'NOT t:a OR *']) {
    await answer(request(LIST, { headers, body: { time: TIME, filters: [{ search }] } }));
  }
  await answer(request(FETCH, { headers, body: { id: 'a' } }));
  const body = { time: TIME, compute: [{ metric: { id: 'count' } }] };
  await answer(request(AGGREGATE, { headers, body }));
  t.equal(jobs.length, 5, 'two of the searches are malformed');
  for (const job of jobs) {
    if (job.type === 'complete' || job.type === 'store') throw new Error('another question');
    const { predicate } = job.query;
    if (predicate.type === 'and') t.same(predicate.children[0], HIDDEN);
    else t.same(predicate, HIDDEN);
  }
});

t.test('a fetch asks for one event', async (t) => {
  const { answer, jobs } = service();
  const body = { id: 'abc', event: true, columns: [{ attribute: 'custom.a' }] };
  t.equal((await answer(request(FETCH, { body }))).status, 200);
  t.same(jobs, [
    {
      type: 'fetch',
      query: {
        id: 'abc',
        predicate: { type: 'all' },
        event: true,
        columns: [{ type: 'attribute', path: 'custom.a' }],
      },
    },
  ]);
});

t.test('malformed, unknown and hidden ids have the same 404', async (t) => {
  const bodies = new Set<string>();
  for (const run of [
    async () => undefined,
    async () => {
      throw new EngineError('USAGE', 'the check of the id is wrong');
    },
  ]) {
    const reply = await service({ run }).answer(request(FETCH, { body: { id: 'abc' } }));
    t.equal(reply.status, 404);
    bodies.add(String(reply.body));
  }
  t.equal(bodies.size, 1);
});

t.test('an aggregation hands on metrics and output names', async (t) => {
  const { answer, jobs } = service();
  const body = {
    time: TIME,
    compute: [
      { metric: { id: 'count' } },
      { metric: { id: 'count:custom.a', output: 'how many' } },
      { metric: { id: 'pc95:custom.http.response_time' } },
    ],
    groupBy: [],
    format: true,
  };
  t.equal((await answer(request(AGGREGATE, { body }))).status, 200);
  t.match(jobs, [
    {
      type: 'aggregate',
      zone: 'UTC',
      explain: false,
      format: true,
      outputs: [
        { name: 'count' },
        { name: 'how many' },
        { name: 'pc95:custom.http.response_time' },
      ],
      groupOutputs: [],
      query: {
        fromMs: NOW - 3_600_000,
        toMs: NOW,
        computes: [
          { type: 'core' },
          { type: 'attribute', path: 'custom.a', aggregation: 'count' },
          { type: 'attribute', path: 'custom.http.response_time', aggregation: 'pc95' },
        ].map((metric) => ({ type: 'metric', metric })),
        groupBys: [],
      },
    },
  ]);
});
