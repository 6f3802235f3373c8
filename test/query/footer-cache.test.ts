import t from 'tap';
import { FooterCache } from '../../engine/query/footer-cache.ts';
import { CompactFooter } from '../../engine/segment/compact-footer.ts';
import { type Footer, memoryOf } from '../../engine/segment/footer.ts';
import { type PlainFooter, readFooter } from '../../engine/segment/footer-reader.ts';
import { SealedFile } from '../../engine/segment/sealed-file.ts';
import { sealedPath } from '../../engine/store/filename.ts';
import type { TestLeaf } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';

const COUNT_MAX = 3;
const LEAVES: TestLeaf[] = [
  { names: ['message'], kind: 'string', text: 'a' },
  { names: ['custom', 'size'], kind: 'number', text: '7' },
];

/** The file of a sealed segment of one row. */
async function sealedFile(): Promise<SealedFile> {
  const shelf = new Shelf();
  await shelf.add([{ timeMs: 1, leaves: LEAVES }], 0, 1);
  const { segments } = await shelf.seal(shelf.refs);
  const [{ segment }] = segments;
  return new SealedFile(shelf.disk.open(sealedPath(segment), 'read'), segment);
}

const file = await sealedFile();
const plain: PlainFooter = file.plainFooter();
const readBytes = memoryOf(readFooter(plain, 1));
const compactBytes = new CompactFooter(plain).memoryBytes;

/** A cache with room for COUNT_MAX footers that are read, and the segments whose files were read. */
function makeCache(compactMax: number): {
  cache: FooterCache;
  ask: (segment: number) => Footer;
  read: number[];
} {
  const cache = new FooterCache(COUNT_MAX * readBytes, compactMax * compactBytes);
  const read: number[] = [];
  const ask = (segment: number): Footer =>
    cache.get(segment, (share) => {
      read.push(segment);
      return file.plainFooter(share);
    });
  return { cache, ask, read };
}

t.test('what is kept takes no more than it may', async (t) => {
  const { cache, ask, read } = makeCache(COUNT_MAX);
  for (const segment of [1, 2, 3, 1, 2, 3]) ask(segment);
  t.same(read, [1, 2, 3], 'the file of a segment that is kept is not read again');
  for (let segment = 10; segment < 1_000; segment++) ask(segment);
  t.equal(cache.bytes, COUNT_MAX * (readBytes + compactBytes));
  t.equal(read.length, 993);
  for (const segment of [997, 998, 999]) ask(segment);
  t.equal(read.length, 993, 'compact forms of the last ones are kept');
  ask(10);
  t.equal(read.length, 994, 'what was used longest ago is not');
});

t.test('a scan of more footers than there is room for finds some that it left', async (t) => {
  const { ask } = makeCache(100);
  const first = Array.from({ length: 20 }, (_, segment) => ask(segment));
  const again = Array.from({ length: 20 }, (_, segment) => ask(segment));
  t.ok(again.some((footer, segment) => footer === first[segment]));
});

t.test('a footer is read from its compact form as from its file', async (t) => {
  const { ask, read } = makeCache(100);
  for (let segment = 1; segment <= 100; segment++) ask(segment);
  const footer = ask(100);
  t.equal(read.length, 100);
  const { minutes } = footer;
  t.same(minutes.minutes, file.footer().minutes.minutes);
  t.same(minutes.rowsBefore, file.footer().minutes.rowsBefore);
  const all = ({ columns }: Footer): unknown => columns?.columns(0, () => true);
  t.same(all(footer), all(file.footer()));
  t.same(footer.words, file.footer().words);
});

t.test('a footer is the same object while it is kept; none is kept of what is gone', async (t) => {
  const { cache, ask, read } = makeCache(COUNT_MAX);
  t.equal(ask(1), ask(1));
  ask(2);
  cache.forget([1, 7]);
  t.equal(cache.bytes, readBytes + compactBytes);
  ask(1);
  t.same(read, [1, 2, 1]);
  cache.clear();
  t.equal(cache.bytes, 0);
});

t.test('a footer that cannot be read is asked for again', async (t) => {
  const { cache, ask } = makeCache(COUNT_MAX);
  t.throws(() =>
    cache.get(1, () => {
      throw new Error('damaged');
    }),
  );
  t.equal(cache.bytes, 0);
  t.ok(ask(1));
});
