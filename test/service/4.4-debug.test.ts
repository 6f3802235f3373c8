import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import {
  type Answer,
  ask,
  listAll,
  removeFolder,
  request,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const folder = temporaryFolder();
let service = await startService(folder);
const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim();
const { writeKey, readKey } = service;
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});

const LINE = '1.2.3.4 - bob [10/Oct/2000:13:55:36 -0700] "GET /a?x=1 HTTP/1.0" 200 2326';
const SYSLOG = '<13>1 2026-11-21T12:00:00Z fw-1 filter 71 - - blocked src=10.0.0.1 spt=0.50';

function post(
  query: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
  key = writeKey,
): Promise<Answer> {
  return request(`${service.http}/v1/input/${key}${query}`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', ...headers },
    body: body as BodyInit,
  });
}

function admin(method: string, path: string, value?: unknown): Promise<Answer> {
  return request(`${service.http}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(value === undefined ? {} : { body: JSON.stringify(value) }),
  });
}

/** The JSON text of the only stored event with a word in any attribute, as fetch has it. */
async function fetched(word: string): Promise<string> {
  const filters = [{ search: { query: `*:${word}` } }];
  const [{ id }] = await listAll({ ...service, readKey }, { filters });
  const answer = await ask({ ...service, readKey }, '/beta/events/fetch', { id, event: true });
  return answer.text;
}

t.test('4.4 debug=1 shows the events of a body and stores nothing', async (t) => {
  const json = '[{"message":"m","a.b":0.610,"n":12345678901234567890,"date":"2026-01-02"}]';
  const answer = await post('?debug=1', json, { 'content-type': 'application/json' });
  t.equal(answer.status, 200);
  t.match(
    answer.text,
    /^\{"ok":true,"debug":true,"events":\[\{"date":"2026-01-02T00:00:00\.000Z","event":\{"custom":\{"a":\{"b":0\.610\},"n":12345678901234567890,"date":"2026-01-02"\},"message":"m"\}\}\],"tookMs":[\d.]+\}$/,
  );
  const lines = await post('?debug=1', `text\n${SYSLOG}\n`);
  t.match(lines.body, {
    events: [
      { event: { custom: {}, message: 'text' } },
      {
        date: '2026-11-21T12:00:00.000Z',
        event: { custom: { src: '10.0.0.1', spt: 0.5 }, syslog: { appname: 'filter' } },
      },
    ],
  });
  t.match((await post('?debug=1', '[] ')).body, { ok: true, debug: true, events: [] });
  t.match((await post('?debug=1', '')).body, { ok: true, events: [] });
  t.same(await listAll(service), []);
  const usage = await admin('GET', 'write_keys');
  t.notMatch(usage.text, /"bytes":[1-9]/);
});

t.test('4.4 with debug=1 a request is read as without', async (t) => {
  const headers = { 'content-encoding': 'gzip', 'x-service-add-useragent': 'client.agent' };
  const answer = await post('?debug=1&hostname=h', gzipSync(LINE), headers);
  t.match(answer.body, { events: [{ event: { custom: { hostname: 'h' }, message: LINE } }] });
  t.match(answer.text, /"agent":/);
  const unknown = await post('?debug=1', 'x', {}, 'A'.repeat(22));
  t.equal(unknown.status, 401);
  const malformed = await post('?debug=1', '{"a":', { 'content-type': 'application/json' });
  t.equal(malformed.status, 400);
  t.match(malformed.text, /malformed|byte/);
});

t.test('4.4 a body for debug=1 is small', async (t) => {
  const large = 'x\n'.repeat(600_000);
  const expected = { error: { status: 413, message: /too large for a dry run; allowed: 1048576/ } };
  t.match((await post('?debug=1', large)).body, expected);
  const zipped = await post('?debug=1', gzipSync(large), { 'content-encoding': 'gzip' });
  t.equal(zipped.status, 413);
  const many = await post('?debug=1', 'x\n'.repeat(101));
  t.match(many.body, { error: { status: 413, message: /too many events .* allowed: 100/ } });
  t.match((await post('?debug=1', 'x\n'.repeat(100))).body, { ok: true });
  t.same(await listAll(service), []);
});

t.test('4.4 what debug=1 shows is what is fetched later, extensions included', async (t) => {
  t.equal((await admin('PATCH', 'extensions/access_log', { enabled: true })).status, 200);
  const bodies = [
    `word1 ${LINE}`,
    LINE.replace('/a?', '/word2?'),
    JSON.stringify({ message: LINE.replace('/a?', '/word3?'), http: { verb: 'own' }, x: null }),
    SYSLOG.replace('blocked', 'word4'),
  ];
  for (const [index, body] of bodies.entries()) {
    const debug = await post('?debug=1', body);
    const shown = /"event":(\{.*\})(?:,"extensions".*)?\}\],"tookMs"/.exec(debug.text)?.[1] ?? '';
    t.equal((await post('', body)).status, 200);
    const text = await fetched(`word${index + 1}`);
    t.ok(shown !== '' && text.includes(shown), `${shown} is in ${text}`);
  }
  const named = { events: [{ extensions: [{ extension: 'access_log' }] }] };
  const asAdmin = { authorization: `Bearer ${token}` };
  t.match((await post('?debug=1', bodies[1], asAdmin)).body, named);
  for (const headers of [{}, { authorization: `Bearer ${token.slice(1)}` }]) {
    const debug = await post('?debug=1', bodies[1], headers);
    t.match(debug.body, { events: [{ date: '2000-10-10T20:55:36.000Z' }] });
    t.notMatch(debug.text, /extensions|access_log/, 'who sends is not told which there are');
  }
});

t.test('4.4 extensions are in force from the start', async (t) => {
  await service.stop();
  service = await startService(folder);
  await post('', LINE.replace('/a?', '/word5?'));
  t.match(await fetched('word5'), /"network":\{"client_ip":"1\.2\.3\.4"/);
});
