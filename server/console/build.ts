import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/**
 * Builds the console into a folder: `node server/console/build.ts FOLDER`. It then has the page, the scripts and style
 * sheets by the digests of their contents, and each of them compressed by gzip and brotli beside it.
 */
const SOURCES = import.meta.dirname;
const esbuild = join(
  dirname(createRequire(import.meta.url).resolve('@esbuild/linux-x64/package.json')),
  'bin/esbuild',
);
const PAGE = 'index.html';

function build(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const metaPath = join(folder, 'meta.json');
  const { status } = spawnSync(
    esbuild,
    [
      ...[
        join(SOURCES, 'main.tsx'),
        join(SOURCES, 'before.js'),
        '--bundle',
        '--splitting',
        '--format=esm',
      ],
      ...[
        '--minify',
        '--charset=utf8',
        '--target=es2023',
        '--jsx=automatic',
        '--jsx-import-source=preact',
      ],
      ...['--tsconfig-raw={}', '--log-level=error', '--legal-comments=none'],
      ...['--entry-names=[name]-[hash]', '--chunk-names=[name]-[hash]', `--outdir=${folder}`],
      ...[`--metafile=${metaPath}`],
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  if (status !== 0) process.exit(status ?? 1);
  writePage(folder);
  for (const name of readdirSync(folder)) compress(join(folder, name));
}

/** Writes the page with the names that its script and its style sheet have. */
function writePage(folder: string): void {
  const names = readdirSync(folder);
  const named = (pattern: RegExp): string =>
    `/assets/${names.find((name) => pattern.test(name)) ?? ''}`;
  const page = readFileSync(join(SOURCES, PAGE), 'utf8')
    .replace('BEFORE_PATH', named(/^before-.*\.js$/))
    .replace('SCRIPT_PATH', named(/^main-.*\.js$/))
    .replace('STYLE_PATH', named(/^main-.*\.css$/));
  writeFileSync(join(folder, PAGE), page);
  for (const name of readdirSync(SOURCES)) {
    if (name.endsWith('.svg')) writeFileSync(join(folder, name), readFileSync(join(SOURCES, name)));
  }
}

function compress(path: string): void {
  if (path.endsWith('.json')) return;
  const bytes = readFileSync(path);
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('the folder is missing');
build(folder);
