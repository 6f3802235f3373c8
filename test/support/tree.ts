import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = new URL('../..', import.meta.url).pathname;
const COPIED = [
  ...['engine', 'server', 'test', 'deploy', 'bench/corpus'],
  ...['package.json', 'tsconfig.json', 'Makefile', 'LICENSE'],
  ...['ARCHITECTURE.md', 'CHANGELOG.md', 'README.md'],
];

/** Copies the working tree into a folder, which it makes, with its packages; returns the folder. */
export function copyTree(folder: string): string {
  mkdirSync(join(folder, 'bench'), { recursive: true });
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}
