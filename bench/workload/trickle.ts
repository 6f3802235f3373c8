import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import {
  ask,
  cpuSeconds,
  removeFolder,
  type Service,
  send,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import { accessLog } from '../corpus/access.ts';
import type { Workload } from '../harness.ts';
import { storeBytes } from './ingestion.ts';

const SECONDS = 70;
const PROBES = 5;

/** Time from the sending of a line over an open connection to the first query that counts it. */
async function millisecondsToVisible(service: Service, probe: number): Promise<number> {
  const socket = connect(service.tcpPort, '127.0.0.1');
  await new Promise((resolve) => socket.on('connect', resolve));
  const started = performance.now();
  socket.write(`${service.writeKey} {"probe":${probe}}\n`);
  for (;;) {
    const answer = await ask(service, '/beta/events/aggregate', {
      time: { from: 0, to: 4e12 },
      filters: [{ search: `probe:${probe}` }],
      compute: [{ metric: { id: 'count', output: 'n' } }],
    });
    if (!answer.text.includes('"n":1')) continue;
    socket.destroy();
    return performance.now() - started;
  }
}

/**
 * One event a second for a little over the minute after which an open block is written whole: its cost, and how many
 * blocks a query opens.
 */
export const trickleWorkload: Workload = {
  name: 'trickle',
  what: 'one event a second for 70 s: bytes on disk, blocks that a query opens, CPU when almost idle',
  seconds: ({ scale }) => SECONDS * scale + 10,
  run: async (bench) => {
    const folder = temporaryFolder();
    const service = await startService(folder);
    try {
      const event = accessLog(1);
      const count = Math.max(3, Math.round(SECONDS * bench.scale));
      const startedCpu = cpuSeconds(service.pid);
      for (let second = 0; second < count; second++) {
        bench.progress(`${second} of ${count} s`);
        await Promise.all([send(service, event()), pause(1000)]);
      }
      const cpu = cpuSeconds(service.pid) - startedCpu;
      const visible: number[] = [];
      for (let probe = 0; probe < PROBES; probe++) {
        bench.progress(`TCP line ${probe + 1} of ${PROBES}`);
        visible.push(await millisecondsToVisible(service, probe));
      }
      const answer = await ask(service, '/beta/events/aggregate', {
        time: { from: 0, to: 4e12 },
        compute: [{ metric: { id: 'count', output: 'n' } }],
        explain: true,
      });
      const stats = (
        answer.body as { result: { explain: { blocksOpened: number; blocksTotal: number } } }
      ).result.explain;
      bench.figure('TCP line sent to counted', 'ms', ...visible);
      bench.figure('events', 'events', count);
      bench.figure('blocks that hold them', 'blocks', stats.blocksTotal);
      bench.figure('disk', 'bytes/event', storeBytes(folder) / count);
      bench.figure('CPU', 'ms/s', (cpu * 1000) / count);
    } finally {
      await service.stop();
      removeFolder(folder);
    }
  },
};
