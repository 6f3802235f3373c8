import {
  cpuSeconds,
  peakMegabytes,
  removeFolder,
  type Service,
  send,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import { accessRough } from '../corpus/access-rough.ts';
import { eachBody } from '../corpus/bodies.ts';
import type { Bench, Workload } from '../harness.ts';
import { awaitSealed, SEALING } from './ingestion.ts';

const EVENTS = 1_000_000;
const SEED = 1;
const BODY_BYTES = 1_000_000;
/** Nothing is sealed meanwhile. */
const UNSEALED = ['--seal-idle-minutes', '1000', '--metrics-open', 'true'];

async function fill(service: Service, events: number, progress: (done: number) => void) {
  let sent = 0;
  for (const { body, events: count } of eachBody(accessRough(SEED), events, BODY_BYTES)) {
    const { status, text } = await send(service, body, 'application/x-ndjson');
    if (status !== 200) throw new Error(`${status} ${text}`);
    sent += count;
    progress(sent / events);
  }
}

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
      await fill(filling, events, (done) => bench.progress('filling the log', done));
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
