import t from 'tap';
import { type Loss, MemoryDisk } from '../support/memory-disk.ts';
import { continueWork, Journal, open, runWorkload, violation, visibleRows } from './workload.ts';

const POWER: Loss = { type: 'all' };
const KILL: Loss = { type: 'none' };
const SEEDS = Number(process.env['CRASH_SEEDS'] ?? 12);

async function callsOfWorkload(): Promise<{ calls: number; syncs: number; trace: string[] }> {
  const disk = new MemoryDisk();
  await runWorkload(disk, new Journal());
  return { calls: disk.calls, syncs: disk.syncs, trace: [...disk.trace] };
}

interface Crashed {
  disk: MemoryDisk;
  journal: Journal;
}

/** The disk and the world after a workload that was stopped at a call. */
async function stopped(call: number, ignoreSyncs: readonly number[] = []): Promise<Crashed> {
  const disk = new MemoryDisk();
  disk.faults = { crashAtCall: call, ignoreSyncs };
  const journal = new Journal();
  await runWorkload(disk, journal).catch(() => undefined);
  return { disk, journal };
}

function fork(from: Crashed): Crashed {
  const journal = new Journal();
  for (const [id, value] of from.journal.acked) journal.acked.set(id, value);
  journal.doubt = from.journal.doubt;
  return { disk: from.disk.clone(), journal };
}

/** Recovers, looks, goes on working, and looks again after another power loss. */
async function judge(crashed: Crashed): Promise<string | undefined> {
  const { disk, journal } = crashed;
  const first = await violation(disk, journal);
  if (first !== undefined) return first;
  const opened = await open(disk);
  await continueWork(disk, opened, journal);
  disk.crash(POWER);
  return violation(disk, journal);
}

/** Stops the recovery too, at each of its calls, and judges what a second recovery makes of it. */
async function judgeStoppedRecovery(crashed: Crashed, loss: Loss): Promise<string | undefined> {
  for (let call = 1; ; call++) {
    const { disk, journal } = fork(crashed);
    disk.faults = { crashAtCall: call };
    const ended = await open(disk).then(
      () => true,
      () => false,
    );
    disk.crash(loss);
    const wrong = await judge({ disk, journal });
    if (wrong !== undefined) return `recovery stopped at call ${call}: ${wrong}`;
    if (ended) return undefined;
  }
}

t.test('a workload without a stop shows all of its rows', async (t) => {
  const crashed = await stopped(Number.MAX_SAFE_INTEGER);
  crashed.disk.crash(POWER);
  t.equal(await judge(crashed), undefined);
  t.ok(crashed.journal.acked.size > 40);
});

t.test('a power loss at any call keeps what was acknowledged', async (t) => {
  const { calls, trace } = await callsOfWorkload();
  for (let call = 1; call <= calls; call++) {
    const crashed = await stopped(call);
    crashed.disk.crash(POWER);
    const wrong = (await judgeStoppedRecovery(crashed, POWER)) ?? (await judge(fork(crashed)));
    if (wrong !== undefined) t.fail(`stop at call ${call}, ${trace[call - 1]}: ${wrong}`);
  }
  t.pass(`${calls} calls`);
});

t.test('what a killed process had written may show, and then it stays', async (t) => {
  const { calls, trace } = await callsOfWorkload();
  for (let call = 1; call <= calls; call++) {
    const crashed = await stopped(call);
    crashed.disk.crash(KILL);
    const shown = await violation(crashed.disk, crashed.journal);
    crashed.disk.crash(POWER);
    const wrong = shown ?? (await judge(crashed));
    if (wrong !== undefined) t.fail(`stop at call ${call}, ${trace[call - 1]}: ${wrong}`);
  }
  t.pass(`${calls} calls`);
});

t.test('torn and reordered sectors are told from corruption and from groups', async (t) => {
  const { calls, trace } = await callsOfWorkload();
  for (let seed = 1; seed <= SEEDS; seed++) {
    for (let call = 1; call <= calls; call++) {
      const crashed = await stopped(call);
      crashed.disk.crash({ type: 'random', seed: seed * 1_000 + call });
      const wrong =
        seed % 4 === 1
          ? await judgeStoppedRecovery(crashed, { type: 'random', seed })
          : await judge(crashed);
      if (wrong !== undefined) t.fail(`seed ${seed}, call ${call}, ${trace[call - 1]}: ${wrong}`);
    }
  }
  t.pass(`${SEEDS} seeds, ${calls} calls`);
});

/**
 * The syncs of which each is needed, by number from 1: those of both copies of the manifest together, since one copy
 * stands in for the other.
 */
function neededSyncs(trace: readonly string[]): { name: string; syncs: number[] }[] {
  const names = trace.filter((call) => call.startsWith('sync'));
  return names.flatMap((name, place) => {
    if (!name.startsWith('sync manifest')) return [{ name, syncs: [place + 1] }];
    const isPair =
      !name.includes('copy') && (names[place + 1] ?? '').startsWith('sync manifest.copy');
    return isPair ? [{ name: 'sync manifest', syncs: [place + 1, place + 2] }] : [];
  });
}

/** Looks for a stop at which missing syncs show. */
async function findsMissing(
  ignoreSyncs: readonly number[],
  calls: number,
  seeds = 20,
): Promise<boolean> {
  for (let seed = 0; seed <= seeds; seed++) {
    for (let call = 1; call <= calls + 1; call++) {
      const crashed = await stopped(call, ignoreSyncs);
      crashed.disk.crash(seed === 0 ? POWER : { type: 'random', seed: seed * 1_000 + call });
      if ((await judge(crashed)) !== undefined) return true;
    }
  }
  return false;
}

t.test('every sync of the workload is needed: without it a stop loses something', async (t) => {
  const { calls, syncs, trace } = await callsOfWorkload();
  const names = trace.filter((call) => call.startsWith('sync'));
  t.equal(names.length, syncs);
  t.notOk(await findsMissing([], calls, 1), 'with all of them nothing is lost');
  for (const { name, syncs: ignored } of neededSyncs(trace)) {
    t.ok(await findsMissing(ignored, calls), `sync ${ignored}: ${name}`);
  }
});

/** Recovers and goes on working in one process that misses a sync, until it is stopped. */
async function workAfterKill(
  crashed: Crashed,
  ignoreSyncs: readonly number[],
  stop: number,
): Promise<boolean> {
  const { disk, journal } = crashed;
  disk.faults = { ignoreSyncs, crashAtCall: stop };
  try {
    const opened = await open(disk);
    // The world has seen what it shows.
    const rows = visibleRows(disk, opened);
    if ([...journal.doubt.keys()].some((id) => rows.has(id))) journal.acknowledge();
    journal.doubt = new Map();
    await continueWork(disk, opened, journal);
    return true;
  } catch {
    return false;
  }
}

t.test('every sync of a recovery is needed after a kill', async (t) => {
  const { calls } = await callsOfWorkload();
  const found = new Map<string, boolean>();
  for (let call = 1; call <= calls + 1; call++) {
    const crashed = await stopped(call);
    crashed.disk.crash(KILL);
    const trial = fork(crashed);
    await open(trial.disk);
    for (const { name, syncs } of [{ name: 'none', syncs: [] }, ...neededSyncs(trial.disk.trace)]) {
      for (let stop = 1, ended = false; !ended && found.get(name) !== true; stop++) {
        const { disk, journal } = fork(crashed);
        ended = await workAfterKill({ disk, journal }, syncs, stop);
        // A copy that stands in for the other has to lose its part too.
        const seeds = name === 'sync manifest' ? [0, 1, 2, 3, 4, 5, 6, 7] : [0];
        const losses: Loss[] = [
          POWER,
          ...seeds.map((seed) => ({ type: 'random' as const, seed: stop + 1_000 * seed })),
        ];
        for (const loss of losses) {
          const after = fork({ disk, journal });
          after.disk.crash(loss);
          found.set(name, found.get(name) === true || (await judge(after)) !== undefined);
        }
      }
    }
  }
  t.ok(found.size > 4);
  for (const [name, wrong] of found) t.equal(wrong, name !== 'none', name);
});
