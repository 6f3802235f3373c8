import t from 'tap';
import { define } from '../support/admin.ts';
import { type Answer, ask, request, testService } from '../support/service.ts';

const service = await testService(t);
const GROUPS = '/beta/discover/groups';
const FIELDS_METRICS = '/beta/discover/fields_metrics';

interface Found {
  result: {
    groups?: { id: string }[];
    fields?: { id: string }[];
    metrics?: { id: string }[];
  };
}

async function discover(body: object): Promise<Found['result']> {
  const answer = await ask(service, FIELDS_METRICS, body);
  t.equal(answer.status, 200);
  return (answer.body as Found).result;
}

t.test('4.5 a fresh service has one group, the count, and fields of syslog', async (t) => {
  const groups = await ask(service, GROUPS, {});
  t.equal(groups.status, 200);
  t.match(groups.headers.get('content-type'), 'application/json');
  t.same((groups.body as Found).result, {
    groups: [{ id: 'default', name: 'Default', description: 'What every service has' }],
  });
  const { fields = [], metrics = [] } = await discover({ fields: true, metrics: true });
  t.same(
    metrics.map(({ id }) => id),
    ['count'],
  );
  t.match(metrics, [{ id: 'count', type: 'core', name: /./ }]);
  t.match(
    fields.find(({ id }) => id === 'syslog.appname'),
    { type: 'attribute', attribute: 'syslog.appname', name: 'appname', description: /./ },
  );
});

t.test('4.5 what is declared is found at once, by group', async (t) => {
  await define(service, 'fields', { id: 'verb', name: 'Verb', attribute: 'custom.http.verb' });
  await define(service, 'tagsets', {
    ...{ id: 'danger', name: 'Danger' },
    tags: [{ name: 'High', color: '#ff0000', query: 'verb:DELETE' }],
  });
  const time = { id: 'time', name: 'Time', type: 'attribute', unit: 'ms' };
  await define(service, 'metrics', { ...time, attribute: 'custom.time', aggregation: 'avg' });
  await define(service, 'metrics', {
    id: 'load',
    name: 'Load',
    type: 'formula',
    formula: 'time * count',
  });
  await define(service, 'groups', {
    id: 'web',
    name: 'Web',
    fields: ['verb', 'danger'],
    metrics: ['load'],
  });
  const web = await discover({ fields: true, metrics: true, groups: ['web'] });
  t.same(web, {
    fields: [
      {
        ...{ id: 'verb', name: 'Verb', description: '' },
        ...{ type: 'attribute', attribute: 'custom.http.verb' },
      },
      {
        ...{ id: 'danger', name: 'Danger', description: '', type: 'tagset' },
        tags: [{ id: 'high', name: 'High', color: '#ff0000' }],
      },
    ],
    metrics: [
      { id: 'load', name: 'Load', description: '', type: 'formula', formula: 'time * count' },
    ],
  });
  t.same(await discover({ fields: false, metrics: true, groups: ['default', 'web'] }), {
    metrics: [
      { id: 'count', name: 'Count', description: 'The number of events', type: 'core' },
      ...(web.metrics ?? []),
    ],
  });
  t.same(await discover({ fields: true, metrics: false, groups: [] }), { fields: [] });
  t.same(await discover({ fields: false, metrics: false }), {});
  const all = await discover({ fields: false, metrics: true });
  t.match(all.metrics?.[1], { id: 'time', type: 'attribute', attribute: 'custom.time' });
  t.match(all.metrics?.[1], { aggregation: 'avg' });
});

t.test('4.5 what is wrong is refused by name', async (t) => {
  const wrong: [object, RegExp][] = [
    [{}, /fields is missing; allowed: true or false/],
    [{ fields: true }, /metrics is missing/],
    [{ fields: 'yes', metrics: true }, /fields "yes" is not allowed; allowed: true or false/],
    [{ fields: true, metrics: true, group: [] }, /group is unknown; did you mean "groups"/],
    [{ fields: true, metrics: true, groups: 'web' }, /groups "web"/],
    [
      { fields: true, metrics: true, groups: ['defualt'] },
      /groups\[0\] "defualt" is unknown; did you mean "default"/,
    ],
    [{ fields: true, metrics: true, groups: ['__proto__'] }, /"__proto__" is unknown/],
  ];
  for (const [body, message] of wrong) {
    const { status, text } = await ask(service, FIELDS_METRICS, body);
    t.equal(status, 400, JSON.stringify(body));
    t.match(JSON.parse(text).error.message, message);
  }
  t.match(await ask(service, GROUPS, { fields: true }), { status: 400, text: /fields is unknown/ });
});

t.test('4.5 discovery needs a read key, POST and JSON', async (t) => {
  const send = (init: RequestInit): Promise<Answer> => request(`${service.http}${GROUPS}/`, init);
  const headers = { 'x-api-key': service.readKey, 'content-type': 'application/json' };
  t.equal((await send({ method: 'POST', headers, body: '{}' })).status, 200, 'a slash at the end');
  t.equal((await send({ method: 'GET', headers })).status, 405);
  const none = await send({ method: 'POST', body: '{}' });
  t.equal(none.status, 401);
  t.equal(none.headers.get('access-control-allow-origin'), '*');
  const writeKey = { ...headers, 'x-api-key': service.writeKey };
  t.equal((await send({ method: 'POST', headers: writeKey, body: '{}' })).status, 403);
  const plain = { ...headers, 'content-type': 'text/plain' };
  t.equal((await send({ method: 'POST', headers: plain, body: '{}' })).status, 415);
});
