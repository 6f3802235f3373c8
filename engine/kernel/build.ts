import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Compiles all kernels, the files `*.as.ts` of the engine and the server, into one module:
 * `node engine/kernel/build.ts FILE`. A function below the line `// @inline` becomes a part of its callers: the
 * compiler has a decorator for it, which is no TypeScript.
 */

const ROOT = join(import.meta.dirname, '../..');
const OPTIONS = [
  ...['--runtime', 'stub', '--enable', 'simd,bulk-memory', '--memoryBase', '1024'],
  ...['-O3', '--converge'],
];

/** Builds of the kernels: `checked` asserts that each access stays in its region. */
export type KernelBuild = 'fast' | 'checked';

/**
 * The module of a checkout that is run from its sources, made when its kernels have changed; `undefined` where it
 * cannot be made: the compiler is not installed, or the folder is not to be written.
 */
export function builtKernels(build: KernelBuild): string | undefined {
  const files = sources();
  const digest = createHash('sha1');
  for (const file of files) digest.update(readFileSync(join(ROOT, file)));
  const path = join(ROOT, '.built/kernel', `${digest.digest('hex')}-${build}.wasm`);
  return existsSync(path) || compile(files, path, build) ? path : undefined;
}

function sources(): string[] {
  return globSync('{engine,server}/**/*.as.ts', { cwd: ROOT }).sort();
}

function compile(files: readonly string[], path: string, build: KernelBuild): boolean {
  let folder: string | undefined;
  try {
    const compiler = createRequire(import.meta.url).resolve('assemblyscript/package.json');
    mkdirSync(dirname(path), { recursive: true });
    folder = mkdtempSync(`${path}.`);
    for (const file of files) copyDecorated(file, folder);
    const made = join(folder, 'kernel.wasm');
    const { status } = spawnSync(
      process.execPath,
      [
        ...[join(dirname(compiler), 'bin/asc.js'), ...files, '-o', made, ...OPTIONS],
        ...(build === 'fast' ? ['--noAssert'] : []),
      ],
      { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
    );
    if (status !== 0) return false;
    renameSync(made, path);
    return true;
  } catch {
    return false;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies a source into a folder, its lines `// @inline` made decorators. */
function copyDecorated(file: string, folder: string): void {
  const to = join(folder, file);
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, readFileSync(join(ROOT, file), 'utf8').replace(/^\/\/ @inline$/gm, '@inline'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = compile(sources(), process.argv[2], 'fast') ? 0 : 1;
}
