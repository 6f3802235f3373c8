import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { EngineError } from '../engine/base/errors.ts';
import { openDisk } from '../engine/base/file.ts';
import { AuthFailures } from '../server/api/access/failures.ts';
import { createAdmin } from '../server/api/admin/admin.ts';
import { keyResources } from '../server/api/admin/keys.ts';
import { type ApiError, errorReply } from '../server/api/reply.ts';
import { type CommandWorld, runCommand } from '../server/command.ts';
import type { Config } from '../server/config.ts';
import { openKeys } from '../server/registry/keys.ts';
import { openAdminToken } from '../server/registry/secret.ts';
import { Senders } from '../server/registry/senders.ts';
import { UsageCells } from '../server/registry/usage.ts';

const folder = mkdtempSync(join(tmpdir(), 'logseam-command-'));
const disk = openDisk(folder);
const cells = new UsageCells();
const keys = await openKeys({ disk, cells, planLimitMb: undefined, nowMs: Date.now });
const admin = createAdmin({
  token: await openAdminToken(disk),
  failures: new AuthFailures({ info: () => {} }),
  resources: new Map(
    keyResources({
      keys,
      cells,
      nowMs: Date.now,
      usage: () => [],
      senders: new Senders(),
      filterIds: (text) => {
        if (text === '((') throw new Error('expected a term at 2');
        return [];
      },
      changed: () => {},
    }),
  ),
});

async function bodyOf(message: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The admin API as the service has it, on a server of node:http. */
const server = createServer(async (message, response) => {
  const reply = await admin({
    method: message.method ?? '',
    path: decodeURIComponent(message.url ?? ''),
    query: new Map(),
    headers: new Map(Object.entries(message.headers).map(([name, value]) => [name, String(value)])),
    body: await bodyOf(message),
    peer: '127.0.0.1',
    isSecure: false,
    signal: new AbortController().signal,
  }).catch((error: ApiError) => errorReply(error));
  response.writeHead(reply.status).end(reply.body);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const http = `0.0.0.0:${(server.address() as AddressInfo).port}`;
t.teardown(async () => {
  server.close();
  server.closeAllConnections();
  await keys.close();
  rmSync(folder, { recursive: true });
});

interface Outcome {
  code: number;
  out: string;
  err: string;
  served: Config | undefined;
}

async function run(args: string[], world: Partial<CommandWorld> = {}): Promise<Outcome> {
  const outcome: Outcome = { code: -1, out: '', err: '', served: undefined };
  outcome.code = await runCommand(
    args,
    {
      serve: async (config) => {
        outcome.served = config;
        return 0;
      },
      check: async () => true,
      backup: async () => {},
      restore: async () => {},
      repair: async () => {},
      upgrade: async () => true,
      askHolder: async (root) => (root === folder ? JSON.stringify({ pid: 7, http }) : undefined),
      print: (text) => {
        outcome.out += text;
      },
      complain: (text) => {
        outcome.err += text;
      },
      ...world,
    },
    { NO_COLOR: '1' },
  );
  return outcome;
}

function key(...args: string[]): Promise<Outcome> {
  return run(['key', ...args, '--data', folder]);
}

t.test('serve gets the configuration, as a word or without one', async (t) => {
  t.match(await run([]), { code: 0, served: { data: './data' } });
  t.match(await run(['serve', '--data', 'x', '--tcp=off']), {
    code: 0,
    served: { data: 'x', tcp: undefined },
  });
});

t.test('backup and restore get two folders, repair and upgrade one', async (t) => {
  const told: unknown[] = [];
  const world: Partial<CommandWorld> = {
    backup: async (root, target, holder) => {
      told.push(['backup', root, target, await holder.isRunning()]);
    },
    restore: async (source, root) => void told.push(['restore', source, root]),
    repair: async (root) => void told.push(['repair', root]),
    upgrade: async (root) => {
      told.push(['upgrade', root]);
      return true;
    },
  };
  for (const [command, ...words] of [['backup', 'b'], ['restore', 'b'], ['repair'], ['upgrade']]) {
    const args = [command ?? '', ...words, '--data', folder];
    t.match(await run(args, world), { code: 0 });
  }
  t.same(told, [
    ['backup', folder, 'b', true],
    ['restore', 'b', folder],
    ['repair', folder],
    ['upgrade', folder],
  ]);
  t.match(await run(['backup', '--tcp', 'off', 'b'], world), { code: 2 });
});

t.test('check gets the folder; its exit code tells whether there is damage', async (t) => {
  for (const [whole, code] of [
    [true, 0],
    [false, 1],
  ] as const) {
    let checked = '';
    const check = async (root: string): Promise<boolean> => {
      checked = root;
      return whole;
    };
    t.match(await run(['check', '--data', 'x'], { check }), { code });
    t.equal(checked, 'x');
  }
  t.match(await run(['check', 'x']), { code: 2, err: /check takes flags only, not x/ });
  t.match(await run(['check', '--tcp', 'off']), { code: 2, err: /--tcp does not go with check/ });
  const taken = async (): Promise<boolean> => {
    throw new EngineError('USAGE', 'the folder is taken');
  };
  t.match(await run(['check'], { check: taken }), { code: 1, err: /the folder is taken/ });
});

t.test('a service that cannot run exits with 1 and its reason', async (t) => {
  const serve = async (): Promise<number> => {
    throw new EngineError('USAGE', 'the folder is held by process 7');
  };
  t.match(await run(['serve'], { serve }), {
    code: 1,
    err: 'logseam: the folder is held by process 7\n',
  });
});

t.test('help, version and configuration are printed', async (t) => {
  for (const args of [['--help'], ['-h'], ['help'], ['serve', '--help'], ['key', '--help']]) {
    const { code, out, err, served } = await run(args);
    t.same([code, err, served], [0, '', undefined], args.join(' '));
    t.match(out, /logseam key create --write --name NAME/);
    t.match(out, /--http HOST:PORT/);
    t.notMatch(out, '\u001b');
  }
  t.match((await run(['--version'])).out, /^logseam \d+\.\d+\.\d+\n$/);
  t.match((await run(['serve', '--tcp', 'off', '--print-config'])).out, /^tcp = "off"$/m);
});

t.test('wrong command lines exit with 2 and say what is wrong', async (t) => {
  const table: [string[], RegExp][] = [
    [['sevre'], /command sevre is unknown; did you mean serve\?/],
    [['serve', 'x'], /not x/],
    [['serve', '--dta', folder], /flag --dta is unknown; did you mean --data\?/],
    [['-x'], /flag -x is unknown/],
    [['serve', '--data'], /--data needs a value/],
    [['serve', '--http', 'x'], /http \(from --http\) is "x"/],
    [['serve', '--help=1'], /takes no value/],
    [['serve', '--name', 'x'], /--name does not go with serve/],
    [['key'], /create, list/],
    [['key', 'crate'], /did you mean create\?/],
    [['key', 'disable'], /needs the name/],
    [['key', 'disable', 'a', 'b'], /does not take b/],
    [['key', 'disable', 'a', '--read'], /--read does not go with key disable/],
    [['key', 'list', '--name', 'a'], /--name does not go with key list/],
    [['key', 'create', '--name', 'a'], /--write and --read/],
    [['key', 'create', '--name', 'a', '--write', '--read'], /--write and --read/],
    [['key', 'create', '--write'], /needs --name/],
    [['key', 'create', '--write', '--name', 'a', '--filter', 'x'], /--read only/],
    [['key', 'create', '--read', '--name', 'a', '--quota-mb', '1'], /--write only/],
    [['key', 'create', '--write', '--name', 'a', '--quota-mb', '1GB'], /--quota-mb is "1GB"/],
    [
      ['key', 'create', '--write', '--name', 'a', '--quota-mb', '1', '--quota-percent', '1'],
      /only one/,
    ],
  ];
  for (const [args, message] of table) {
    const { code, out, err, served } = await run(args);
    t.same([code, out, served], [2, '', undefined], args.join(' '));
    t.match(err, message);
    t.match(err, /--help/);
  }
});

t.test('keys are made, listed, switched and deleted in the running service', async (t) => {
  const made = await key('create', '--write', '--name', 'web', '--quota-mb', '1.5');
  t.match(made, { code: 0, out: /^[\w-]{22}\n$/, err: '' });
  const read = await key('create', '--read', '--name', 'web', '--filter', 'team:red');
  t.equal(keys.lookup(read.out.trim())?.filter, 'team:red');
  const found = keys.lookup(made.out.trim());
  t.match(found, { name: 'web', quota: { type: 'megabytes', value: 1.5 } });
  cells.reserve(found?.cell ?? -1, 1_234, Math.floor(Date.now() / 86_400_000));
  const listed = await key('list');
  t.match(listed.out, /^NAME +KIND +STATE +TODAY +LIMIT +ID\n/);
  t.match(listed.out, /^web +write +enabled +1\.2 kB +1\.5 MB a day +[0-9a-f]{16}$/m);
  t.match(listed.out, /^web +read +enabled +- +team:red +[0-9a-f]{16}$/m);
  t.notOk(listed.out.includes(made.out.trim()));
  t.notMatch((await key('list', '--read')).out, ' write ');
  t.match(await key('disable', 'web'), { code: 0, out: 'write key web is disabled\n', err: '' });
  t.match((await key('list')).out, / disabled /);
  t.match(await key('enable', 'web'), { code: 0 });
  t.notMatch((await key('list')).out, / disabled /);
  t.match(await key('delete', 'web'), { code: 2, err: /--write or --read/ });
  t.match(await key('delete', '--read', 'web'), { code: 0, out: 'read key web is deleted\n' });
  t.match(await key('delete', 'web'), { code: 0 });
  t.equal(keys.lookup(made.out.trim()), undefined);
});

t.test('what the service refuses exits with 1 and its words', async (t) => {
  await key('create', '--write', '--name', 'taken');
  const table: [string[], RegExp][] = [
    [['create', '--write', '--name', 'taken'], /"taken" is taken/],
    [['create', '--write', '--name', 'x', '--quota-percent', '5'], /plan_limit_mb/],
    [['create', '--read', '--name', 'x', '--filter', '(('], /security_filter "\(\(": expected/],
    [['disable', 'takne'], /no write key takne; did you mean taken\?/],
    [['delete', '..'], /no write or read key \.\./],
  ];
  for (const [args, err] of table) t.match(await key(...args), { code: 1, out: '', err });
});

t.test('without a service the command says how to start one', async (t) => {
  t.match(await run(['key', 'list', '--data', '/nowhere/x']), {
    code: 1,
    err: /no service is running on \/nowhere\/x; start it with: logseam serve --data \/nowhere\/x/,
  });
  const gone = async (): Promise<string> => JSON.stringify({ pid: 7, http: '127.0.0.1:1' });
  t.match(await run(['key', 'list', '--data', folder], { askHolder: gone }), {
    code: 1,
    err: /\(process 7\) does not answer at http:\/\/127\.0\.0\.1:1/,
  });
  const odd = async (): Promise<string> => 'not JSON';
  t.match(await run(['key', 'list', '--data', folder], { askHolder: odd }), {
    code: 1,
    err: /does not tell its HTTP address/,
  });
  const elsewhere = mkdtempSync(join(tmpdir(), 'logseam-command-'));
  t.teardown(() => rmSync(elsewhere, { recursive: true }));
  const held = async (): Promise<string> => JSON.stringify({ pid: 7, http });
  t.match(await run(['key', 'list', '--data', elsewhere], { askHolder: held }), {
    code: 1,
    err: /admin-token is not there/,
  });
  writeFileSync(join(elsewhere, 'admin-token'), 'wrong\n');
  t.match(await run(['key', 'list', '--data', elsewhere], { askHolder: held }), {
    code: 1,
    err: /could not be authenticated/,
  });
});
