import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { git } from '../report/origin.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

/** The commit that `name` says; without a name the one where the branch left main, or HEAD where there is no main. */
export function baseCommit(name: string | undefined): string {
  if (name !== undefined) return git('rev-parse', '--verify', `${name}^{commit}`);
  const found = ['main', 'origin/main']
    .map((main) => git('merge-base', main, 'HEAD'))
    .find((commit) => commit !== 'unknown');
  return found ?? git('rev-parse', 'HEAD');
}

/** Unpacks a commit into a folder and gives it the packages that it names. */
export function checkOut(commit: string, folder: string): void {
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const needed = dependencies(folder);
  const here = dependencies(ROOT);
  if (Object.keys(needed).every((name) => needed[name] === here[name])) {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  } else {
    execFileSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { cwd: folder });
  }
}

function dependencies(folder: string): Record<string, string> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies;
}
