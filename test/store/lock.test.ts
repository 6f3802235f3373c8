import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { askHolder, lockFolder } from '../../engine/store/lock.ts';

const LOCK_MODULE = new URL('../../engine/store/lock.ts', import.meta.url).href;

/** A process that takes the lock, says `held` or why not, and stays. */
function holder(root: string): ChildProcess {
  const code = `
    const { lockFolder } = await import(${JSON.stringify(LOCK_MODULE)});
    try {
      const lock = await lockFolder(${JSON.stringify(root)});
      console.log('held');
      setInterval(() => {}, 1000);
    } catch (error) {
      console.log(error.code + ' ' + error.message);
    }`;
  return spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function firstLine(child: ChildProcess): Promise<string> {
  const [data] = await once(child.stdout as NodeJS.EventEmitter, 'data');
  return String(data).trim();
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function folder(t: Test): string {
  const root = mkdtempSync(join(tmpdir(), 'lock-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  return root;
}

t.test('a folder is taken once, and free again after release', async (t) => {
  const root = folder(t);
  t.equal(await askHolder(root), undefined);
  const lock = await lockFolder(root);
  t.equal(await askHolder(root), `{"pid":${process.pid}}`);
  await lock.tell({ http: '127.0.0.1:1' });
  t.equal(await askHolder(root), `{"pid":${process.pid},"http":"127.0.0.1:1"}`);
  await t.rejects(lockFolder(root), {
    code: 'USAGE',
    message: `${root} is in use by process ${process.pid}`,
  });
  lock.release();
  t.same(readdirSync(root), ['lock']);
  t.equal(await askHolder(root), undefined, 'what is left of its text is not told');
  const again = await lockFolder(root);
  t.equal(await askHolder(root), `{"pid":${process.pid}}`);
  again.release();
});

t.test('a folder that does not exist has no holder, and locking makes it', async (t) => {
  const root = join(folder(t), 'x'.repeat(120), 'y'.repeat(120));
  t.equal(await askHolder(root), undefined);
  const lock = await lockFolder(root);
  t.match(await askHolder(root), `"pid":${process.pid}`);
  lock.release();
});

t.test('whoever asks for the holder takes the folder from nobody', async (t) => {
  const root = folder(t);
  (await lockFolder(root)).release();
  let asking = true;
  const asked = (async () => {
    for (; asking; await new Promise((resolve) => setImmediate(resolve))) await askHolder(root);
  })();
  for (let round = 0; round < 50; round++) (await lockFolder(root)).release();
  asking = false;
  await asked;
  t.pass('every start got it');
});

t.test('a lock left by kill -9 is taken over, and a living one is not', async (t) => {
  const root = folder(t);
  const child = holder(root);
  t.equal(await firstLine(child), 'held');
  await t.rejects(lockFolder(root), { message: `${root} is in use by process ${child.pid}` });
  t.match(await askHolder(root), `"pid":${child.pid}`);
  await kill(child);
  t.equal(await askHolder(root), undefined);
  (await lockFolder(root)).release();
});

t.test('a file of that name that is none of ours is taken as it is', async (t) => {
  const root = folder(t);
  writeFileSync(join(root, 'lock'), 'not JSON\n');
  t.equal(await askHolder(root), undefined);
  const lock = await lockFolder(root);
  t.match(await askHolder(root), `"pid":${process.pid}`);
  renameSync(join(root, 'lock'), join(root, 'aside'));
  t.equal(await askHolder(root), undefined, 'without it nobody can tell');
  lock.release();
});

t.test('of many that start at once exactly one gets the folder', async (t) => {
  const root = folder(t);
  for (let round = 0; round < 2; round++) {
    const children = Array.from({ length: 5 }, () => holder(root));
    const lines = await Promise.all(children.map(firstLine));
    const held = children.filter((_, index) => lines[index] === 'held');
    t.equal(held.length, 1, lines.join('; '));
    const refusal = `USAGE ${root} is in use by process ${held[0]?.pid}`;
    for (const line of lines) t.ok(line === 'held' || line === refusal, line);
    await Promise.all(children.map(kill));
  }
});
