import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { metric } from '../../test/support/metrics.ts';
import {
  cpuSeconds,
  removeFolder,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import { accessRough } from '../corpus/access-rough.ts';
import { bodies } from '../corpus/bodies.ts';
import type { Workload } from '../harness.ts';
import { storeBytes } from './ingestion.ts';

const RATES = [5_000, 20_000];
const SECONDS = 10;
/** A sender writes so often. */
const WRITES_A_SECOND = 50;
const POLL_MS = 100;
const SETTINGS = ['--metrics-open', 'true', '--seal-idle-minutes', '60'];

/** CPU in seconds per million events, bytes an event before sealing. */
async function atRate(rate: number, seconds: number): Promise<{ cpu: number; disk: number }> {
  const folder = temporaryFolder();
  const service = await startService(folder, SETTINGS);
  try {
    const event = accessRough(1);
    const perWrite = rate / WRITES_A_SECOND;
    const writes = Array.from({ length: seconds * WRITES_A_SECOND }, () =>
      Buffer.concat(
        bodies(event, perWrite, Infinity, `${service.writeKey} `).map(({ body }) => body),
      ),
    );
    const socket = connect(service.tcpPort, '127.0.0.1');
    await once(socket, 'connect');
    const startedCpu = cpuSeconds(service.pid);
    const started = performance.now();
    for (const [at, write] of writes.entries()) {
      await pause(started + (at * 1000) / WRITES_A_SECOND - performance.now());
      socket.write(write);
    }
    const events = perWrite * writes.length;
    while ((await metric(service, 'logseam_store_rows')) < events) await pause(POLL_MS);
    socket.destroy();
    const cpu = ((cpuSeconds(service.pid) - startedCpu) / events) * 1e6;
    return { cpu, disk: storeBytes(folder) / events };
  } finally {
    await service.stop();
    removeFolder(folder);
  }
}

/** A connection that is far from busy: groups of few events, and no sealing yet. */
export const steadyWorkload: Workload = {
  name: 'ingest-steady',
  what: `rough access log over one TCP connection at ${RATES.join(' and ')} events a second, ten seconds`,
  seconds: ({ scale }) => RATES.length * (SECONDS * scale + 5),
  run: async (bench) => {
    const seconds = Math.max(1, Math.round(SECONDS * bench.scale));
    for (const rate of RATES) {
      bench.progress(`${rate} events a second`);
      const { cpu, disk } = await atRate(rate, seconds);
      const events = rate * seconds;
      const about = { corpus: 'access-rough', events };
      bench.record({ name: `CPU, ${rate} a second`, unit: 's/M events', samples: [cpu], ...about });
      const name = `disk before sealing, ${rate} a second`;
      bench.record({ name, unit: 'bytes/event', samples: [disk], ...about });
    }
  },
};
