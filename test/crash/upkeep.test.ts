import t from 'tap';
import { type Loss, MemoryDisk } from '../support/memory-disk.ts';
import { open, runWorkload, violation, World } from './compaction-workload.ts';

const LOSSES: Loss[] = [
  { type: 'none' },
  { type: 'all' },
  ...Array.from({ length: Number(process.env['CRASH_SEEDS'] ?? 3) }, (_, seed) => ({
    type: 'random' as const,
    seed: seed + 1,
  })),
];

async function stopped(call: number): Promise<{ disk: MemoryDisk; world: World }> {
  const disk = new MemoryDisk();
  disk.faults = { crashAtCall: call };
  const world = new World();
  await runWorkload(disk, world).catch(() => undefined);
  return { disk, world };
}

/** The phase and the kind of a call: `seal: rename sealed`, `drop: unlink sealed`. */
function placeOf(world: World, call: number, what: string): string {
  const phase = world.phases.findLast((each) => each.call < call)?.name ?? 'write';
  return `${phase}: ${what.replace(/\/.*$/, '').replace(/ (manifest\S*) manifest$/, ' $1')}`;
}

t.test(
  'a stop at any call of sealing, merging, dropping and rewriting leaves one set',
  async (t) => {
    const disk = new MemoryDisk();
    const world = new World();
    await runWorkload(disk, world);
    const trace = [...disk.trace];
    t.equal(await violation(disk, world), undefined, 'without a stop');
    const kills = new Map<string, number>();
    for (let call = 1; call <= trace.length; call++) {
      const place = placeOf(world, call, trace[call - 1]);
      for (const loss of LOSSES) {
        const trial = await stopped(call);
        trial.disk.crash(loss);
        const wrong = await violation(trial.disk, trial.world);
        if (wrong !== undefined)
          t.fail(`call ${call}, ${place}, ${JSON.stringify(loss)}: ${wrong}`);
        trial.disk.crash({ type: 'all' });
        const later = await violation(trial.disk, trial.world);
        if (later !== undefined) t.fail(`call ${call}, ${place}, and again: ${later}`);
        kills.set(place, (kills.get(place) ?? 0) + 1);
      }
    }
    for (const [place, count] of kills) t.comment(`${count} kills at ${place}`);
    for (const phase of ['seal', 'merge', 'drop', 'rewrite']) {
      t.ok(
        [...kills.keys()].some((place) => place.startsWith(phase)),
        phase,
      );
    }
  },
);

t.test('a start that is stopped while it removes leftovers is begun again', async (t) => {
  const disk = new MemoryDisk();
  await runWorkload(disk, new World());
  const calls = disk.trace.length;
  let kills = 0;
  for (let call = 1; call <= calls; call++) {
    for (let at = 1; ; at++) {
      const { disk: left, world } = await stopped(call);
      left.crash({ type: 'none' });
      left.faults = { crashAtCall: at };
      const ended = await open(left, 1).then(
        () => true,
        () => false,
      );
      left.crash({ type: 'random', seed: call * 100 + at });
      const wrong = await violation(left, world);
      if (wrong !== undefined) t.fail(`call ${call}, start stopped at ${at}: ${wrong}`);
      kills++;
      if (ended) break;
    }
  }
  t.comment(`${kills} kills of starts`);
  t.pass();
});
