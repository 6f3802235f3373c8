import t from 'tap';
import {
  addedAttributes,
  addressText,
  bodyForm,
  callerAddress,
  keyCandidates,
} from '../../server/listen/header.ts';

const KEY = 'AbCd-_0123456789abcdef';

function basic(pair: string): string {
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

t.test('the key comes from the first place that has one', async (t) => {
  const cases: [string, string, [string, string][], string[]][] = [
    [`/v1/input/${KEY}`, '', [], [KEY]],
    [`/v1/input/${KEY}/`, '', [], [KEY]],
    [`/v1/input/${KEY}`, 'api_key=other', [['x-api-key', 'third']], [KEY]],
    ['/v1/input', `api_key=${KEY}`, [['x-api-key', 'other']], [KEY]],
    ['/v1/input/', `&api_key=${KEY}`, [], [KEY]],
    ['/v1/input/', '', [['x-api-key', KEY]], [KEY]],
    ['/v1/input', '', [['authorization', `Bearer ${KEY}`]], [KEY]],
    ['/v1/input', '', [['authorization', `bearer  ${KEY} `]], [KEY]],
    ['/v1/input', '', [['authorization', basic(`${KEY}:`)]], [KEY]],
    ['/v1/input', '', [['authorization', basic(`:${KEY}`)]], [KEY]],
    ['/v1/input', '', [['authorization', basic(`user:${KEY}`)]], ['user', KEY]],
    ['/v1/input', '', [['authorization', basic(KEY)]], [KEY]],
    ['/v1/input', '', [['authorization', 'Digest x']], []],
    ['/v1/input', '', [['authorization', 'Basic ???']], []],
    ['/v1/input/', 'hostname=a', [], []],
  ];
  for (const [path, query, headers, keys] of cases) {
    const parameters = query === '' ? undefined : new URLSearchParams(query);
    t.same(keyCandidates(path, parameters, new Map(headers)), keys, `${path} ${query} ${headers}`);
  }
});

t.test('the content type says how a body is read', async (t) => {
  const cases: [string | undefined, string][] = [
    [undefined, 'auto'],
    ['', 'auto'],
    ['application/json', 'json'],
    ['Application/JSON; charset=UTF-8', 'json'],
    ['application/vnd.logs+json', 'json'],
    ['text/plain;charset=utf-8', 'lines'],
    ['application/x-ndjson', 'lines'],
    ['application/logplex-1', 'frames'],
    ['application/x-www-form-urlencoded', 'auto'],
    ['garbage', 'auto'],
  ];
  for (const [type, form] of cases) t.equal(bodyForm(type), form, String(type));
});

t.test('addresses are written as people write them', async (t) => {
  const v6 = (...groups: number[]): Uint8Array =>
    Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
  t.equal(addressText(Uint8Array.of(192, 0, 2, 1)), '192.0.2.1');
  t.equal(addressText(v6(0, 0, 0, 0, 0, 0xffff, 0xc000, 0x0201)), '192.0.2.1');
  t.equal(addressText(v6(0, 0, 0, 0, 0, 0, 0, 1)), '::1');
  t.equal(addressText(v6(0, 0, 0, 0, 0, 0, 0, 0)), '::');
  t.equal(addressText(v6(0x2001, 0xdb8, 0, 0, 1, 0, 0, 1)), '2001:db8::1:0:0:1');
  t.equal(addressText(v6(0x2001, 0xdb8, 0, 1, 1, 1, 1, 1)), '2001:db8:0:1:1:1:1:1');
  t.equal(addressText(v6(1, 0, 0, 2, 0, 0, 0, 3)), '1:0:0:2::3');
  t.equal(addressText(v6(1, 2, 3, 4, 5, 6, 0, 0)), '1:2:3:4:5:6::');
});

t.test('only trusted proxies say who the caller is', async (t) => {
  const trusted = new Set(['10.0.0.1', '10.0.0.2', '::1']);
  const cases: [string, string | undefined, string][] = [
    ['192.0.2.9', undefined, '192.0.2.9'],
    ['192.0.2.9', '198.51.100.1', '192.0.2.9'],
    ['::ffff:192.0.2.9', undefined, '192.0.2.9'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '203.0.113.5, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['10.0.0.1', '10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', 'unknown, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '<script>', '10.0.0.1'],
    ['::1', '::ffff:198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['10.0.0.1', '[2001:DB8::1]:4711', '2001:db8::1'],
    ['10.0.0.1', '', '10.0.0.1'],
  ];
  for (const [peer, forwarded, caller] of cases) {
    t.equal(callerAddress(peer, forwarded, trusted), caller, `${peer} ${forwarded}`);
  }
});

t.test('query parameters and headers add attributes', async (t) => {
  const added = (query: string, headers: [string, string][]): unknown =>
    addedAttributes(new URLSearchParams(query), new Map(headers), () => '192.0.2.1');
  t.same(added('hostname=h%20x&appname=&username=u&other=1', []), [
    { names: ['hostname'], value: 'h x', replaces: false },
    { names: ['username'], value: 'u', replaces: false },
  ]);
  t.same(added('', [['x-service-add-ip', 'network.client_ip']]), [
    { names: ['network', 'client_ip'], value: '192.0.2.1', replaces: true },
  ]);
  t.same(added('', [['x-logmatic-add-ip', 'a..b']]), [
    { names: ['a..b'], value: '192.0.2.1', replaces: true },
  ]);
  t.same(
    added('', [
      ['x-logmatic-add-useragent', 'http.agent'],
      ['user-agent', 'curl/8'],
    ]),
    [{ names: ['http', 'agent'], value: 'curl/8', replaces: true }],
  );
  t.same(added('', [['x-service-add-useragent', 'agent']]), [], 'no User-Agent was sent');
  t.same(added('', [['x-service-add-ip', 'n'.repeat(257)]]), [], 'a name that is too long');
});
