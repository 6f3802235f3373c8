import {
  cpuSeconds,
  peakMegabytes,
  removeFolder,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import type { Bench, Workload } from '../harness.ts';
import { awaitSealed, SEALING } from './ingestion.ts';
import { sendRough } from './query.ts';

const EVENTS = 1_000_000;
/** Nothing is sealed meanwhile. */
const UNSEALED = ['--seal-idle-minutes', '1000', '--metrics-open', 'true'];

/** Starts the service in a folder that has events, `bench.runs` times; from the call to "ready". */
async function startAgain(bench: Bench, folder: string, name: string, end: 'stop' | 'kill') {
  const wall: number[] = [];
  const cpu: number[] = [];
  const peak: number[] = [];
  for (let run = 0; run < bench.runs; run++) {
    bench.progress(`${name}, ${run + 1} of ${bench.runs}`);
    const started = performance.now();
    const service = await startService(folder, UNSEALED);
    wall.push(performance.now() - started);
    cpu.push(cpuSeconds(service.pid));
    peak.push(peakMegabytes(service.pid));
    await service[end]();
  }
  bench.figure(`${name}, ready after`, 'ms', ...wall);
  bench.figure(`${name}, CPU`, 's', ...cpu);
  bench.figure(`${name}, peak memory`, 'MB', ...peak);
}

/** What it takes until the service is there again. */
export const restartWorkload: Workload = {
  name: 'restart',
  what: 'starts in an empty folder, over 1M sealed events, and after a kill with 1M in the log',
  seconds: 90,
  run: async (bench) => {
    const events = Math.round(EVENTS * bench.scale);
    const folder = temporaryFolder();
    const keyed = await startService(folder, UNSEALED);
    await keyed.stop();
    try {
      await startAgain(bench, folder, 'empty', 'stop');
      const { writeKey } = keyed;
      const filling = { ...(await startService(folder, UNSEALED)), writeKey };
      await sendRough(bench, filling, events);
      await filling.kill();
      await startAgain(bench, folder, 'after a kill', 'kill');
      const sealing = await startService(folder, SEALING);
      bench.progress('sealing');
      await awaitSealed(sealing, events);
      await sealing.stop();
      await startAgain(bench, folder, 'sealed', 'stop');
    } finally {
      removeFolder(folder);
    }
  },
};
