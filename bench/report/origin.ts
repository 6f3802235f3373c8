import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/** The answer of a git command, `unknown` when it fails. */
export function git(...args: string[]): string {
  try {
    return execFileSync('git', args, {
      encoding: 'utf8',
      cwd: new URL('../..', import.meta.url).pathname,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}

/** The commit that is checked out, with a `+` when files differ from it. */
export function workingTree(): string {
  const dirty = git('status', '--porcelain') === '' ? '' : '+';
  return git('rev-parse', '--short', 'HEAD') + dirty;
}

/** The version that the package has. */
export function ownVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

/** Processors and memory. */
export function machineName(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, ${memory} GiB`;
}

/** The folder of results. */
export const OUT = new URL('../out/', import.meta.url).pathname;

/** A new file of JSON lines in the folder of results, named by the time. */
export function outFile(): string {
  mkdirSync(OUT, { recursive: true });
  return `${OUT}${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.jsonl`;
}
