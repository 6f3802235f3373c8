import t from 'tap';
import { EngineError } from '../../engine/base/errors.ts';
import { PathTable } from '../../engine/column/path.ts';
import { makeSequences, Sequences } from '../../engine/store/sequences.ts';
import { Writer } from '../../engine/store/writer.ts';
import { CommitOrder } from '../../server/ingest/commit-order.ts';
import type { ToIngest } from '../../server/ingest/protocol.ts';
import { Recorder } from '../../server/ingest/recorder.ts';
import { rowsOf } from '../segment/block-maker.ts';
import { countRequests, openStore, visibleTexts } from '../store/rig.ts';
import { MemoryDisk } from '../support/memory-disk.ts';

const FAILED = { first: 5, end: 7 };
const CLOSED = { type: 'closed', segment: 1, bytes: 64, sequence: 5 } as const;

/** A recorder whose manifest fails so many times, and what it has done and said. */
function recorderOf(failures: number) {
  const said: string[] = [];
  const port = {
    post: (message: ToIngest) => said.push(message.type),
    listen: () => {},
    close: () => {},
  };
  let left = failures;
  const write = async (): Promise<void> => {
    if (left-- > 0) throw new EngineError('IO', 'no manifest');
    said.push('written');
  };
  const recorder = new Recorder({
    allocate: () => 9,
    begun: write,
    closed: write,
    recover: write,
    fault: (error) => said.push(error.message),
  });
  return { recorder, port, said };
}

t.test('a segment that is full is recorded once, and the worker is told', async (t) => {
  const { recorder, port, said } = recorderOf(1);
  t.equal(recorder.closed(0, port, { ...CLOSED, failed: undefined }), undefined);
  recorder.allocate(0, port);
  recorder.begun(0, port, 9);
  await recorder.close();
  t.same([...said].sort(), ['allocated', 'failed', 'recorded', 'written']);
});

t.test(
  'the end of a group that failed is recorded, however often that has to be tried',
  async (t) => {
    const { recorder, port, said } = recorderOf(2);
    await recorder.closed(0, port, { ...CLOSED, failed: FAILED });
    t.same(said, ['failed', 'no manifest', 'written'], 'the worker hears of the first try alone');
    await recorder.close();
  },
);

t.test(
  'the segments of a dead worker are recovered, however often that has to be tried',
  async (t) => {
    const { recorder, said } = recorderOf(1);
    await recorder.recover(0);
    t.same(said, ['no manifest', 'written']);
  },
);

t.test('what is not recorded when the recorder ends never is', async (t) => {
  const { recorder, port, said } = recorderOf(1_000);
  let isOver = false;
  void recorder.closed(0, port, { ...CLOSED, failed: FAILED })?.then(() => {
    isOver = true;
  });
  await recorder.close();
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isOver);
  t.equal(said[0], 'failed');
});

/**
 * Two writers whose groups become visible in their order, on a disk whose next sync of the first one's file may be
 * held.
 */
async function twoWriters() {
  const disk = new MemoryDisk();
  const opened = await openStore(disk);
  const { manifest, catalog } = opened;
  const sequences = new Sequences(makeSequences(2, catalog.end));
  const order = new CommitOrder(2, catalog.end);
  const gate: { failing: Promise<void> | undefined } = { failing: undefined };
  const real = disk.open.bind(disk);
  disk.open = (path, mode) => {
    if (path !== 'log/00000001.log' || mode !== 'create-synced') return real(path, mode);
    const file = real(path, 'create');
    const write = async (chunks: readonly Uint8Array[], position: number): Promise<void> => {
      await file.write(chunks, position);
      if (gate.failing === undefined) return file.sync();
      await gate.failing;
      throw new EngineError('IO', 'sync failed');
    };
    return Object.assign(Object.create(file), { write });
  };
  const paths = new PathTable();
  const writers = [0, 1].map(
    (writer) =>
      new Writer({
        disk,
        writer,
        folderId: manifest.folderId,
        paths,
        sequences,
        allocate: async () => manifest.reserve(),
        begun: (segment) => manifest.begin(segment, writer),
        closed: (segment, bytes, sequence, failed) =>
          new Promise((resolve) => {
            order.add(writer, () => manifest.close(segment, bytes, sequence).then(resolve), failed);
          }),
        committed: (group) =>
          new Promise((resolve) => {
            order.add(writer, () => void resolve(catalog.apply(group)), group.claim);
          }),
        nowMs: () => 1,
        monotonicMs: () => 1,
      }),
  );
  const append = (writer: number, name: string): Promise<void> => {
    const leaves = [{ names: ['message'], kind: 'string' as const, text: `${name}.0` }];
    return (writers[writer] as Writer).append(rowsOf(paths, [{ timeMs: 1, leaves }]), []);
  };
  return { disk, opened, gate, append };
}

t.test('a later group waits for one that fails, which then never shows', async (t) => {
  const { disk, opened, gate, append } = await twoWriters();
  await append(0, 'a');
  await append(1, 'b');
  const { promise, resolve } = Promise.withResolvers<void>();
  gate.failing = promise;
  const failing = append(0, 'fails');
  await new Promise((done) => setImmediate(done));
  let isAcknowledged = false;
  const later = append(1, 'later').then(() => {
    isAcknowledged = true;
  });
  for (let turn = 0; turn < 50; turn++) await new Promise((done) => setImmediate(done));
  t.notOk(isAcknowledged, 'it is durable, but one before it is not settled');
  t.same([...countRequests(visibleTexts(disk, opened)).keys()].sort(), ['a', 'b']);
  resolve();
  await t.rejects(failing, { code: 'IO' });
  await later;
  t.ok(opened.manifest.segments.get(1)?.closed, 'the failed group is closed off');
  t.same([...countRequests(visibleTexts(disk, opened)).keys()].sort(), ['a', 'b', 'later']);
  disk.crash({ type: 'none' });
  const again = await openStore(disk);
  t.same([...countRequests(visibleTexts(disk, again)).keys()].sort(), ['a', 'b', 'later']);
});
