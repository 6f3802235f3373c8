import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { addressText, readAddress, readIp } from '../server/address.ts';
import {
  changedSettings,
  loadConfig,
  printConfig,
  SETTING_FLAGS,
  settingsHelp,
  version,
  wantsColor,
} from '../server/config.ts';
import { workersOf } from '../server/workers.ts';

const folder = mkdtempSync(join(tmpdir(), 'logseam-config-'));
t.teardown(() => rmSync(folder, { recursive: true }));

function file(text: string): string {
  const path = join(folder, 'logseam.toml');
  writeFileSync(path, text);
  return path;
}

function flags(record: Record<string, string>): Map<string, string> {
  return new Map(Object.entries(record));
}

t.test('without anything given the defaults are in force', async (t) => {
  t.same(loadConfig(flags({}), { PATH: '/bin' }).config, {
    data: './data',
    sealIdleMinutes: 10,
    sealRows: 1_000_000,
    http: { host: '0.0.0.0', port: 8080 },
    https: { host: '0.0.0.0', port: 8443 },
    httpInput: undefined,
    httpsInput: undefined,
    tcp: { host: '0.0.0.0', port: 10514 },
    tls: { host: '0.0.0.0', port: 10515 },
    udp: { host: '0.0.0.0', port: 514 },
    tlsCert: undefined,
    tlsKey: undefined,
    tlsVersionMax: '1.2',
    trustedProxies: [],
    bodyMbMax: 64,
    planLimitMb: undefined,
    namesPerKeyDay: 100_000,
    queriesMax: 32,
    queriesPerKey: 8,
    queryMemoryMb: 256,
    queriesMemoryMb: 384,
    boundEvents: 50_000_000,
    queryCacheMb: 16,
    querySeconds: 60,
    ingestWorkers: undefined,
    queryWorkers: undefined,
    sealWorkers: undefined,
    metricsOpen: false,
    config: undefined,
    logLevel: 'info',
    listeners: [],
  });
});

t.test('flags win over variables, variables over the file, the file over defaults', async (t) => {
  const path = file('data = "file"\nhttp = "1.1.1.1:1"\nbody_mb_max = 3\ntcp = "off"\n');
  const environment = { LOGSEAM_DATA: 'variable', LOGSEAM_HTTP: '2.2.2.2:2', LOGSEAM_CONFIG: path };
  const { config, sources } = loadConfig(flags({ data: 'flag' }), environment);
  t.equal(config.data, 'flag');
  t.same(config.http, { host: '2.2.2.2', port: 2 });
  t.equal(config.bodyMbMax, 3);
  t.equal(config.tcp, undefined);
  t.equal(config.queryWorkers, undefined);
  t.same(
    ['data', 'http', 'tcp', 'log_level'].map((key) => sources.get(key)?.source),
    ['--data', 'LOGSEAM_HTTP', path, 'default'],
  );
});

t.test('unknown names are errors that name the nearest one', async (t) => {
  const usage = (message: RegExp) => ({ code: 'USAGE', message });
  t.throws(
    () => loadConfig(flags({ dta: 'x' }), {}),
    usage(/--dta is unknown; did you mean --data\?/),
  );
  t.throws(
    () => loadConfig(flags({}), { LOGSEAM_LOG_LEVL: 'x' }),
    usage(/LOGSEAM_LOG_LEVL is unknown; did you mean LOGSEAM_LOG_LEVEL\?/),
  );
  t.throws(() => loadConfig(flags({}), { LOGSEAM_QUITE_ELSE: 'x' }), usage(/is unknown$/));
  const path = file('htpp = "x"');
  t.throws(
    () => loadConfig(flags({ config: path }), {}),
    usage(/logseam\.toml: key htpp is unknown; did you mean http\?/),
  );
  for (const name of ['config', '__proto__', 'constructor', 'data.x', 'planLimitMb']) {
    const odd = file(`${name} = 1`);
    t.throws(() => loadConfig(flags({ config: odd }), {}), usage(/is unknown|allowed are/), name);
  }
});

t.test('variables that Kubernetes makes of services are no settings', async (t) => {
  const links = {
    LOGSEAM_SERVICE_HOST: '10.0.0.1',
    LOGSEAM_SERVICE_PORT: '8080',
    LOGSEAM_SERVICE_PORT_HTTP_INPUT: '8080',
    LOGSEAM_PORT: 'tcp://10.0.0.1:8080',
    LOGSEAM_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
    LOGSEAM_PORT_8080_TCP_PROTO: 'tcp',
    LOGSEAM_PORT_514_UDP_PORT: '514',
    LOGSEAM_PORT_514_UDP_ADDR: '10.0.0.1',
    LOGSEAM_INPUT_SERVICE_HOST: '10.0.0.2',
    LOGSEAM_INPUT_PORT: 'udp://10.0.0.2:514',
    LOGSEAM_INPUT_PORT_514_UDP: 'udp://10.0.0.2:514',
  };
  t.same(loadConfig(flags({}), links), loadConfig(flags({}), {}));
  for (const name of [
    'LOGSEAM_PORT',
    'LOGSEAM_HTTP_PORT',
    'LOGSEAM_SERVICE',
    'LOGSEAM_PORT_HTTP',
  ]) {
    t.throws(() => loadConfig(flags({}), { [name]: '8080' }), { message: /is unknown/ }, name);
  }
});

t.test(
  'wrong values are errors that name setting, origin, value and what is allowed',
  async (t) => {
    const wrong: [Record<string, string>, RegExp][] = [
      [{ http: '8080' }, /http \(from --http\) is "8080"; allowed are HOST:PORT/],
      [{ http: 'off' }, /http .* is "off"/],
      [{ tcp: 'host:70000' }, /tcp .* is "host:70000"; allowed are .* or off/],
      [{ tcp: '::1:80' }, /tcp .*brackets/],
      [
        { 'plan-limit-mb': '0' },
        /plan_limit_mb .* is "0"; allowed are whole numbers from 1 to .*none/,
      ],
      [{ 'body-mb-max': '1e3' }, /body_mb_max/],
      [{ 'body-mb-max': '' }, /body_mb_max/],
      [{ 'ingest-workers': '-1' }, /ingest_workers/],
      [
        { 'log-level': 'warn' },
        /log_level \(from --log-level\) is "warn"; allowed are error, info, debug/,
      ],
      [{ 'trusted-proxies': '10.0.0.1,nginx' }, /trusted_proxies .*"10\.0\.0\.1,nginx"/],
      [{ data: '' }, /data \(from --data\) is ""/],
    ];
    for (const [given, message] of wrong) {
      t.throws(
        () => loadConfig(flags(given), {}),
        { code: 'USAGE', message },
        JSON.stringify(given),
      );
    }
    t.throws(() => loadConfig(flags({}), { LOGSEAM_TCP: 'x' }), { message: /from LOGSEAM_TCP/ });
    const path = file('body_mb_max = true');
    t.throws(() => loadConfig(flags({ config: path }), {}), {
      message: /body_mb_max \(from .*logseam\.toml\) is "true"/,
    });
    t.throws(() => loadConfig(flags({ data: 'x'.repeat(5000) }), {}), { message: /^.{100,400}$/ });
  },
);

t.test('a config file that is absent or no TOML is an error with its place', async (t) => {
  t.throws(() => loadConfig(flags({ config: join(folder, 'absent/x.toml') }), {}), {
    code: 'USAGE',
    message: /absent\/x\.toml does not exist/,
  });
  const path = file('data = "x"\nhttp = = 3\n');
  t.throws(() => loadConfig(flags({ config: path }), {}), {
    code: 'USAGE',
    message: /logseam\.toml, line 2, column \d+: /,
  });
});

t.test('what --print-config prints gives the same configuration when it is read', async (t) => {
  const given = flags({
    http: '[::1]:0',
    tcp: 'off',
    'trusted-proxies': '10.0.0.1, ::FFFF:10.0.0.2,2001:DB8:0:0::1',
    'plan-limit-mb': '500',
    data: 'da"ta',
  });
  const loaded = loadConfig(given, {});
  t.same(loaded.config.trustedProxies, ['10.0.0.1', '10.0.0.2', '2001:db8::1']);
  const printed = printConfig(loaded);
  t.match(printed, /# .*; from --http\nhttp = "\[::1\]:0"\n/);
  const path = file(printed);
  t.same(loadConfig(flags({ config: path }), {}).config, { ...loaded.config, config: path });
  t.same(loadConfig(flags({ config: file(printConfig(loadConfig(flags({}), {}))) }), {}).config, {
    ...loadConfig(flags({}), {}).config,
    config: path,
  });
});

t.test('addresses are a host or a bracketed IPv6 address, and a port', async (t) => {
  const table: [string, { host: string; port: number } | undefined][] = [
    ['0.0.0.0:8080', { host: '0.0.0.0', port: 8080 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['[::]:443', { host: '::', port: 443 }],
    ['[2001:DB8::0:1]:65535', { host: '2001:db8::1', port: 65_535 }],
    ['[::1]', undefined],
    ['::1:80', undefined],
    ['[x]:80', undefined],
    [':80', undefined],
    ['a:65536', undefined],
    ['a:-1', undefined],
    ['a b:1', undefined],
    ['http://a:1', undefined],
  ];
  for (const [text, expected] of table) {
    const address = readAddress(text);
    t.same(address, expected, text);
    if (address !== undefined) t.same(readAddress(addressText(address)), address);
  }
});

t.test('IP addresses have one spelling', async (t) => {
  const table: [string, string | undefined][] = [
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['0000:0000:0000:0000:0000:ffff:7f00:0001', '127.0.0.1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['FE80::1', 'fe80::1'],
    ['256.0.0.1', undefined],
    ['1.2.3', undefined],
    ['1.2.3.4.', undefined],
    ['fe80::1%eth0', undefined],
    ['::1]/@[::2', undefined],
    ['', undefined],
  ];
  for (const [text, expected] of table) t.equal(readIp(text), expected, text);
});

t.test('the help names every setting with its default, in lines of a terminal', async (t) => {
  const help = settingsHelp((text) => `<${text}>`);
  for (const flag of SETTING_FLAGS) t.match(help, `--${flag} `);
  t.match(help, /<Listeners>/);
  t.match(help, /--http HOST:PORT +.*\[0\.0\.0\.0:8080\]/);
  t.ok(help.split('\n').every((line) => line.length <= 100));
});

t.test('colours are for terminals without NO_COLOR', async (t) => {
  t.equal(wantsColor({ isTTY: true }, {}), true);
  t.equal(wantsColor({ isTTY: true }, { NO_COLOR: '1' }), false);
  t.equal(wantsColor({ isTTY: true }, { NO_COLOR: '' }), true);
  t.equal(wantsColor({}, {}), false);
});

t.test('the version is that of package.json', async (t) => {
  t.match(version(), /^\d+\.\d+\.\d+$/);
});

t.test('the file may tell listeners that are bound to a write key', async (t) => {
  const text =
    '[[listener]]\nprotocol = "udp"\naddress = "0.0.0.0:5514"\nkey = "routers"\n[[listener]]\nprotocol = "tls"\naddress = "[::]:6514"\nkey = "x"\n';
  const loaded = loadConfig(flags({ config: file(text) }), {});
  t.same(loaded.config.listeners, [
    { protocol: 'udp', address: { host: '0.0.0.0', port: 5514 }, key: 'routers' },
    { protocol: 'tls', address: { host: '::', port: 6514 }, key: 'x' },
  ]);
  const again = loadConfig(flags({ config: file(printConfig(loaded)) }), {}).config;
  t.same(again.listeners, loaded.config.listeners);
  const wrong: [string, RegExp][] = [
    ['listener = 1', /listener has to be at most 100 tables/],
    ['listener = [1]', /listener 1 is no table/],
    ['[[listener]]\nprotcol = "tcp"', /listener 1: protcol is unknown; did you mean protocol\?/],
    ['[[listener]]\nprotocol = "http"', /protocol is "http"; allowed are tcp, tls, udp/],
    ['[[listener]]\nprotocol = "tcp"', /address is missing; allowed are HOST:PORT/],
    ['[[listener]]\nprotocol = "tcp"\naddress = "a:1"\nkey = ""', /key is ""; allowed are names/],
  ];
  for (const [toml, message] of wrong) {
    t.throws(() => loadConfig(flags({ config: file(toml) }), {}), { code: 'USAGE', message }, toml);
  }
});

t.test('changed settings are told by their keys', async (t) => {
  const before = loadConfig(flags({}), {}).config;
  const text = '[[listener]]\nprotocol = "tcp"\naddress = "a:1"\nkey = "k"\n';
  const after = loadConfig(
    flags({ 'body-mb-max': '1', tls: 'off', config: file(text) }),
    {},
  ).config;
  t.same(changedSettings(before, before), []);
  t.same(changedSettings(before, after), ['tls', 'body_mb_max', 'config', 'listener']);
});

t.test('auto workers follow the cores, numbers are taken as they are', async (t) => {
  const auto = { ingestWorkers: undefined, queryWorkers: undefined, sealWorkers: undefined };
  const counts = (coreCount: number): number[] => {
    const { ingest, query, seal } = workersOf(auto, coreCount, 16e9);
    return [ingest, query, seal];
  };
  t.same([1, 2, 3, 4, 8, 64].map(counts), [
    [1, 2, 1],
    [1, 2, 1],
    [1, 2, 1],
    [2, 2, 2],
    [4, 4, 4],
    [8, 8, 8],
  ]);
  const given = { ingestWorkers: 3, queryWorkers: 1, sealWorkers: 5 };
  t.same(workersOf(given, 64, 1e9), { ingest: 3, query: 1, seal: 5 });
  const seals = (ingestWorkers: number, coreCount: number, memoryBytes: number): number =>
    workersOf({ ...auto, ingestWorkers }, coreCount, memoryBytes).seal;
  t.same(
    [seals(3, 64, 16e9), seals(8, 2, 16e9), seals(8, 64, 2.5e9), seals(8, 64, 5e8)],
    [3, 2, 2, 1],
  );
});

t.test('true and false may be TOML booleans or texts', async (t) => {
  const path = file('metrics_open = true\n');
  t.equal(loadConfig(flags({ config: path }), {}).config.metricsOpen, true);
  t.equal(loadConfig(flags({ 'metrics-open': 'true' }), {}).config.metricsOpen, true);
  t.throws(() => loadConfig(flags({ 'metrics-open': 'yes' }), {}), /allowed are true, false/);
  t.match(printConfig(loadConfig(flags({ config: path }), {})), /^metrics_open = true$/m);
});
