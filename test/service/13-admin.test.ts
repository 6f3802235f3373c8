import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  type Answer,
  ask,
  listAll,
  removeFolder,
  request,
  type Service,
  send,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const folder = temporaryFolder();
let service: Service = await startService(folder);
const { readKey } = service;
const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim();
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});

function admin(method: string, path: string, value?: unknown): Promise<Answer> {
  return request(`${service.http}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(value === undefined ? {} : { body: JSON.stringify(value) }),
  });
}

const resultOf = (answer: Answer): unknown => Object(answer.body).result;
const TIME = { from: '2026-03-01', to: '2026-03-02' };

await send(
  service,
  JSON.stringify(
    ['GET', 'DELETE', 'PUT'].map((verb, n) => ({
      ...{ timestamp: '2026-03-01T10:00:00Z', http: { verb }, size: `${(n + 1) * 100}` },
    })),
  ),
);

t.test('13 each resource is made, listed, changed and deleted', async (t) => {
  const made: [string, object, object][] = [
    ['fields', { name: 'Verb', attribute: 'custom.http.verb' }, { id: 'verb', type: 'attribute' }],
    [
      'tagsets',
      { name: 'Danger', tags: [{ name: 'High', query: 'verb:DELETE' }] },
      { id: 'danger', type: 'tagset', tags: [{ id: 'high', query: 'verb:DELETE' }] },
    ],
    [
      'metrics',
      { ...{ name: 'Size', type: 'attribute', attribute: 'custom.size' }, aggregation: 'max' },
      { id: 'size', aggregation: 'max' },
    ],
    ['groups', { id: 'web', name: 'Web', fields: ['verb'] }, { id: 'web', metrics: [] }],
    [
      'saved_analyses',
      { name: 'Bad ones', kind: 'list', time: TIME, filters: [] },
      { id: 'bad_ones', kind: 'list', columns: [] },
    ],
  ];
  for (const [resource, value, expected] of made) {
    const answer = await admin('POST', resource, value);
    t.equal(answer.status, 200, resource);
    t.match(resultOf(answer), { description: '', ...expected });
    const { id } = Object(resultOf(answer));
    t.match(resultOf(await admin('PATCH', `${resource}/${id}`, { description: 'New' })), {
      ...expected,
      description: 'New',
    });
    t.match(resultOf(await admin('GET', `${resource}/${id}`)), { id, description: 'New' });
    const all = Object(resultOf(await admin('GET', resource)))[resource];
    t.match(all.at(-1), { id, description: 'New' });
  }
  t.same(resultOf(await admin('DELETE', 'groups/web')), { id: 'web', name: 'Web', deleted: true });
  t.equal((await admin('GET', 'groups/web')).status, 404);
});

t.test('13 a declared id is used wherever a field or a metric is', async (t) => {
  const verbs = async (query: object): Promise<unknown[]> =>
    (await listAll(service, { time: TIME, ...query })).map(
      ({ event }) => Object(event.custom['http']).verb,
    );
  t.same(await verbs({ filters: [{ field: { id: 'verb', values: ['PUT'] } }] }), ['PUT']);
  t.same(await verbs({ filters: [{ search: 'verb:PUT OR verb:DELETE' }] }), ['PUT', 'DELETE']);
  t.same(await verbs({ filters: [{ field: { id: 'danger', values: ['high'] } }] }), ['DELETE']);
  const exclude = { id: 'danger', values: ['high'], exclude: true };
  t.same(await verbs({ filters: [{ field: exclude }] }), ['PUT', 'GET']);
  const columns = [{ field: 'verb' }, { field: 'danger' }, { metric: 'size' }, { metric: 'count' }];
  const listed = await ask(service, '/beta/events/list', { time: TIME, columns });
  t.match(resultOf(listed), {
    events: [
      { columns: ['PUT', null, '300', 1] },
      { columns: ['DELETE', 'high', '200', 1] },
      { columns: ['GET', null, '100', 1] },
    ],
  });
  const [{ id }] = await listAll(service, { time: TIME, limit: 1 });
  const fetched = await ask(service, '/beta/events/fetch', { id, columns: [{ field: 'danger' }] });
  t.match(resultOf(fetched), { columns: [null] });
});

t.test('13 what is wrong is refused by name, value and what is allowed', async (t) => {
  const wrong: [string, string, unknown, number, RegExp][] = [
    ['GET', 'feilds', undefined, 404, /\\"feilds\\" is unknown; .*did you mean fields\?/],
    ['GET', 'fields/nothing', undefined, 404, /no field with the id \\"nothing\\"/],
    ['POST', 'fields', [], 400, /the body is \(an array of 0\); it must be an object/],
    ['POST', 'fields', { name: 'x' }, 400, /attribute is missing/],
    ['POST', 'fields', { name: 'x', id: 'verb', attribute: 'custom.x' }, 400, /taken by a field/],
    ['PUT', 'fields', {}, 405, /GET, POST/],
    ['POST', 'fields/verb', {}, 405, /GET, PATCH, DELETE/],
    ['PATCH', 'fields/verb', { id: 'other' }, 400, /never changes/],
    ['DELETE', 'fields/verb', undefined, 400, /used by the tagset \\"danger\\"/],
    ['DELETE', 'metrics/count', undefined, 400, /event count/],
    ['PATCH', 'saved_analyses/bad_ones', { kind: 'pie' }, 400, /\\"pie\\"/],
  ];
  for (const [method, path, value, status, message] of wrong) {
    const answer = await admin(method, path, value);
    t.equal(answer.status, status, `${method} ${path}`);
    t.match(answer.text, message);
  }
  const headers = { authorization: `Bearer ${readKey}`, 'content-type': 'application/json' };
  const stranger = await request(`${service.http}/admin/api/fields`, { headers });
  t.equal(stranger.status, 401);
});

t.test(
  '13 definitions survive a kill, and each change has its line in the audit log',
  async (t) => {
    const before = await Promise.all(
      ['fields', 'tagsets', 'metrics', 'groups', 'saved_analyses'].map((one) => admin('GET', one)),
    );
    await service.kill();
    service = { ...(await startService(folder)), readKey };
    const after = await Promise.all(
      ['fields', 'tagsets', 'metrics', 'groups', 'saved_analyses'].map((one) => admin('GET', one)),
    );
    t.same(after.map(resultOf), before.map(resultOf));
    const lines = readFileSync(join(folder, 'audit.log'), 'utf8').trimEnd().split('\n');
    const told = lines.map((line) => JSON.parse(line));
    t.match(
      told.filter(({ id }) => id === 'web'),
      [
        { who: 'admin-token', what: 'create', resource: 'groups', id: 'web' },
        { what: 'change', definition: { description: 'New' } },
        { what: 'delete' },
      ],
    );
    t.match(await ask(service, '/beta/discover/groups', {}), { status: 200, text: /Default/ });
  },
);
