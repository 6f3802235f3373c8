import t from 'tap';
import { BLOCK_AGE_MAX_MS, BLOCK_ROWS_FINAL } from '../../engine/base/limits.ts';
import { countRequests, openStore, Rig, visibleTexts } from '../store/rig.ts';
import { type Faults, type Loss, MemoryDisk } from '../support/memory-disk.ts';

const POWER: Loss = { type: 'all' };
/** Less than all groups take together, so that room is made and used up. */
const ROOM_BYTES = 2_048;
const SEEDS = Number(process.env['CRASH_SEEDS'] ?? 4);

/** Answers to callers about their requests; those that were told nothing are in neither. */
class Requests {
  readonly sizes = new Map<string, number>();
  readonly acked = new Set<string>();
  readonly refused = new Set<string>();

  async send(rig: Rig, rows: number, urgent = true): Promise<void> {
    const name = `r${this.sizes.size}`;
    this.sizes.set(name, rows);
    try {
      await rig.append(name, rows, urgent);
      this.acked.add(name);
    } catch {
      this.refused.add(name);
      rig.nowMs += 1_000;
    }
  }

  /** Faults of the rows shown of each request; `strict`: what was refused must not show. */
  violation(shown: Map<string, number>, strict: boolean): string | undefined {
    for (const [name, rows] of this.sizes) {
      const count = shown.get(name) ?? 0;
      if (count !== 0 && count !== rows) return `${count} of ${rows} rows of ${name}`;
      if (this.acked.has(name) && count === 0) return `${name} is lost`;
      if (strict && this.refused.has(name) && count > 0) return `${name} was refused and shows`;
    }
    return undefined;
  }
}

async function work(disk: MemoryDisk, requests: Requests): Promise<Rig | undefined> {
  let rig: Rig;
  try {
    rig = await Rig.open(disk, { roomBytes: ROOM_BYTES });
  } catch {
    return undefined;
  }
  await requests.send(rig, 3);
  await Promise.all([requests.send(rig, 2), requests.send(rig, 4), requests.send(rig, 1, false)]);
  await Promise.all([requests.send(rig, 1), requests.send(rig, 2)]);
  rig.nowMs += BLOCK_AGE_MAX_MS;
  rig.writer.tick();
  await requests.send(rig, 2);
  const first = requests.send(rig, 5);
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([first, requests.send(rig, 6), requests.send(rig, BLOCK_ROWS_FINAL)]);
  await requests.send(rig, 1);
  await rig.writer.close();
  return rig;
}

async function run(faults: Faults): Promise<{ disk: MemoryDisk; requests: Requests; rig?: Rig }> {
  const disk = new MemoryDisk();
  disk.faults = faults;
  const requests = new Requests();
  const rig = await work(disk, requests);
  return rig === undefined ? { disk, requests } : { disk, requests, rig };
}

async function afterRestart(disk: MemoryDisk): Promise<Map<string, number>> {
  const opened = await openStore(disk);
  const damaged = opened.report.remarks.filter((remark) => remark.damaged.length > 0);
  if (damaged.length > 0) throw new Error(`taken for corruption: ${JSON.stringify(damaged)}`);
  return countRequests(visibleTexts(disk, opened));
}

async function calls(): Promise<number> {
  const { disk, requests } = await run({});
  t.equal(requests.acked.size, requests.sizes.size);
  return disk.calls;
}

t.test('a call that fails refuses requests, and what was refused never shows', async (t) => {
  const total = await calls();
  for (let call = 1; call <= total; call++) {
    const { disk, requests, rig } = await run({ failAtCall: call });
    const what = `call ${call}, ${disk.trace[call - 1]}`;
    if (rig !== undefined) t.equal(requests.violation(rig.shown(), true), undefined, what);
    disk.crash(POWER);
    t.equal(requests.violation(await afterRestart(disk), true), undefined, `${what}, restarted`);
  }
});

t.test('a write that fails makes the writer begin another segment', async (t) => {
  const syncs = (await run({})).disk.trace.flatMap((call, index) =>
    call.startsWith('sync log/') ? [index + 1] : [],
  );
  const failed = Number(syncs[3]);
  const { disk, requests, rig } = await run({ failAtCall: failed });
  t.ok(requests.refused.size > 0);
  t.ok(requests.acked.size > 3);
  t.equal(rig?.opened.manifest.segments.size, 2);
  t.notOk(
    disk.trace.slice(failed).includes(String(disk.trace[failed - 1])),
    'the file is never synced again',
  );
});

t.test('a disk that fails from some call on loses nothing that was acknowledged', async (t) => {
  const total = await calls();
  for (let call = 1; call <= total; call++) {
    for (const loss of [POWER, { type: 'none' }] as const) {
      const { disk, requests, rig } = await run({ failFromCall: call });
      const what = `call ${call}, ${disk.trace[call - 1]}, ${loss.type}`;
      if (rig !== undefined) t.equal(requests.violation(rig.shown(), true), undefined, what);
      disk.crash(loss);
      t.equal(requests.violation(await afterRestart(disk), false), undefined, what);
    }
  }
});

t.test('a stop at any call keeps whole what was acknowledged, and parts of nothing', async (t) => {
  const total = await calls();
  for (let call = 1; call <= total; call++) {
    for (let seed = 0; seed <= SEEDS; seed++) {
      const { disk, requests } = await run({ crashAtCall: call });
      const what = `call ${call}, ${disk.trace[call - 1]}, seed ${seed}`;
      disk.crash(seed === 0 ? POWER : { type: 'random', seed: seed * 1_000 + call });
      t.equal(requests.violation(await afterRestart(disk), false), undefined, what);
      const again = await Rig.open(disk, { roomBytes: ROOM_BYTES });
      await again.append('again', 2);
      t.equal(again.shown().get('again'), 2, `${what}: goes on`);
    }
  }
});
