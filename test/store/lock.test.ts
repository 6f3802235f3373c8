import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { askHolder, lockFolder } from '../../engine/store/lock.ts';

const LOCK_MODULE = new URL('../../engine/store/lock.ts', import.meta.url).href;

/** A process that takes the lock, says `held` or why not, and stays. */
function holder(root: string): ChildProcess {
  const code = `
    const { lockFolder } = await import(${JSON.stringify(LOCK_MODULE)});
    const greeting = () => JSON.stringify({ pid: process.pid });
    try {
      await lockFolder(${JSON.stringify(root)}, greeting);
      console.log('held');
    } catch (error) {
      console.log(error.code + ' ' + error.message);
    }
    setInterval(() => {}, 1000);`;
  return spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function firstLine(child: ChildProcess): Promise<string> {
  const [data] = await once(child.stdout as NodeJS.EventEmitter, 'data');
  return String(data).trim();
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function folder(t: Test): string {
  const root = mkdtempSync(join(tmpdir(), 'lock-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  return root;
}

const greet = () => JSON.stringify({ pid: process.pid, http: ['127.0.0.1:1'] });

t.test('a folder is taken once, and free again after release', async (t) => {
  const root = folder(t);
  t.equal(await askHolder(root), undefined);
  const lock = await lockFolder(root, greet);
  t.equal(await askHolder(root), greet());
  await t.rejects(lockFolder(root, greet), {
    code: 'USAGE',
    message: `${root} is in use by process ${process.pid}`,
  });
  t.same(readdirSync(root), ['lock.sock']);
  await lock.release();
  t.same(readdirSync(root), []);
  const again = await lockFolder(root, greet);
  await again.release();
});

t.test('a folder that does not exist has no holder, and locking makes it', async (t) => {
  const root = join(folder(t), 'a', 'b');
  t.equal(await askHolder(root), undefined);
  const lock = await lockFolder(root, greet);
  t.equal(await askHolder(root), greet());
  await lock.release();
});

t.test('a path longer than a socket address works', async (t) => {
  const root = join(folder(t), 'x'.repeat(120), 'y'.repeat(120));
  t.equal(await askHolder(root), undefined);
  mkdirSync(root, { recursive: true });
  t.equal(await askHolder(root), undefined);
  const lock = await lockFolder(root, greet);
  t.equal(await askHolder(root), greet());
  await t.rejects(lockFolder(root, greet), { code: 'USAGE' });
  await lock.release();
});

t.test('a socket left by kill -9 is taken over, and a living one is not', async (t) => {
  const root = folder(t);
  const child = holder(root);
  t.equal(await firstLine(child), 'held');
  await t.rejects(lockFolder(root, greet), {
    message: `${root} is in use by process ${child.pid}`,
  });
  t.match(await askHolder(root), `"pid":${child.pid}`);
  await kill(child);
  t.same(readdirSync(root), ['lock.sock'], 'it is left behind');
  t.equal(await askHolder(root), undefined);
  const lock = await lockFolder(root, greet);
  t.same(readdirSync(root), ['lock.sock']);
  await lock.release();
});

t.test('of many that start at once on a dead socket exactly one gets the folder', async (t) => {
  const root = folder(t);
  const dead = holder(root);
  t.equal(await firstLine(dead), 'held');
  await kill(dead);
  for (let round = 0; round < 2; round++) {
    const children = Array.from({ length: 5 }, () => holder(root));
    const lines = await Promise.all(children.map(firstLine));
    t.equal(lines.filter((line) => line === 'held').length, 1, lines.join('; '));
    // One that gives way a moment later may have been met before the one that gets it.
    const refusals = children.map(({ pid }) => `USAGE ${root} is in use by process ${pid}`);
    for (const line of lines) t.ok(line === 'held' || refusals.includes(line), line);
    await Promise.all(children.map(kill));
  }
});

t.test('many callers of one process at once: exactly one gets a stale folder', async (t) => {
  const root = folder(t);
  for (let round = 0; round < 10; round++) {
    const stale = createServer();
    await new Promise<void>((resolve) => stale.listen(join(root, 'away.sock'), resolve));
    renameSync(join(root, 'away.sock'), join(root, 'lock.sock'));
    await new Promise((resolve) => stale.close(resolve));
    const results = await Promise.allSettled(
      Array.from({ length: 6 }, () => lockFolder(root, greet)),
    );
    const won = results.filter((result) => result.status === 'fulfilled');
    t.equal(won.length, 1);
    t.same(readdirSync(root), ['lock.sock']);
    await won[0]?.value.release();
  }
});

t.test('a living socket that somebody moved aside keeps the folder', async (t) => {
  const root = folder(t);
  const lock = await lockFolder(root, greet);
  renameSync(join(root, 'lock.sock'), join(root, 'lock.old.1.deadbeef'));
  await t.rejects(lockFolder(root, greet), { code: 'USAGE' });
  t.equal(await askHolder(root), greet(), 'it has its name back');
  t.same(readdirSync(root), ['lock.sock']);
  await lock.release();
});
