import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Neighbour } from '../support/neighbour.ts';
import {
  listAll,
  removeFolder,
  runCommand,
  type Service,
  send,
  startService,
  temporaryFolder,
  testService,
} from '../support/service.ts';

const ALL = { time: { from: 0, to: 'now' } };
const service = await testService(t, ['--seal-rows', '2000', '--seal-idle-minutes', '1']);
const folder = temporaryFolder();
t.teardown(async () => removeFolder(folder));

const at = (name: string): string => join(folder, name);
const backup = (name: string): ReturnType<typeof runCommand> =>
  runCommand(['backup', at(name), '--data', service.folder]);

async function sendMany(name: string, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, n) => ({ name, n }));
  await send(service, JSON.stringify(events));
}

/** Starts a service on a folder for as long as `use` takes. */
async function served<T>(data: string, use: (other: Service) => Promise<T>): Promise<T> {
  const other = await startService(data);
  try {
    return await use(other);
  } finally {
    await other.stop();
  }
}

await sendMany('first', 5_000);

t.test(
  '13 a backup of a running service has all that was acknowledged before it began',
  async (t) => {
    const neighbour = new Neighbour(service);
    await neighbour.more(20);
    const { code, stdout, stderr } = await backup('one');
    t.same([code, stderr], [0, '']);
    t.match(stdout, /holds \d+ segments, \d+ MB: \d+ linked, \d+ copied, 0 were there/);
    await neighbour.more(20);
    const { refused } = await neighbour.end();
    t.same([...refused], []);
    const checked = await runCommand(['check', '--data', at('one')]);
    t.match(checked, { code: 0, stdout: /all is well/ });
    const before = await listAll(service, { ...ALL, filters: [{ search: 'name:first' }] });
    await served(at('one'), async (other) => {
      const known = { ...other, readKey: service.readKey, writeKey: service.writeKey };
      const there = await listAll(known, { ...ALL, filters: [{ search: 'name:first' }] });
      t.same(there, before, 'the same events, by the same ids and keys');
    });
  },
);

t.test('13 a later backup into the same folder copies what is new', async (t) => {
  const again = await backup('two');
  t.equal(again.code, 0);
  await sendMany('second', 10);
  const { code, stdout } = await backup('two');
  t.equal(code, 0);
  t.notMatch(stdout, / 0 were there/);
  await served(at('two'), async (other) => {
    const known = { ...other, readKey: service.readKey };
    const there = await listAll(known, { ...ALL, filters: [{ search: 'name:second' }] });
    t.equal(there.length, 10);
  });
});

t.test('13 sealed files of a backup are further names of the same files', async (t) => {
  await backup('three');
  for (const name of readdirSync(at('three/sealed'))) {
    const own = join(service.folder, 'sealed', name);
    if (existsSync(own)) t.equal(statSync(at(`three/sealed/${name}`)).ino, statSync(own).ino);
  }
  t.notOk(existsSync(at('three/sessions')), 'sessions stay where they are');
  t.notOk(existsSync(at('three/unfinished-copy')));
});

t.test('13 a backup is restored to a new folder only, and a stopped store backed up', async (t) => {
  await backup('four');
  const restored = await runCommand(['restore', at('four'), '--data', at('restored')]);
  t.match(restored, { code: 0, stdout: /holds \d+ segments/ });
  const taken = await runCommand(['restore', at('four'), '--data', at('restored')]);
  t.match(taken, { code: 1, stderr: /restored holds a store; allowed: a new folder/ });
  const count = await served(at('restored'), async (other) => {
    const known = { ...other, readKey: service.readKey };
    return (await listAll(known, { ...ALL, filters: [{ search: 'name:first' }] })).length;
  });
  t.equal(count, 5_000);
  const stopped = await runCommand(['backup', at('five'), '--data', at('restored')]);
  t.equal(stopped.code, 0);
  t.equal((await runCommand(['check', '--data', at('five')])).code, 0);
});

t.test('13 folders that cannot be are refused', async (t) => {
  const inside = await runCommand(['backup', join(service.folder, 'b'), '--data', service.folder]);
  t.match(inside, { code: 1, stderr: /lie in one another/ });
  t.match(await runCommand(['backup']), { code: 2, stderr: /backup needs a folder/ });
  t.match(await runCommand(['repair', 'x']), { code: 2, stderr: /repair has no use for x/ });
  const foreign = await runCommand(['backup', folder, '--data', service.folder]);
  t.match(foreign, { code: 1, stderr: /is not empty/ });
});

t.test('13 a lost manifest is made anew', async (t) => {
  await backup('six');
  t.match(await runCommand(['repair', '--data', at('six')]), {
    code: 0,
    stdout: /the manifest is well, nothing was done/,
  });
  for (const name of ['manifest', 'manifest.copy']) rmSync(at(`six/${name}`));
  const refused = await runCommand(['serve', '--data', at('six')]);
  t.match(refused, { code: 1, stderr: /run logseam repair/ });
  const repaired = await runCommand(['repair', '--data', at('six')]);
  t.match(repaired, { code: 0, stdout: /all events have new ids/ });
  const upgraded = await runCommand(['upgrade', '--data', at('six')]);
  t.match(upgraded, { code: 0, stdout: /no sealed segment had to be written anew/ });
  await served(at('six'), async (other) => {
    const known = { ...other, readKey: service.readKey };
    const there = await listAll(known, { ...ALL, filters: [{ search: 'name:first' }] });
    t.equal(there.length, 5_000);
  });
});
