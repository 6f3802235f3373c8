import t from 'tap';
import type { Disk, DiskFile } from '../../engine/base/file.ts';
import { openReader } from '../../engine/engine.ts';
import { Reader } from '../../engine/query/reader.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';
import { Blocks, ofAll, run } from './blocks.ts';

/** A disk of one block a file, which counts what is open and what is read. */
class CountingDisk {
  openFiles = 0;
  reads = 0;
  readonly #contents = new Map<string, Uint8Array>();

  add(path: string, bytes: Uint8Array): void {
    this.#contents.set(path, bytes);
  }

  asDisk(): Disk {
    const refuse = (): never => {
      throw new Error('a reader only reads');
    };
    return {
      open: (path, mode) => this.#open(path, mode),
      list: refuse,
      sizeOf: refuse,
      makeFolder: refuse,
      link: refuse,
      rename: refuse,
      unlink: refuse,
      syncFolder: refuse,
    };
  }

  #open(path: string, mode: string): DiskFile {
    const content = this.#contents.get(path);
    if (content === undefined || mode !== 'read') throw new Error(`open ${path} to ${mode}`);
    this.openFiles++;
    const refuse = (): never => {
      throw new Error('a reader only reads');
    };
    return {
      bytes: () => content.length,
      read: (target, position) => {
        this.reads++;
        const part = content.subarray(position, position + target.length);
        target.set(part);
        return part.length;
      },
      write: refuse,
      sync: refuse,
      truncate: refuse,
      lock: refuse,
      standsAt: refuse,
      close: () => {
        this.openFiles--;
      },
    };
  }
}

/** A disk with `segments` segments of one block each, its event at the time of its number. */
function diskOf(segments: number): { disk: CountingDisk; refs: BlockRef[]; secret: Uint8Array } {
  const disk = new CountingDisk();
  const blocks = new Blocks();
  for (let writer = 0; writer < segments; writer++) {
    const leaves = [{ names: ['message'], kind: 'string' as const, text: `of ${writer}` }];
    blocks.add([{ timeMs: writer, leaves }], writer, 7);
    const path = `log/${String(writer + 1).padStart(8, '0')}.log`;
    disk.add(path, blocks.bytes(blocks.refs[writer]));
  }
  return { disk, refs: blocks.refs, secret: blocks.secret };
}

t.test('a reader answers queries from the files of the log', async (t) => {
  const { disk, refs, secret } = diskOf(5);
  const reader = openReader(disk.asDisk(), secret);
  const selection = { fromMs: 1, toMs: 4, predicate: { type: 'all' as const } };
  const view = { event: true, columns: [] };
  const query = { ...selection, ...view, order: 'asc' as const, limit: 10 };
  const { events } = run(reader.list({ blocks: refs }, query));
  t.same(
    events.map(({ event }) => event),
    [
      '{"custom":{},"message":"of 1"}',
      '{"custom":{},"message":"of 2"}',
      '{"custom":{},"message":"of 3"}',
    ],
  );
  const fetch = { id: events[1].id, predicate: selection.predicate, ...view };
  t.same(run(reader.fetch({ blocks: refs }, fetch)), events[1]);
  const words = { type: 'words' as const, words: [[{ literal: '3' }]] };
  const counted = { ...selection, predicate: words, ...ofAll({ type: 'core' }) };
  t.same(run(reader.aggregate({ blocks: refs }, counted)).buckets, [{ keys: [], values: [1] }]);
  reader.close();
  t.equal(disk.openFiles, 0);
});

t.test('a block that was opened a moment ago is not read again', async (t) => {
  const { disk, refs, secret } = diskOf(1);
  const reader = new Reader(disk.asDisk(), secret);
  reader.open(refs[0]).eventText(0);
  const { reads } = disk;
  reader.open(refs[0]).eventText(0);
  t.equal(disk.reads, reads);
  reader.close();
});

t.test('a bounded number of files is open, and blocks outlive their files', async (t) => {
  const { disk, refs, secret } = diskOf(200);
  const reader = new Reader(disk.asDisk(), secret);
  const blocks = refs.map((ref) => reader.open(ref));
  t.ok(disk.openFiles <= 64, `${disk.openFiles} files are open`);
  t.same(
    blocks.map((block) => block.eventText(0)),
    refs.map((_, writer) => `{"custom":{},"message":"of ${writer}"}`),
  );
  reader.close();
  t.equal(disk.openFiles, 0);
});
