import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { fileCorpus } from '../../bench/corpus/file.ts';
import { statisticsOf } from '../../bench/corpus/statistics.ts';

const folder = mkdtempSync(join(tmpdir(), 'logseam-corpus-'));
t.teardown(() => rmSync(folder, { recursive: true }));

/** Writes a file and returns its path. */
function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** The first `count` lines of a file. */
function lines(path: string, count: number): string[] {
  return Array.from({ length: count }, fileCorpus(path).make(1));
}

t.test('lines come in their order, and again when more are asked for', async (t) => {
  const path = file('short.log', 'one\n\ntwo\r\nthree é');
  t.same(lines(path, 7), ['one', 'two', 'three é', 'one', 'two', 'three é', 'one']);
  const corpus = fileCorpus(path);
  const [first, second] = [corpus.make(1), corpus.make(2)];
  t.same([first(), first(), second()], ['one', 'two', 'one'], 'each source begins anew');
});

t.test('lines that go over the pieces in which a file is read are whole', async (t) => {
  const all = Array.from({ length: 40_000 }, (_, at) => `${at} ${'é'.repeat(at % 97)}`);
  const content = `${all.join('\n')}\n`;
  t.ok(Buffer.byteLength(content) > 3_000_000);
  for (const path of [file('long.log', content), file('long.log.gz', gzipSync(content))]) {
    t.ok(lines(path, all.length).join('\n') === all.join('\n'), path);
    t.equal(lines(path, all.length + 1).at(-1), all[0], `${path}, again`);
  }
});

t.test('a gzip of several parts is one file', async (t) => {
  const path = file('parts.gz', Buffer.concat([gzipSync('one\ntw'), gzipSync('o\nthree\n')]));
  t.same(lines(path, 4), ['one', 'two', 'three', 'one']);
});

t.test('a line is cut at a million bytes, and the next one is whole', async (t) => {
  const path = file('wide.log', `${'x'.repeat(3_500_000)}\n${'y'.repeat(1_000_000)}\nz\n`);
  t.same(
    lines(path, 3).map((line) => [line[0], line.length]),
    [
      ['x', 1_000_000],
      ['y', 1_000_000],
      ['z', 1],
    ],
  );
});

t.test('a file that cannot be read, unpacked or has no line is refused at once', async (t) => {
  t.throws(() => fileCorpus(join(folder, 'absent')), { code: 'ENOENT' });
  t.throws(() => fileCorpus(folder), { code: 'EISDIR' });
  t.throws(() => fileCorpus(file('empty', '')), { message: /empty has no line/ });
  t.throws(() => fileCorpus(file('blank', '\n\r\n\n')), { message: /blank has no line/ });
  t.throws(() => fileCorpus(file('none.gz', gzipSync(''))), { message: /none.gz has no line/ });
  const broken = gzipSync('one\n'.repeat(100)).subarray(0, 12);
  t.throws(() => fileCorpus(file('broken.gz', broken)), { message: /broken.gz: .*end of file/ });
});

t.test('the lines of a file have statistics', async (t) => {
  const path = file('counted.log', '{"a":1}\nplain text\n');
  const { bytes, shapes } = statisticsOf(fileCorpus(path), 100, 1);
  t.same(bytes, { mean: 8.5, p50: 10, p99: 10, max: 10 });
  t.equal(shapes, 2);
});
