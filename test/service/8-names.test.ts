import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Answer, listAll, request, send, sendTcp, testService } from '../support/service.ts';

const BUDGET = 50;
const service = await testService(t, [
  ...['--names-per-key-day', String(BUDGET), '--ingest-workers', '2', '--metrics-open', 'true'],
]);
const token = readFileSync(join(service.folder, 'admin-token'), 'utf8').trim();

function admin(method: string, path: string, body?: object): Promise<Answer> {
  return request(`${service.http}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

const attributes = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `"n${from + at}":${from + at}`).join();

t.test('8 names beyond the budget of a key stay in their events, searchable as text', async (t) => {
  t.equal((await send(service, `{"event":1,${attributes(0, 45)}}`)).status, 200);
  await sendTcp(
    service.tcpPort,
    `${service.writeKey} {"event":2,${attributes(0, 60)},"x":"needle"}\n`,
  );
  const [event] = await listAll(service, { filters: [{ search: 'event:2' }] });
  const { _excess: excess, ...kept } = event.event.custom;
  const moved = JSON.parse(String(excess));
  t.ok(Object.keys(kept).length < 60 && Object.keys(kept).length >= 4);
  t.equal(moved['x'], 'needle');
  t.same(
    Object.keys({ ...kept, ...moved }).length,
    62,
    'each attribute is in its place or in the excess',
  );
  const found = await listAll(service, { filters: [{ search: '_excess:*needle*' }] });
  t.equal(found.length, 1);
});

t.test('8 names beyond the budget are counted and said, with their key', async (t) => {
  const { text } = await request(`${service.http}/metrics`);
  t.match(text, /^logseam_decode_repairs_total\{repair="name_over_budget"\} [1-9]/m);
  const troubleOf = async (): Promise<
    { key?: string; line?: string; count: number } | undefined
  > => {
    const { body } = await admin('GET', 'troubles');
    const { troubles } = (body as { result: { troubles: { kind: string; count: number }[] } })
      .result;
    return troubles.find(({ kind }) => kind === 'name_over_budget');
  };
  let trouble = await troubleOf();
  // Lines come up to a second after their counts.
  while (trouble?.line === undefined) trouble = await troubleOf();
  t.equal(trouble.key, 'default');
  t.match(trouble.line, /"event":2/);
  t.ok(trouble.count > 0);
});

t.test('8 another key is not affected', async (t) => {
  const made = await admin('POST', 'write_keys', { name: 'other' });
  const { key } = (made.body as { result: { key: string } }).result;
  await sendTcp(service.tcpPort, `${key} {"event":3,${attributes(100, 45)}}\n`);
  const [event] = await listAll(service, { filters: [{ search: 'event:3' }] });
  t.equal(Object.keys(event.event.custom).length, 46);
  t.notOk('_excess' in event.event.custom);
});
