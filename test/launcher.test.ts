import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';

const LAUNCHER = new URL('../server/logseam', import.meta.url).pathname;
const ESBUILD = new URL('../node_modules/@esbuild', import.meta.url).pathname;
/** Prints its name, and by an import what `word.ts` says. */
const MAIN = `import { word } from './word.ts';

const words: string[] = [word, ...process.argv.slice(2)];
process.stdout.write(words.join('|'));
`;

/** A checkout with few sources: what its launcher runs prints `word`. */
class Checkout {
  readonly folder = mkdtempSync(join(tmpdir(), 'logseam launcher-'));
  readonly command = join(this.folder, 'server/logseam');
  readonly bundles = join(this.folder, '.built');

  constructor(main = MAIN, modules: 'none' | 'node' | 'all' = 'all') {
    mkdirSync(join(this.folder, 'server/part'), { recursive: true });
    mkdirSync(join(this.folder, 'engine'));
    copyFileSync(LAUNCHER, this.command);
    this.write('package.json', '{"type":"module"}');
    this.write('server/main.ts', main);
    this.write('server/part/part-worker.ts', 'export const none: number = 0;\n');
    this.say('one');
    if (modules === 'none') return;
    mkdirSync(join(this.folder, 'node_modules/.bin'), { recursive: true });
    symlinkSync(process.execPath, join(this.folder, 'node_modules/.bin/node'));
    if (modules === 'all') symlinkSync(ESBUILD, join(this.folder, 'node_modules/@esbuild'));
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  /** Prints something else from now on. The file keeps its times and, for words of one length, its size. */
  say(word: string): void {
    const path = join(this.folder, 'server/word.ts');
    const times = existsSync(path) ? statSync(path) : undefined;
    writeFileSync(path, `export const word: string = '${word}';\n`);
    if (times !== undefined) utimesSync(path, times.atime, times.mtime);
  }

  run(args: string[] = [], environment: Record<string, string> = {}): [number | null, string] {
    const env = { ...process.env, ...environment };
    const { status, stdout, stderr } = spawnSync(this.command, args, { encoding: 'utf8', env });
    return [status, stdout + stderr];
  }

  /** Names of the bundles. */
  kept(): string[] {
    return readdirSync(this.bundles);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

t.test('the launcher runs from any folder and through links', async (t) => {
  const checkout = new Checkout(MAIN, 'none');
  t.teardown(() => checkout.remove());
  const { folder, command } = checkout;
  const bare = spawnSync(command, { encoding: 'utf8' });
  t.same([bare.status, bare.stdout], [1, '']);
  t.match(bare.stderr, /^logseam: run npm ci first[^\n]*\n$/);

  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  mkdirSync(join(folder, 'links'));
  const withoutNode = { PATH: '/nowhere:/usr/bin:/bin' };
  symlinkSync(process.execPath, join(folder, 'node_modules/.bin/node'));
  symlinkSync('../server/logseam', join(folder, 'links/first'));
  symlinkSync(join(folder, 'links/first'), join(folder, 'links/second'));
  for (const [cwd, path] of [
    [folder, 'server/logseam'],
    [join(folder, 'links'), './first'],
    ['/', join(folder, 'links/second')],
  ]) {
    const result = spawnSync(path, ['a b', '--c'], { cwd, encoding: 'utf8', env: withoutNode });
    t.same([result.status, result.stdout, result.stderr], [0, 'one|a b|--c', ''], path);
  }
});

t.test('the launcher is a POSIX shell script', async (t) => {
  t.doesNotThrow(() => execFileSync('sh', ['-n', LAUNCHER]));
});

t.test('a changed source is never run stale', async (t) => {
  const checkout = new Checkout();
  t.teardown(() => checkout.remove());
  t.same(checkout.run(), [0, 'one']);
  const [first] = checkout.kept();
  t.same(checkout.run(['again']), [0, 'one|again']);
  t.same(checkout.kept(), [first], 'the bundle is used again');
  checkout.say('two');
  t.same(checkout.run(), [0, 'two'], 'of the same size and time');
  checkout.write('server/word.ts', `export { word } from '../engine/word.ts';\n`);
  checkout.write('engine/word.ts', `export const word: string = 'three';\n`);
  t.same(checkout.run(), [0, 'three'], 'a file that was added');
  rmSync(join(checkout.folder, 'engine/word.ts'));
  t.not(checkout.run()[0], 0, 'a file that was removed');
  checkout.say('one');
  t.same(checkout.run(), [0, 'one'], 'sources as they were before');
  t.same(checkout.kept(), [first], 'bundles of other sources are gone');
  checkout.write('node_modules/.package-lock.json', '{}');
  t.same(checkout.run(), [0, 'one']);
  t.not(checkout.kept()[0], first, 'packages are bundled too');
});

t.test('it starts from the sources where nothing is bundled', async (t) => {
  const unbundled = (checkout: Checkout, environment: Record<string, string> = {}): void => {
    const { folder } = checkout;
    t.same(checkout.run(['x'], environment), [0, 'one|x']);
    checkout.say('two');
    t.same(checkout.run(['x'], environment), [0, 'two|x']);
    t.same(readdirSync(folder).filter((name) => name.startsWith('.')).length, 0);
    checkout.remove();
  };
  unbundled(new Checkout(MAIN, 'node'));
  unbundled(new Checkout(), { LOGSEAM_BUNDLE: 'off' });
});

t.test('it starts where nothing can be written', async (t) => {
  const checkout = new Checkout();
  t.teardown(() => checkout.remove());
  // No folder for bundles can be made, whoever the user is.
  writeFileSync(checkout.bundles, '');
  t.same(checkout.run(), [0, 'one']);
  checkout.say('two');
  t.same(checkout.run(), [0, 'two']);
});

t.test('it starts where a bundle is and nothing more can be written', async (t) => {
  const checkout = new Checkout();
  t.teardown(() => checkout.remove());
  t.same(checkout.run(), [0, 'one']);
  const [bundle = ''] = checkout.kept();
  rmSync(join(checkout.bundles, bundle, 'compiled'), { recursive: true, force: true });
  writeFileSync(join(checkout.bundles, bundle, 'compiled'), '');
  t.same(checkout.run(), [0, 'one']);
});

t.test('processes that start at once leave one bundle', async (t) => {
  const checkout = new Checkout();
  t.teardown(() => checkout.remove());
  const outputs = await Promise.all(
    Array.from({ length: 4 }, async () => {
      let output = '';
      const child = spawn(checkout.command, { stdio: ['ignore', 'pipe', 'pipe'] });
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk) => {
          output += chunk;
        });
      }
      await new Promise((resolve) => child.on('close', resolve));
      return output;
    }),
  );
  t.same(outputs, ['one', 'one', 'one', 'one']);
  t.equal(checkout.kept().length, 1);
});

t.test('a bundle stays while a process runs it', async (t) => {
  const checkout = new Checkout(`${MAIN}\nprocess.stdin.resume();\n`);
  t.teardown(() => checkout.remove());
  const child = spawn(checkout.command, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.on('close', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const [first = ''] = checkout.kept();
  checkout.say('two');
  t.same(checkout.run(), [0, 'two']);
  t.equal(checkout.kept().length, 2);
  t.ok(checkout.kept().includes(first));
  child.stdin.end();
  await ended;
  checkout.say('six');
  t.same(checkout.run(), [0, 'six']);
  t.equal(checkout.kept().length, 1);
});

t.test('stack traces name the sources and their lines', async (t) => {
  const checkout = new Checkout(`interface Failure {
  text: string;
}

function fail({ text }: Failure): void {
  throw new Error(text);
}

fail({ text: 'no' });
`);
  t.teardown(() => checkout.remove());
  const [code, output] = checkout.run();
  t.equal(code, 1);
  t.equal(checkout.kept().length, 1);
  t.match(output, /server\/main\.ts:6:\d+/);
  t.match(output, /server\/main\.ts:9:\d+/);
});
