import t from 'tap';
import { adminToken, define, defineReadKey } from '../support/admin.ts';
import { ask, request, send, testService } from '../support/service.ts';

const service = await testService(t);
const token = adminToken(service);
const TIME = { from: '2026-01-01', to: '2026-01-02' };
const ATTRIBUTES = '/beta/discover/attributes';
const COMPLETE = '/beta/discover/complete';

const events = [
  { http: { verb: 'GET', status: 200 }, user: 'Ann Lee', tags: ['a', 'b'], took: 0.25 },
  { http: { verb: 'GET', status: 500 }, user: 'anton', tags: ['b'], took: '12' },
  { http: { verb: 'POST', status: 200 }, user: 'bob', none: null, since: '2026-01-01T00:00:00Z' },
  { http: { verb: 'get', status: '200' }, secret: 'AND', empty: {}, message: 'a text' },
];
const sent = await send(
  service,
  JSON.stringify(events.map((event) => ({ date: '2026-01-01T12:00:00Z', ...event }))),
);
if (sent.status !== 200) throw new Error(sent.text);
for (const [resource, value] of [
  ['fields', { id: 'verb', name: 'The verb', attribute: 'custom.http.verb' }],
  [
    'tagsets',
    {
      ...{ id: 'danger', name: 'Danger' },
      tags: [
        { id: 'high', name: 'High', color: '#ff0000', query: 'http.status:500' },
        { id: 'low', name: 'Low one', color: '#00ff00', query: 'http.status:200' },
      ],
    },
  ],
] as const) {
  await define(service, resource, value);
}
const narrowKey = await defineReadKey(service, {
  name: 'narrow',
  security_filter: 'danger:high',
});

interface Attribute {
  attribute: string;
}

async function attributes(query: object): Promise<Attribute[]> {
  const answer = await ask(service, ATTRIBUTES, { time: TIME, ...query });
  if (answer.status !== 200) throw new Error(answer.text);
  return (answer.body as { result: { attributes: Attribute[] } }).result.attributes;
}

t.test('4.5 attributes are those that events have, with kinds, values and bounds', async (t) => {
  const found = await attributes({});
  t.same(
    found.map(({ attribute }) => attribute),
    [
      ...['custom.date', 'custom.http.status', 'custom.http.verb', 'custom.user', 'custom.tags'],
      ...['custom.took', 'custom.secret', 'custom.since', 'message'],
    ],
  );
  t.same(
    found.find(({ attribute }) => attribute === 'custom.http.status'),
    {
      attribute: 'custom.http.status',
      kinds: ['string', 'number'],
      events: 4,
      distinct: 3,
      values: [
        { value: 200, count: 2 },
        { value: '200', count: 1 },
        { value: 500, count: 1 },
      ],
      min: 200,
      max: 500,
    },
  );
  t.match(found, [
    { kinds: ['date'], min: '2026-01-01T12:00:00.000Z', max: '2026-01-01T12:00:00.000Z' },
  ]);
  t.match(
    found.find(({ attribute }) => attribute === 'custom.tags'),
    {
      ...{ kinds: ['array'], events: 2, distinct: 2 },
      values: [
        { value: 'b', count: 2 },
        { value: 'a', count: 1 },
      ],
    },
  );
});

t.test('4.5 attributes are asked for by path, prefix, filter and number', async (t) => {
  t.same(await attributes({ attributes: ['custom.took', 'custom.no'], values: 0 }), [
    {
      ...{ attribute: 'custom.took', kinds: ['string', 'number'], events: 2, distinct: 2 },
      ...{ values: [], min: 0.25, max: 12 },
    },
  ]);
  const filters = [{ search: 'verb:GET danger:low' }];
  t.match(await attributes({ prefix: 'custom.http.', values: 1, filters }), [
    { attribute: 'custom.http.status', events: 1, values: [{ value: 200, count: 1 }] },
    { attribute: 'custom.http.verb', events: 1 },
  ]);
  t.equal((await attributes({ limit: 2 })).length, 2);
  t.same(await attributes({ time: { from: '2020-01-01', to: '2021-01-01' } }), []);
});

interface Completion {
  from: number;
  to: number;
  suggestions: { text: string; kind: string; label?: string; count?: number }[];
}

async function complete(query: string, more: object = {}): Promise<Completion> {
  const answer = await ask(service, COMPLETE, { query, time: TIME, ...more });
  if (answer.status !== 200) throw new Error(answer.text);
  return (answer.body as { result: Completion }).result;
}

const texts = ({ suggestions }: Completion): string[] => suggestions.map(({ text }) => text);

t.test('4.5 names are completed by prefix, then by what is inside', async (t) => {
  const names = await complete('http.s');
  t.same(names, {
    ...{ from: 0, to: 6 },
    suggestions: [{ text: 'http.status:', kind: 'attribute', count: 4 }],
  });
  t.same(texts(await complete('x AND (ver')), [
    'verb:',
    'syslog.version:',
    'http.verb:',
    'syslog.severity:',
  ]);
  t.match(await complete('dang'), {
    suggestions: [{ text: 'danger:', kind: 'tagset', label: 'Danger' }],
  });
  t.same(texts(await complete('custom.us')), ['custom.user:']);
  t.same(texts(await complete('@us')), ['@user:']);
  t.same(await complete('a http.st:200', { position: 7 }), {
    ...{ from: 2, to: 10 },
    suggestions: [
      { text: 'http.status:', kind: 'attribute', count: 4 },
      { text: 'http.verb:', kind: 'attribute', count: 4 },
    ],
  });
  t.same(texts(await complete('took:1 an')), ['danger:', 'AND']);
  t.equal((await complete('', { limit: 3 })).suggestions.length, 3);
  t.match(texts(await complete('', { limit: 3 })), ['danger:', /:/, 'NOT']);
});

t.test('4.5 values are completed without regard to case, and quoted where need be', async (t) => {
  t.same(await complete('user:an'), {
    ...{ from: 5, to: 7 },
    suggestions: [
      { text: '"Ann Lee"', kind: 'value', count: 1 },
      { text: 'anton', kind: 'value', count: 1 },
    ],
  });
  t.same(texts(await complete('verb:')), ['GET', 'POST', 'get']);
  t.same(texts(await complete('http.verb:(POST OR g')), ['GET', 'get']);
  t.same(texts(await complete('secret:(a')), ['"AND"']);
  t.same(texts(await complete('user:"ann')), ['"Ann Lee"']);
  t.same(texts(await complete('tags:b')), ['b']);
  t.same(texts(await complete('http.status:>=5')), ['500']);
  t.same(texts(await complete('http.status:[200 ')), ['TO']);
  t.same(texts(await complete('http.status:[200 TO 5')), ['500']);
  t.same(texts(await complete('tags:(a ')), ['b', 'a', 'AND', 'OR', 'NOT']);
});

t.test('4.5 tags are completed, and nothing behind a fault', async (t) => {
  t.same(await complete('danger:l'), {
    ...{ from: 7, to: 8 },
    suggestions: [{ text: 'low', kind: 'tag', label: 'Low one' }],
  });
  t.same(texts(await complete('danger:(high OR ')), ['high', 'low', 'NOT']);
  t.same(await complete('a) b'), { from: 4, to: 4, suggestions: [] });
  t.same(texts(await complete('"a phrase')), []);
});

t.test('4.5 the security filter hides names and values', async (t) => {
  const hidden = async (path: string, body: object) => {
    const answer = await request(`${service.http}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': narrowKey },
      body: JSON.stringify({ time: TIME, ...body }),
    });
    t.equal(answer.status, 200, answer.text);
    return answer.text;
  };
  for (const query of ['secr', 'secret:', 'user:b', 'verb:p']) {
    t.notMatch(await hidden(COMPLETE, { query }), /secret|AND|bob|POST/, query);
  }
  t.match(await hidden(COMPLETE, { query: 'user:' }), /anton/);
  t.notMatch(await hidden(ATTRIBUTES, {}), /secret|bob|POST/);
  t.notMatch(await hidden(ATTRIBUTES, { attributes: ['custom.secret'] }), /secret/);
});

t.test('5 tags are values of their tagset in the search bar', async (t) => {
  const count = async (search: string) => {
    const compute = [{ metric: { id: 'count' } }];
    const body = { time: TIME, filters: [{ search }], compute };
    const answer = await ask(service, '/beta/events/aggregate', body);
    if (answer.status !== 200) return JSON.parse(answer.text).error.message;
    return JSON.parse(answer.text).result.aggregates[0].values.count;
  };
  t.equal(await count('danger:high'), 1);
  t.equal(await count('danger:(high OR low)'), 4);
  t.equal(await count('danger:* -danger:l?w'), 1);
  t.equal(await count('-danger:"low"'), 1);
  t.equal(await count('danger:x*'), 0);
  t.match(
    await count('danger:hihg'),
    /at position 7: expected a tag of "danger", found "hihg"; did you mean "high"/,
  );
  t.match(await count('danger:>high'), /at position 7: expected a tag, found a comparison/);
});

t.test('2.1 a tag that a search names is not removed', async (t) => {
  const answer = await request(`${service.http}/admin/api/tagsets/danger`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tags: [{ id: 'low', name: 'Low', query: 'x' }] }),
  });
  t.equal(answer.status, 400);
  t.match(
    answer.text,
    /security filter of the read key .*narrow.* at position 7: expected a tag of/,
  );
});

t.test('4.5 what is wrong is refused by name', async (t) => {
  const wrong: [string, object, RegExp][] = [
    [ATTRIBUTES, {}, /time is missing/],
    [ATTRIBUTES, { time: TIME, attributes: ['verb'] }, /attributes\[0\] "verb" is unknown/],
    [ATTRIBUTES, { time: TIME, limit: 1_001 }, /limit 1001 is not allowed/],
    [ATTRIBUTES, { time: TIME, values: 101 }, /values 101 is not allowed/],
    [ATTRIBUTES, { time: TIME, prefx: 'a' }, /did you mean "prefix"/],
    [COMPLETE, { time: TIME }, /query is missing/],
    [
      COMPLETE,
      { time: TIME, query: 'ab', position: 3 },
      /position 3 is not allowed; allowed: 0 to 2/,
    ],
    [COMPLETE, { time: TIME, query: 'ab', limit: 51 }, /limit 51 is not allowed/],
  ];
  for (const [path, body, message] of wrong) {
    const answer = await ask(service, path, body);
    t.equal(answer.status, 400, JSON.stringify(body));
    t.match(JSON.parse(answer.text).error.message, message);
  }
});

t.test(
  '4.5 facets: the most frequent values of attributes and fields, with their counts',
  async (t) => {
    const facets = (body: object) => ask(service, '/beta/discover/facets', { time: TIME, ...body });
    const found = await facets({
      fields: ['verb', 'custom.http.status', 'custom.tags', 'custom.no'],
    });
    t.same(found.body, {
      result: {
        facets: [
          {
            field: 'verb',
            values: [
              { value: 'GET', count: 2 },
              { value: 'POST', count: 1 },
              { value: 'get', count: 1 },
            ],
            more: false,
          },
          {
            field: 'custom.http.status',
            values: [
              { value: 200, count: 2 },
              { value: '200', count: 1 },
              { value: 500, count: 1 },
            ],
            more: false,
          },
          {
            field: 'custom.tags',
            values: [
              { value: 'b', count: 2 },
              { value: 'a', count: 1 },
            ],
            more: false,
          },
          { field: 'custom.no', values: [], more: false },
        ],
      },
    });
    const filtered = await facets({
      ...{ fields: ['verb'], limit: 1 },
      filters: [{ search: 'http.status:200' }],
    });
    t.match(filtered.body, {
      result: { facets: [{ values: [{ value: 'GET', count: 1 }], more: true }] },
    });
    for (const fields of [[], ['danger'], ['unknown'], ['verb', 'custom.http.verb']]) {
      t.equal((await facets({ fields })).status, 400, fields.join());
    }
  },
);

t.test('4.5 attributes: distinct false tells of no values', async (t) => {
  const asked = { time: TIME, prefix: 'custom.http', distinct: false };
  const found = await ask(service, ATTRIBUTES, asked);
  t.same(found.body, {
    result: {
      attributes: [
        { attribute: 'custom.http.status', kinds: ['string', 'number'], events: 4 },
        { attribute: 'custom.http.verb', kinds: ['string'], events: 4 },
      ],
    },
  });
  t.equal((await ask(service, ATTRIBUTES, { ...asked, values: 1 })).status, 400);
});
