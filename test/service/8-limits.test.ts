import t from 'tap';
import {
  type Answer,
  ask,
  listAll,
  request,
  send,
  sendTcp,
  testService,
} from '../support/service.ts';

const service = await testService(t);
const MIB = 1024 * 1024;
const list = (count: number, text: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => text(at)).join(',');

/** Hostile objects with an attribute `test` that tells which, and what the reply has to contain. */
const HOSTILE: [string, string, string][] = [
  [
    'wide',
    `{"test":"wide",${list(10_000, (at) => `"n${at}":${at}`)}}`,
    '"_excess":"{\\"n999\\":999,',
  ],
  ['twice', `{"test":"twice",${list(10_000, (at) => `"n":${at}`)}}`, '"n":9999}'],
  ['long', `{"test":"long","${'n'.repeat(100_000)}":1}`, '"_excess":"{\\"nnnn'],
  ['deep', `{"test":"deep","a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, '"a":"[[[['],
  [
    'proto',
    '{"test":"proto","__proto__":{"a":1},"constructor":2}',
    '"__proto__":{"a":1},"constructor":2}',
  ],
  [
    'numbers',
    `{"test":"numbers","a":1e400,"b":${'9'.repeat(400)}}`,
    `"a":1e400,"b":${'9'.repeat(400)}`,
  ],
  ['surrogates', '{"test":"surrogates","a":"\\ud800"}', '"a":"\\ud800"'],
  ['nul', '{"test":"nul","a":"\\u0000"}', '"a":"\\u0000"'],
  ['big', `{"test":"big","a":"${'x'.repeat(MIB - 30)}"}`, 'xxxx'],
];

/** The text of the reply that has the event whose `test` has that value. */
async function textOf(test: string): Promise<string> {
  const answer = await ask(service, '/beta/events/list', {
    time: { from: 'now-1h', to: 'now+1h' },
    filters: [{ search: `test:${test}` }],
    event: true,
  });
  return answer.text;
}

t.test('8 hostile events in one body are kept and come back, as do their neighbours', async (t) => {
  const events = HOSTILE.flatMap(([, event], at) => [event, `{"neighbour":${at}}`]);
  t.equal((await send(service, `[${events.join(',')}]`)).status, 200);
  for (const [name, , part] of HOSTILE) {
    const text = await textOf(name);
    t.ok(text.includes(part), `${name}: ${text.slice(0, 200)}`);
  }
  const neighbours = await listAll(service, { filters: [{ search: 'neighbour:*' }] });
  t.same(
    neighbours.map(({ event }) => event.custom['neighbour']).sort(),
    HOSTILE.map((_, at) => at),
  );
});

t.test('8 what is beyond the limits is refused with a clear 4xx and stores nothing', async (t) => {
  const big = `{"refused":"${'x'.repeat(MIB)}"}`;
  const table: [string, string | Uint8Array, string, number, RegExp][] = [
    [
      'an event over 1 MiB',
      `[{"refused":1},${big}]`,
      'application/json',
      413,
      /event at byte 15 has/,
    ],
    ['a line over 1 MiB', `refused\n${big}`, 'text/plain', 413, /event at byte 8 has/],
    ['a frame over 1 MiB', `${big.length} ${big}`, 'application/logplex-1', 413, /event at byte/],
    ['open brackets', '['.repeat(MIB), 'application/json', 400, /JSON/],
    ['a NUL in JSON', '[{"refused":1},{"a":"\0"}]', 'application/json', 400, /at byte 21/],
    ['a wrong count', '99 refused', 'application/logplex-1', 400, /longer than the body/],
  ];
  for (const [title, body, type, status, message] of table) {
    const answer: Answer = await send(service, body, type);
    t.equal(answer.status, status, title);
    t.match(answer.text, message, title);
  }
  t.same(await listAll(service, { filters: [{ search: 'refused:* OR refused' }] }), []);
});

t.test('8 a TCP line over 1 MiB is cut and marked, its neighbours are whole', async (t) => {
  const long = `{"cut":"${'y'.repeat(MIB)}"}`;
  const lines = ['{"whole":1}', long, '{"whole":2}', 'no\x01t \xff text', '{"whole":3}'];
  const content = lines.map((line) => `${service.writeKey} ${line}\n`).join('');
  await sendTcp(service.tcpPort, Buffer.from(content, 'latin1'));
  const whole = await listAll(service, { filters: [{ search: 'whole:*' }] });
  t.same(whole.map(({ event }) => event.custom['whole']).sort(), [1, 2, 3]);
  const [cut] = await listAll(service, { filters: [{ search: '_truncated:true' }] });
  t.equal(cut?.event.message, long.slice(0, MIB));
  const [odd] = await listAll(service, { filters: [{ search: 'text' }] });
  t.equal(odd?.event.message, 'no\x01t \ufffd text');
});

t.test('8 the limits are counted', async (t) => {
  const { text } = await request(`${service.http}/metrics`, {
    headers: { 'x-api-key': service.readKey },
  });
  for (const repair of ['line_cut', 'subtree_too_deep', 'event_too_wide', 'name_refused']) {
    t.match(text, new RegExp(`^logseam_decode_repairs_total\\{repair="${repair}"\\} [1-9]`, 'm'));
  }
});
