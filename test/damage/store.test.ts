import t from 'tap';
import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { listUnits } from '../../engine/query/events/list.ts';
import { Reader } from '../../engine/query/reader.ts';
import { makeStore } from '../backup/stores.ts';
import { run } from '../query/blocks.ts';
import { openStore } from '../store/rig.ts';
import type { MemoryDisk } from '../support/memory-disk.ts';

const EVER = { fromMs: -1e15, toMs: 1e15, predicate: { type: 'all' as const }, columns: [] };

/** Outcome of the start of a store: events, or that it is refused; and whether rows are said to be lost. */
interface Start {
  events: Map<string, string>;
  isPartial: boolean;
  refusal: string | undefined;
}

async function started(disk: MemoryDisk): Promise<Start> {
  const start: Start = { events: new Map(), isPartial: false, refusal: undefined };
  try {
    const { catalog, manifest, report } = await openStore(disk);
    const reader = new Reader(disk, manifest.secret);
    const { blocks } = catalog.snapshot();
    const query = { ...EVER, order: 'asc' as const, limit: 1_000, event: true };
    const { events, stats } = run(listUnits(reader, { blocks }, query));
    for (const { id, event } of events) start.events.set(id, String(event));
    start.isPartial = stats.blocksDamaged > 0 || report.remarks.length > 0;
    await manifest.release();
  } catch (error) {
    const isKnown = error instanceof EngineError && ['CORRUPTION', 'USAGE'].includes(error.code);
    if (!isKnown) throw error;
    start.refusal = error.message;
  }
  return start;
}

const { disk: whole } = await makeStore();
whole.crash({ type: 'all' });
const wanted = await started(whole.clone());
if (wanted.events.size !== 44 || wanted.isPartial) throw new Error('the store is whole');

/** Files whose bytes are flipped alone or together. Of a manifest's copies one alone is healed: record-file.test.ts. */
const FILES = [
  ['log/00000003.log'],
  ['log/00000004.log'],
  ['sealed/00000002.seg'],
  ['manifest', 'manifest.copy'],
];

/** Flips a byte of some files; the bytes are their own. */
async function flipped(paths: readonly string[], at: number): Promise<Start> {
  const disk = whole.clone();
  for (const path of paths) {
    disk.damage(path, (bytes) => {
      bytes[at] ^= 1 + (at % 255);
      return bytes;
    });
  }
  return started(disk);
}

for (const paths of FILES) {
  const [first] = paths;
  t.test(`a start with any flipped byte of ${first} is right or tells of it`, async (t) => {
    const length = must(whole.sizeOf(first), 'a file');
    let told = 0;
    for (let at = 0; at < length; at++) {
      const { events, isPartial, refusal } = await flipped(paths, at);
      if (isPartial || refusal !== undefined) told++;
      else if (events.size !== wanted.events.size) t.fail(`byte ${at}: ${events.size} events`);
      for (const [id, text] of events) {
        if (wanted.events.get(id) !== text) t.fail(`byte ${at}: ${id} is ${text}`);
      }
    }
    t.ok(told > length / 3, `${told} of ${length} flips are told`);
  });
}
