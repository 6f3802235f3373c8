import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';
import ts from 'typescript';

/** The rules of the house that a machine can hold us to. ARCHITECTURE.md says why each is there. */

const ROOT = new URL('..', import.meta.url).pathname;
const LINES_MAX = 500;
const FILES_MAX = 25;
const CONSOLE = 'server/console/';
const FUNCTION_LINES_MAX = 80;
const COMMENT_COLUMNS_MAX = 120;
const PARAMETERS_MAX = 5;
/** Code that runs for each value or row, where an object for the parameters would cost. */
const PER_VALUE = [
  'engine/column/',
  'engine/packed/',
  'engine/derive/',
  'engine/query/',
  'engine/segment/',
  'engine/word/',
  'server/decode/',
  'server/ingest/raw.ts',
];
const README_LINES_MAX = 120;

/** Layers from the top down: a file imports from its own layer or from one below. */
const LAYERS = [
  'server/console/build.ts',
  'server/console/main.tsx',
  'server/console/app.tsx',
  'server/console/frame.tsx',
  'server/console/screens/',
  'server/console/parts/',
  'server/console/base/',
  'server/console/api/',
  'server/main.ts',
  'server/serve.ts',
  'server/service/',
  'server/runtime.ts',
  'server/backup.ts',
  'server/repair.ts',
  'server/upgrade.ts',
  'server/check.ts',
  'server/command.ts',
  'server/listen/',
  'server/api/',
  'server/ingest/',
  'server/merge/',
  'server/extend/',
  'server/query/',
  'server/language/',
  'server/decode/',
  'server/date/',
  'server/registry/',
  'server/ready.ts',
  'server/supervisor.ts',
  'server/workers.ts',
  'server/config.ts',
  'server/settings.ts',
  'server/bound-listener.ts',
  'server/address.ts',
  'server/disk-health.ts',
  'server/log.ts',
  'server/safe-text.ts',
  'server/c-library.ts',
  'server/koffi.d.ts',
  'engine/engine.ts',
  'engine/query/reader.ts',
  'engine/query/block-cache.ts',
  'engine/query/chunk-cache.ts',
  'engine/query/piece-cache.ts',
  'engine/query/sum-cache.ts',
  'engine/query/idle-cache.ts',
  'engine/query/footer-cache.ts',
  'engine/query/kept-by-bytes.ts',
  'engine/query/events/',
  'engine/query/group/',
  'engine/query/metric/',
  'engine/query/value/',
  'engine/query/scan/',
  'engine/query/filter/',
  'engine/query/model/',
  'engine/backup/',
  'engine/store/',
  'engine/segment/',
  'engine/word/',
  'engine/derive/',
  'engine/column/',
  'engine/packed/',
  'engine/kernel/',
  'engine/base/',
];

/** The schemas of the interface, all that the console knows of the server; it is loaded by browsers. */
const CONTRACT = ['server/api/schema.ts', 'server/api/openapi/reply-schema.ts'];

/** Layers that stand beside each other and may not import one another. */
const APART: [string, string][] = [
  ['server/query/', 'server/decode/'],
  ['server/language/', 'server/decode/'],
  ['server/decode/', 'server/registry/'],
  ['server/query/', 'server/registry/'],
  ['server/language/', 'server/registry/'],
];

/** Files of the engine that the server may know besides `engine/base/`: its surface and the seam of row records. */
const SURFACE = [
  'engine/engine.ts',
  'engine/backup/moment.ts',
  'engine/backup/repair.ts',
  'engine/backup/store-copy.ts',
  'engine/backup/upgrade.ts',
  'engine/store/catalog.ts',
  'engine/store/check.ts',
  'engine/store/file-watch.ts',
  'engine/store/compaction.ts',
  'engine/store/lock.ts',
  'engine/store/retention.ts',
  'engine/store/rewrite.ts',
  'engine/store/sequences.ts',
  'engine/store/usage.ts',
  'engine/store/writer.ts',
  'engine/query/model/query.ts',
  'engine/kernel/kernel.ts',
  'engine/column/rows.ts',
  'engine/column/path.ts',
  'engine/column/kind.ts',
  'engine/column/date-form.ts',
  'engine/query/model/predicate.ts',
  'engine/query/filter/event-test.ts',
];

/** Packages and built-in modules with one importer each. */
const SOLE_IMPORTERS: Record<string, string[]> = {
  'uWebSockets.js': ['server/listen/http.ts'],
  piscina: ['engine/base/pool.ts'],
  msgpackr: ['engine/base/record.ts'],
  'lz4-napi': ['engine/packed/compress.ts'],
  'fs-native-extensions': ['engine/base/file.ts'],
  '@koromix/koffi-linux-x64': ['server/c-library.ts'],
  'smol-toml': ['server/config.ts'],
  preact: ['server/console/'],
  '@preact/signals': ['server/console/'],
  uplot: ['server/console/parts/plot.tsx'],
  'fastest-levenshtein': ['engine/base/nearest.ts'],
  typebox: [
    'server/api/schema.ts',
    'server/api/schema-fault.ts',
    'server/api/admin/definition-schema.ts',
    'server/api/read/execute-schema.ts',
    'server/api/admin/extension-schema.ts',
    'server/api/admin/key-schema.ts',
    'server/api/admin/retention.ts',
    'server/api/admin/users.ts',
    'server/api/admin/snapshots.ts',
    'server/api/session/account-schema.ts',
    'server/api/openapi/reply-schema.ts',
    'server/api/admin/schema.ts',
    'server/api/openapi/schema.ts',
    'server/api/routes/operation.ts',
    'server/console/api/contract.ts',
  ],
  re2js: ['engine/base/pattern.ts'],
  bowser: ['server/extend/user-agent.ts'],
  selfsigned: ['server/listen/certificate.ts'],
  'node:fs': [
    'engine/base/file.ts',
    'engine/base/text-file.ts',
    'engine/kernel/',
    'server/console/build.ts',
    'server/listen/udp/datagram-reader.ts',
  ],
  'node:tls': ['server/listen/tls.ts'],
  'node:dgram': ['server/listen/udp/datagram-socket.ts'],
  'node:net': ['server/listen/tcp.ts', 'server/listen/tls.ts'],
};

const sources = globSync('{engine,server}/**/*.{ts,tsx}', { cwd: ROOT }).sort();
const others = globSync('{bench,demo,test}/**/*.ts', { cwd: ROOT })
  .filter((file) => !file.includes('node_modules/'))
  .sort();
const text = new Map([...sources, ...others].map((f) => [f, readFileSync(join(ROOT, f), 'utf8')]));

function importsOf(file: string): string[] {
  // Its texts are programs of others, which import what they need.
  if (file === 'server/console/screens/send/senders.ts') return [];
  const pattern = /(?:^|\n)(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?['"]([^'"]+)['"]/g;
  return [...(text.get(file) ?? '').matchAll(pattern)].map((match) => match[1]);
}

function localImportsOf(file: string): string[] {
  return importsOf(file)
    .filter((name) => name.startsWith('.') && !name.endsWith('.css'))
    .map((name) => relative(ROOT, join(ROOT, dirname(file), name)));
}

function packageOf(name: string): string {
  if (name.startsWith('node:')) return name.replace(/^(node:[^/]+).*/, '$1');
  return name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : name.split('/')[0];
}

/** A function that has a body. */
interface Measured {
  place: string;
  /** Of its body. */
  lines: number;
  parameters: number;
}

/** The functions of a file. */
function functionsIn(file: string): Measured[] {
  const found: Measured[] = [];
  const source = ts.createSourceFile(file, text.get(file) ?? '', ts.ScriptTarget.Latest, true);
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const walk = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const lines = lineAt(node.body.end) - lineAt(node.body.getStart()) + 1;
      const place = `${file}:${lineAt(node.getStart()) + 1}`;
      found.push({ place, lines, parameters: node.parameters.length });
    }
    ts.forEachChild(node, walk);
  };
  walk(source);
  return found;
}

function layerOf(file: string): number {
  return LAYERS.findIndex(
    (layer) => file === layer || (layer.endsWith('/') && file.startsWith(layer)),
  );
}

t.test('every source file belongs to a layer', async (t) => {
  t.same(
    sources.filter((file) => layerOf(file) < 0),
    [],
  );
});

t.test('imports point down the layers', async (t) => {
  const wrong: string[] = [];
  for (const file of sources) {
    for (const target of localImportsOf(file)) {
      const apart = APART.some((pair) => {
        const from = pair.findIndex((folder) => file.startsWith(folder));
        return from >= 0 && target.startsWith(pair[1 - from]);
      });
      const above = layerOf(target) < layerOf(file);
      const outside =
        file.startsWith(CONSOLE) && !target.startsWith(CONSOLE) && !CONTRACT.includes(target);
      const inside =
        file.startsWith('server/') &&
        target.startsWith('engine/') &&
        !target.startsWith('engine/base/') &&
        !SURFACE.includes(target);
      if (apart || above || inside || outside) wrong.push(`${file} imports ${target}`);
    }
  }
  t.same(wrong, []);
});

t.test('no file is part of an import cycle', async (t) => {
  const done = new Set<string>();
  const cycles: string[] = [];
  const walk = (file: string, trail: string[]): void => {
    if (trail.includes(file)) cycles.push([...trail.slice(trail.indexOf(file)), file].join(' > '));
    if (done.has(file) || trail.includes(file)) return;
    for (const target of localImportsOf(file)) walk(target, [...trail, file]);
    done.add(file);
  };
  for (const file of sources) walk(file, []);
  t.same(cycles, []);
});

t.test('each package and each guarded built-in has its sole importer', async (t) => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const wrong: string[] = [];
  for (const file of sources) {
    for (const name of importsOf(file)
      .filter((entry) => !entry.startsWith('.'))
      .map(packageOf)) {
      const importers = SOLE_IMPORTERS[name];
      if (importers === undefined && name.startsWith('node:')) continue;
      const isOne = importers?.some(
        (each) => file === each || (each.endsWith('/') && file.startsWith(each)),
      );
      if (isOne !== true) wrong.push(`${file} imports ${name}`);
    }
    if (/process\.env\b/.test(text.get(file) ?? '') && file !== 'server/config.ts') {
      wrong.push(`${file} reads process.env`);
    }
  }
  t.same(wrong, []);
  const named = Object.keys(SOLE_IMPORTERS).filter((name) => !name.startsWith('node:'));
  const unused = named.filter((name) => !Object.hasOwn(manifest.dependencies, name));
  t.same(unused, [], 'every sole importer is of a dependency');
});

t.test('every dependency is exact and has its line in ARCHITECTURE.md', async (t) => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const architecture = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  for (const [name, version] of Object.entries<string>({
    ...manifest.dependencies,
    ...manifest.devDependencies,
  })) {
    t.match(version, /^(npm:@[\w-]+\/[\w-]+@)?\d+\.\d+\.\d+$/, `${name} ${version} is exact`);
    t.ok(architecture.includes(`\`${name}\``), `ARCHITECTURE.md says why ${name} is there`);
  }
});

t.test('kernels, which are one module, export each name once', async (t) => {
  const ownerOf = new Map<string, string>();
  const twice: string[] = [];
  for (const [file, source] of text) {
    if (!file.endsWith('.as.ts')) continue;
    const imported = new Set(
      [...source.matchAll(/^import \{([^}]*)\}/gm)].flatMap(
        ([, names]) => names.match(/\w+/g) ?? [],
      ),
    );
    const lists = [...source.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, names]) =>
      names.split(',').map((name) => name.trim()),
    );
    const declared = [...source.matchAll(/^export (?:function|const|let) (\w+)/gm)];
    for (const name of [...declared.map(([, name]) => name), ...lists]) {
      const [inner, outer = inner] = name.split(' as ');
      if (name === '' || imported.has(inner)) continue;
      const owner = ownerOf.get(outer);
      if (owner !== undefined) twice.push(`${outer}: ${owner}, ${file}`);
      ownerOf.set(outer, file);
    }
  }
  t.ok(ownerOf.size > 50);
  t.same(twice, []);
});

t.test('a folder has no more files than a person looks through', async (t) => {
  const folders = Map.groupBy(sources, (file) => dirname(file));
  const crowded = [...folders].filter(([, files]) => files.length > FILES_MAX);
  t.same(
    crowded.map(([folder]) => folder),
    [],
  );
});

t.test('files and functions are of a size that a person reads', async (t) => {
  const long: string[] = [];
  for (const [file, source] of text) {
    const lines = source.split('\n');
    if (lines.length > LINES_MAX) long.push(`${file}: ${lines.length} lines`);
  }
  for (const file of sources) {
    const isPerValue = PER_VALUE.some((folder) => file.startsWith(folder));
    for (const { place, lines, parameters } of functionsIn(file)) {
      if (lines > FUNCTION_LINES_MAX) long.push(`${place}: function of ${lines} lines`);
      if (parameters > PARAMETERS_MAX && !isPerValue)
        long.push(`${place}: ${parameters} parameters`);
    }
  }
  t.same(long, []);
});

t.test('comments keep to the width of a line', async (t) => {
  const wide: string[] = [];
  for (const [file, source] of text) {
    for (const [index, line] of source.split('\n').entries()) {
      const isComment = /^\s*(\/?\*|\/\/)(?! \|)/.test(line);
      if (isComment && line.length > COMMENT_COLUMNS_MAX) wide.push(`${file}:${index + 1}`);
    }
  }
  t.same(wide, []);
});

t.test('every export has a docstring', async (t) => {
  const bare: string[] = [];
  for (const file of sources) {
    const lines = (text.get(file) ?? '').split('\n');
    for (const [index, line] of lines.entries()) {
      if (!/^export (abstract |async )?(function|class|const|let|interface|type)/.test(line))
        continue;
      const documented = /\*\/\s*$/.test(lines[index - 1] ?? '');
      const pair = /^export const (\w+)/.exec(lines[index - 1] ?? '') !== null;
      if (!documented && !pair) bare.push(`${file}:${index + 1}`);
    }
  }
  t.same(bare, []);
});

t.test('every citation is of a section that exists in the repository', async (t) => {
  const documents: Record<string, string> = {
    INTERFACE: 'server/INTERFACE.md',
    FORMAT: 'engine/FORMAT.md',
    ARCHITECTURE: 'ARCHITECTURE.md',
  };
  const sections = new Map(
    Object.entries(documents).map(([name, file]) => {
      const headings = readFileSync(join(ROOT, file), 'utf8').matchAll(/^#+ (\d+(?:\.\d+)?)\.? /gm);
      return [name, new Set([...headings].map((heading) => heading[1]))];
    }),
  );
  const pages = [...Object.values(documents), 'README.md', 'CHANGELOG.md'];
  const cited = new Map(pages.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
  const wrong: string[] = [];
  for (const [file, source] of [...text, ...cited]) {
    for (const [, name, list] of source.matchAll(
      /\b([\w/-]+)\.md`?(?:\s+(?:\* )?)((?:(?:, | and )?\d+(?:\.\d+)*)+)/g,
    )) {
      const known = sections.get(name.replace(/^.*\//, ''));
      for (const number of list.split(/, | and /)) {
        if (!known?.has(number)) wrong.push(`${file} cites ${name}.md ${number}`);
      }
    }
    for (const [page] of source.matchAll(/\b(decisions|design|interface)\.md\b/g)) {
      if (file !== 'test/tidy.test.ts') wrong.push(`${file} cites ${page}`);
    }
  }
  t.same(wrong, []);
});

t.test('tests of the service are named after sections of INTERFACE.md', async (t) => {
  const headings = readFileSync(join(ROOT, 'server/INTERFACE.md'), 'utf8').matchAll(
    /^#+ (\d+(?:\.\d+)?)\.? /gm,
  );
  const sections = new Set([...headings].map((heading) => heading[1]));
  const wrong: string[] = [];
  for (const file of others.filter((each) => each.startsWith('test/service/'))) {
    const named = /\/(\d[\d.]*)-[^/]*$/.exec(file)?.[1];
    const titles = (text.get(file) ?? '').matchAll(/t\.test\(\s*['`](\d+(?:\.\d+)?) /g);
    for (const number of [named, ...[...titles].map((title) => title[1])]) {
      if (number !== undefined && !sections.has(number)) wrong.push(`${file}: ${number}`);
    }
  }
  t.same(wrong, []);
});

t.test('docstrings name the thing first', async (t) => {
  const wrong: string[] = [];
  for (const file of sources) {
    for (const [docstring] of (text.get(file) ?? '').matchAll(
      /\/\*\*[\s*]+(?:What|Whether)\b.*/g,
    )) {
      wrong.push(`${file}: ${docstring}`);
    }
  }
  t.same(wrong, []);
});

t.test('no words that the house does not use', async (t) => {
  const banned =
    /\b(TODO|FIXME|XXX|HACK)\b|: any[;,)[\]]|: any =|as any\b|<any>|@ts-ignore|@ts-nocheck/;
  const wrong: string[] = [];
  for (const [file, source] of text) {
    if (file === 'test/tidy.test.ts') continue;
    for (const [index, line] of source.split('\n').entries()) {
      if (banned.test(line)) wrong.push(`${file}:${index + 1}: ${line.trim()}`);
    }
  }
  t.same(wrong, []);
});

t.test('JSON.parse is never used on events', async (t) => {
  const wrong = sources.filter(
    (file) =>
      /^(engine|server\/(decode|ingest|listen))\//.test(file) &&
      /\bJSON\.parse\(/.test(text.get(file) ?? ''),
  );
  t.same(wrong, []);
});

t.test('the oracles import nothing from what they judge', async (t) => {
  const oracles = others.filter((file) => /^test\/support\/(\w+-)?model\.ts$/.test(file));
  t.ok(oracles.length > 0, 'there is an oracle');
  for (const file of oracles) {
    t.same(
      localImportsOf(file).filter((target) => !target.startsWith('test/')),
      [],
      file,
    );
  }
});

t.test('nothing imports tests or benches', async (t) => {
  const wrong = sources.filter((file) =>
    localImportsOf(file).some(
      (target) => target.startsWith('test/') || target.startsWith('bench/'),
    ),
  );
  t.same(wrong, []);
});

t.test('README.md stays short', async (t) => {
  const lines = readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n').length;
  t.ok(lines <= README_LINES_MAX + 1, `${lines} lines`);
});
