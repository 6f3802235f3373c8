import t, { type Test } from 'tap';
import { must } from '../../engine/base/assert.ts';
import { type Disk, openDisk } from '../../engine/base/file.ts';
import { openReader } from '../../engine/engine.ts';
import { type OpenedCatalog, openCatalog, recoverWriter } from '../../engine/store/catalog.ts';
import { Intake } from '../../server/ingest/intake.ts';
import type { TaskOutcome } from '../../server/ingest/protocol.ts';
import type { LineSource } from '../../server/ingest/worker-handle.ts';
import { LineCells } from '../../server/listen/line-cells.ts';
import { UsageCells } from '../../server/registry/usage.ts';
import { removeFolder, temporaryFolder } from '../support/service.ts';

const ENTRY = new URL('../support/dying-ingest.ts', import.meta.url);
const KEY = { id: 'key', cell: 0 };

interface Rig {
  folder: string;
  disk: Disk;
  opened: OpenedCatalog;
  intake: Intake;
  deaths: number[];
  recovered: number[];
  send: (content: string) => Promise<TaskOutcome>;
}

async function open(t: Test, workers: number): Promise<Rig> {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  const disk = openDisk(folder);
  const opened = await openCatalog({ disk, nowMs: Date.now() });
  const { manifest, catalog } = opened;
  const cells = new UsageCells();
  cells.begin(KEY.cell);
  const deaths: number[] = [];
  const recovered: number[] = [];
  const intake = new Intake({
    workers,
    root: folder,
    folderId: manifest.folderId,
    keys: { version: 1, entries: [] },
    cells: cells.shared,
    lineCells: LineCells.for(workers).shared,
    nowMs: Date.now,
    sequence: catalog.end,
    allocate: () => manifest.reserve(),
    begun: (segment, writer) => manifest.begin(segment, writer),
    closed: (segment, bytes, sequence) => manifest.close(segment, bytes, sequence),
    committed: (group) => catalog.apply(group),
    fault: (error) => t.fail(error.message),
    died: (_, writer) => deaths.push(writer),
    recover: async (writer) => {
      await recoverWriter({ disk }, opened, writer);
      recovered.push(writer);
    },
    entry: ENTRY,
    restartTimes: { firstMs: 1, mostMs: 20, longLifeMs: 60_000 },
  });
  await intake.ready();
  const send = async (content: string): Promise<TaskOutcome> => {
    const body = Buffer.from(content);
    let place = intake.reserve(body.length);
    while (place === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      place = intake.reserve(body.length);
    }
    const { thread, slot } = place;
    thread.slots.bytes.set(body, slot.start);
    return thread.body(slot, {
      type: 'body',
      channel: 'http',
      bytes: body.length,
      form: 'json',
      key: KEY,
      receivedMs: Date.now(),
      enrichment: undefined,
    });
  };
  return { folder, disk, opened, intake, deaths, recovered, send };
}

/** The events of a catalog, as `{n, group, size}`. */
function stored({ disk, opened }: Pick<Rig, 'disk' | 'opened'>): Record<string, number>[] {
  const reader = openReader(disk, opened.manifest.secret);
  const units = reader.list(opened.catalog.snapshot(), {
    fromMs: -8.64e15,
    toMs: 8.64e15,
    predicate: { type: 'all' },
    order: 'asc',
    limit: 1_000_000,
    event: true,
    columns: [],
  });
  for (;;) {
    const { done, value } = units.next();
    if (done !== true) continue;
    reader.close();
    return value.events.map(({ event }) => JSON.parse(must(event, 'event')).custom);
  }
}

t.test('whenever workers die, all that was acknowledged is there, whole and once', async (t) => {
  const rig = await open(t, 2);
  const acknowledged = new Set<number>();
  let number = 0;
  let refused = 0;
  const sender = async (seed: number): Promise<void> => {
    // A life may end before several that are to die in it, so there may be more rounds.
    for (let round = 0; round < 30 || rig.deaths.length < 3; round++) {
      const size = 1 + ((round * 7 + seed) % 30);
      const numbers = Array.from({ length: size }, () => number++);
      const note = (round + seed * 5) % 20 === 7 ? `die:${(round + seed) % 6}` : 'well';
      const events = numbers.map((n) => ({ n, group: numbers[0], size, note }));
      const outcome = await rig.send(JSON.stringify(events));
      if (outcome.status === 200) for (const n of numbers) acknowledged.add(n);
      else {
        t.equal(outcome.status, 503);
        refused++;
      }
    }
  };
  await Promise.all([0, 1, 2, 3].map(sender));
  t.ok(refused > 0 && acknowledged.size > 0, `${refused} requests refused`);
  while (rig.intake.gauges().workersUp < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  t.equal((await rig.send('{"n":-1,"group":-1,"size":1}')).status, 200, 'it goes on');
  t.equal(rig.intake.restartCount, rig.deaths.length);
  t.same(
    rig.recovered.toSorted(),
    rig.deaths.toSorted(),
    'each was recovered before its next life',
  );
  t.match(rig.intake.gauges(), { tasksPending: 0, workersUp: 2 });
  const { slotBytes, slotBytesFree } = rig.intake.gauges();
  t.equal(slotBytesFree, slotBytes, 'no slot is lost');
  await rig.intake.close();

  const before = stored(rig);
  await rig.opened.manifest.release();
  const disk = openDisk(rig.folder);
  const again = await openCatalog({ disk, nowMs: Date.now() });
  t.same(again.report.recovered, [], 'no segment is open after an orderly end');
  t.same(again.report.remarks, []);
  const after = stored({ disk, opened: again });
  await again.manifest.release();
  for (const events of [before, after]) {
    const numbers = events.map(({ n }) => n);
    const there = new Set(numbers);
    t.equal(there.size, numbers.length, 'nothing is there twice');
    t.same(
      [...acknowledged].filter((n) => !there.has(n)),
      [],
    );
    const sizes = new Map<number, number>();
    for (const { group } of events) sizes.set(group, (sizes.get(group) ?? 0) + 1);
    t.same(
      events.filter(({ group, size }) => sizes.get(group) !== size),
      [],
      'all are whole',
    );
  }
  t.same(new Set(after.map(({ n }) => n)), new Set(before.map(({ n }) => n)));
});

t.test('a worker that dies again and again leaves the others to work', async (t) => {
  const rig = await open(t, 2);
  for (let death = 0; death < 4; death++) {
    while (rig.intake.gauges().workersUp < 2) {
      t.equal((await rig.send('{"n":1}')).status, 200, 'the other takes events');
    }
    // Whether it was stored before the end, nobody promises.
    await rig.send('{"note":"die:0"}');
    while (rig.deaths.length === death) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  t.equal(rig.deaths.length, 4);
  await rig.intake.close();
  await rig.opened.manifest.release();
});

t.test(
  'what waits for the group of a worker that dies goes on when its segments are closed',
  async (t) => {
    const rig = await open(t, 2);
    let sent = 0;
    for (const place of ['claim', 'locked']) {
      const deaths = rig.deaths.length;
      const dying = rig.send(`{"note":"die:${place}"}`);
      const others = Array.from({ length: 8 }, () => rig.send(`{"n":${sent++}}`));
      t.equal((await dying).status, 503, place);
      await Promise.all(others);
      while (rig.recovered.length === deaths)
        await new Promise((resolve) => setTimeout(resolve, 1));
      t.equal((await rig.send(`{"n":${sent++}}`)).status, 200, `${place}: it goes on`);
    }
    t.equal(rig.deaths.length, 2);
    await rig.intake.close();
    t.match(stored(rig).at(-1), { n: sent - 1 });
    await rig.opened.manifest.release();
  },
);

t.test('lines of a dead worker are lost, and without any worker lines wait', async (t) => {
  const rig = await open(t, 1);
  const settled: boolean[] = [];
  const source: LineSource = {
    origin: { channel: 'tcp' },
    read: () => {},
    settled: (_, isStored) => settled.push(isStored),
  };
  const thread = rig.intake.leastBusy();
  t.ok(thread.roomForLines(100, source.origin));
  thread.appendLines(new Uint8Array(0), Buffer.from('nokey die:now\n'), false, source);
  while (settled.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  t.same(settled, [false]);
  t.ok(thread.dead);
  t.notOk(thread.roomForLines(100, source.origin), 'nothing is taken that would be lost');
  t.equal(rig.intake.reserve(10), undefined);
  while (thread.dead) await new Promise((resolve) => setTimeout(resolve, 1));
  t.ok(thread.roomForLines(100, source.origin));
  t.equal((await rig.send('{"n":1}')).status, 200);
  await rig.intake.close();
  await rig.opened.manifest.release();
});

t.test('what a worker died of is not given to the one in its place', async (t) => {
  const rig = await open(t, 1);
  const thread = rig.intake.leastBusy();
  const lifted = async (): Promise<void> => {
    while (thread.dead) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const tail = Buffer.from('{"n":7}');
  const place = must(rig.intake.reserve(tail.length), 'room');
  thread.slots.bytes.set(tail, place.slot.start);
  // In one message to the worker: it dies of the first, and has read neither.
  const outcomes = await Promise.all([rig.send('{"note":"die:now"}'), rig.send('{"n":1}')]);
  t.same(
    outcomes.map(({ status }) => status),
    [503, 503],
  );
  await lifted();
  for (let n = 2; n < 6; n++) t.equal((await rig.send(`{"n":${n}}`)).status, 200);
  t.equal(rig.deaths.length, 1);
  const { status } = await thread.body(place.slot, {
    ...{ type: 'body', channel: 'http', bytes: tail.length, form: 'json', key: KEY },
    ...{ receivedMs: Date.now(), enrichment: undefined },
  });
  t.equal(status, 200, 'a body that was coming in meanwhile is taken');

  const settled: [string, boolean][] = [];
  const origin = { channel: 'tcp' } as const;
  const sourceOf = (name: string): LineSource => ({
    origin,
    read: () => {},
    settled: (_, isStored) => settled.push([name, isStored]),
  });
  const add = (name: string, line: string): void => {
    if (!thread.roomForLines(100, origin)) throw new Error('no room');
    thread.appendLines(new Uint8Array(0), Buffer.from(`${line}\n`), false, sourceOf(name));
  };
  add('hostile', 'nokey die:now');
  add('neighbour', 'nokey well');
  while (settled.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  await lifted();
  add('later', 'nokey well');
  while (settled.length < 3) await new Promise((resolve) => setTimeout(resolve, 1));
  t.same(settled, [
    ['hostile', false],
    ['neighbour', false],
    ['later', true],
  ]);
  t.equal(rig.deaths.length, 2);
  const { tasksPending, slotBytes, slotBytesFree } = rig.intake.gauges();
  t.same([tasksPending, slotBytesFree], [0, slotBytes], 'nothing is left of them');
  await rig.intake.close();
  t.same(
    stored(rig).map(({ n }) => n),
    [2, 3, 4, 5, 7],
  );
  await rig.opened.manifest.release();
});
