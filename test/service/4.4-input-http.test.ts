import t from 'tap';
import { type Answer, countOf, listAll, request, send, testService } from '../support/service.ts';

const service = await testService(t);
const url = `${service.http}/v1/input/${service.writeKey}`;
const OK = { ok: true };

/** The messages of all events whose `custom.test` is the given name, oldest first. */
async function stored(
  name: string,
): Promise<{ custom: Record<string, unknown>; message?: string }[]> {
  const found = await listAll(service, { filters: [{ search: { query: `test:${name}` } }] });
  return found.map(({ event }) => event).reverse();
}

function refusal(answer: Answer): { ok: boolean; error: { status: number; message: string } } {
  return answer.body as { ok: boolean; error: { status: number; message: string } };
}

t.test('4.4 a JSON object is one event, acknowledged with 200 and ok', async (t) => {
  const answer = await send(service, '{"test":"one","message":"hello","n":1.50}');
  t.equal(answer.status, 200);
  t.same(answer.body, OK);
  const [found] = await listAll(service, { filters: [{ search: { query: 'test:one' } }] });
  t.same(found.event, { custom: { test: 'one', n: 1.5 }, message: 'hello' });
});

t.test('4.4 an array is an event an element, strings among them are lines', async (t) => {
  const answer = await send(
    service,
    JSON.stringify([{ test: 'array', n: 1 }, '{"test":"array","n":2}', { test: 'array', n: 3 }]),
    'application/json; charset=UTF-8',
  );
  t.equal(answer.status, 200);
  t.same((await stored('array')).map(({ custom }) => custom['n']).sort(), [1, 2, 3]);
});

t.test('4.4 text lines end with \\n or \\r\\n, the last one need not', async (t) => {
  const answer = await request(`${url}?hostname=lines`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'first line\r\nsecond line\n\n{"message":"third","test":"x"}\nlast',
  });
  t.equal(answer.status, 200);
  const found = await listAll(service, { filters: [{ search: { query: 'hostname:lines' } }] });
  t.same(found.map(({ event }) => event.message).sort(), [
    'first line',
    'last',
    'second line',
    'third',
  ]);
});

t.test('4.4 of small bodies that come together each is answered for itself', async (t) => {
  const bodies = Array.from({ length: 400 }, (_, n) => n);
  const answers = await Promise.all(
    bodies.map((n) =>
      n % 10 === 0
        ? send(service, `{"test":"together","n":${n}`)
        : send(
            service,
            `{"test":"together","n":${n}}\n\n{"test":"together","half":${n}}`,
            'application/x-ndjson',
          ),
    ),
  );
  t.same(
    answers.map(({ status }) => status),
    bodies.map((n) => (n % 10 === 0 ? 400 : 200)),
  );
  const found = (await stored('together')).map(({ custom }) => custom);
  const good = bodies.filter((n) => n % 10 !== 0);
  for (const name of ['n', 'half']) {
    const numbers = found.flatMap((custom) => (name in custom ? [Number(custom[name])] : []));
    t.same(
      numbers.sort((a, b) => a - b),
      good,
    );
  }
});

t.test(
  '4.4 hostname, appname and username enrich events, an attribute of the event wins',
  async (t) => {
    const answer = await request(`${url}/?&hostname=h1&appname=a1&username=u1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"test":"enrich","appname":"own"}',
    });
    t.equal(answer.status, 200);
    const [found] = await stored('enrich');
    t.same(found.custom, { test: 'enrich', appname: 'own', hostname: 'h1', username: 'u1' });
  },
);

t.test('4.4 the caller’s address and user agent are added where the headers say', async (t) => {
  for (const name of ['Service', 'Logmatic']) {
    const answer = await request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        [`X-${name}-Add-IP`]: 'client.ip',
        [`X-${name}-Add-UserAgent`]: 'client.agent',
        'user-agent': 'tester/1.0',
      },
      body: `{"test":"${name}","client":{"ip":"old"}}`,
    });
    t.equal(answer.status, 200);
    const [found] = await stored(name);
    t.same(found.custom['client'], { ip: '127.0.0.1', agent: 'tester/1.0' });
  }
});

t.test('5 the key is taken from path, query, header, bearer and basic authorization', async (t) => {
  const basic = Buffer.from(`${service.writeKey}:`).toString('base64');
  const ways: [string, Record<string, string>][] = [
    [`/v1/input/${service.writeKey}`, {}],
    [`/v1/input?api_key=${service.writeKey}`, {}],
    ['/v1/input', { 'x-api-key': service.writeKey }],
    ['/v1/input', { authorization: `Bearer ${service.writeKey}` }],
    ['/v1/input', { authorization: `Basic ${basic}` }],
  ];
  for (const [path, headers] of ways) {
    const answer = await request(`${service.http}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', ...headers },
      body: 'a line',
    });
    t.equal(answer.status, 200, `${path} ${Object.keys(headers)}`);
  }
});

t.test('5 a missing, unknown or read key could not be authenticated', async (t) => {
  for (const key of ['', '/', '/unknown', `/${service.readKey}`, '/__proto__']) {
    const answer = await request(`${service.http}/v1/input${key}`, { method: 'POST', body: 'x' });
    t.equal(answer.status, 401, key);
    t.equal(refusal(answer).ok, false);
    t.equal(refusal(answer).error.status, 401);
    t.match(refusal(answer).error.message, /could not be authenticated/);
    t.notMatch(answer.text, service.readKey, 'the key is not repeated');
  }
});

t.test('4.4 JSON with a syntax error anywhere is 400 and stores nothing', async (t) => {
  const before = (await listAll(service)).length;
  for (const body of ['{"a":1', '[{"a":1},{"a":}]', '[1,2', '{"a":1}x', '[{"a":1}]]', '{"a":01}']) {
    const answer = await send(service, body);
    t.equal(answer.status, 400, body);
    t.equal(refusal(answer).ok, false);
    t.equal(refusal(answer).error.status, 400);
  }
  t.equal((await listAll(service)).length, before);
});

t.test('4.4 an empty body and an empty array are 200 with no events', async (t) => {
  const before = (await listAll(service)).length;
  for (const body of ['', '[]', ' [ ] ']) t.same((await send(service, body)).body, OK);
  t.equal((await listAll(service)).length, before);
});

t.test('4.4 without a content type JSON is recognised by its first character', async (t) => {
  const headers = { 'content-type': '' };
  await request(url, {
    method: 'POST',
    headers,
    body: new Uint8Array(Buffer.from('[{"test":"untyped"}]')),
  });
  await request(url, {
    method: 'POST',
    headers,
    body: new Uint8Array(Buffer.from('untyped words')),
  });
  t.equal((await stored('untyped')).length, 1);
  const text = await listAll(service, { filters: [{ search: 'untyped words' }] });
  t.equal(text.length, 1);
});

t.test('4.4 what comes in comes back: order, nulls, empty values, number texts', async (t) => {
  const text =
    '{"test":"exact","z":1,"10":2,"9":3,"a":null,"b":[],"c":{},"d":0.610,"e":12345678901234567890,"f":-0,"g":1e5,"h":"\\ud800","i":[1.0,{"x":null}],"j":"é😀\\u0001"}';
  t.equal((await send(service, text)).status, 200);
  const answer = await request(`${service.http}/beta/events/list`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.readKey },
    body: JSON.stringify({
      time: { from: 'now-1d', to: 'now+1d' },
      event: true,
      filters: [{ search: 'test:exact' }],
    }),
  });
  t.match(answer.text, `{"custom":${text}}`);
});

t.test('browsers: preflight and CORS headers on every answer', async (t) => {
  const preflight = await request(url, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://shop.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-logmatic-add-ip',
    },
  });
  t.ok(preflight.status === 200 || preflight.status === 204);
  t.ok(preflight.headers.get('access-control-allow-origin'));
  t.match(preflight.headers.get('access-control-allow-headers'), /x-logmatic-add-ip/i);
  t.match(preflight.headers.get('access-control-allow-methods'), /POST/);
  const refused = await request(`${service.http}/v1/input/unknown`, { method: 'POST', body: 'x' });
  t.ok(refused.headers.get('access-control-allow-origin'), 'refusals too');
});

t.test('other methods are 405, a too large body is 413', async (t) => {
  t.equal((await request(url, { method: 'PUT', body: 'x' })).status, 405);
  const large = await send(service, Buffer.alloc(65 * 1024 * 1024, 'a'), 'text/plain').catch(
    (error: Error) => error,
  );
  // The service may answer before all of the body is sent, which some clients report as a broken connection.
  if (!(large instanceof Error)) t.equal(large.status, 413);
  t.equal((await send(service, 'still here', 'text/plain')).status, 200);
});

t.test('1.2 the event date is the first recognised attribute that parses', async (t) => {
  const cases: [string, string][] = [
    ['"timestamp":"2020-01-02T03:04:05.678Z"', '2020-01-02T03:04:05.678Z'],
    ['"date":"2020-01-02 03:04:05+01:00"', '2020-01-02T02:04:05.000Z'],
    ['"timestamp":"nonsense","eventTime":1577934245678', '2020-01-02T03:04:05.678Z'],
    ['"_timestamp":"1577934245678.5"', '2020-01-02T03:04:05.678Z'],
    ['"Timestamp":1577934245', '2020-01-02T03:04:05.000Z'],
    ['"published_date":"2020-01-02T03:04:05Z+0200"', '2020-01-02T01:04:05.000Z'],
  ];
  for (const [index, [attribute, expected]] of cases.entries()) {
    await send(service, `{"test":"date${index}",${attribute}}`);
    const [found] = await listAll(service, { filters: [{ search: `test:date${index}` }] });
    t.equal(found.date, expected, attribute);
  }
});

t.test('4.4 as many events as bytes allow are stored, in one piece or in several', async (t) => {
  for (const [name, lines] of [
    ['few', 8_192],
    ['more', 8_193],
  ] as const) {
    const bodies = {
      'text/plain': 'a\n'.repeat(lines),
      'application/json': `[${'1,'.repeat(lines - 1)}1]`,
    };
    for (const [type, body] of Object.entries(bodies)) {
      const appname = `${name}${type.length}`;
      const headers = { 'content-type': type };
      const answer = await request(`${url}?appname=${appname}`, { method: 'POST', headers, body });
      t.equal(answer.status, 200);
      t.equal(await countOf(service, `appname:${appname}`), lines, `${body.length} bytes`);
    }
  }
});
