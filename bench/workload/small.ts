import autocannon from 'autocannon';
import {
  COMMAND,
  cpuSeconds,
  removeFolder,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import { accessLog } from '../corpus/access.ts';
import type { Workload } from '../harness.ts';

const SECONDS = 5;
const CONNECTIONS = [1, 64];

/** Small requests: what they are, for all that measures them. */
export const SMALL_REQUESTS = {
  name: 'small-requests',
  what: `HTTP requests of one event for ${SECONDS} s over 1 and 64 connections, each 200 fsynced`,
};

/** A figure of small requests: its name, its unit and its value. */
export type SmallFigure = [name: string, unit: string, value: number];

/** Sends small requests for `seconds` over each number of connections to a fresh service of `command`. */
export async function sendSmall(
  command: string,
  seconds: number,
  progress: (text: string) => void,
): Promise<SmallFigure[]> {
  const folder = temporaryFolder();
  const service = await startService(folder, [], { command });
  const figures: SmallFigure[] = [];
  try {
    const event = accessLog(1);
    for (const connections of CONNECTIONS) {
      const name = `${connections} connection${connections > 1 ? 's' : ''}`;
      progress(name);
      const startedCpu = cpuSeconds(service.pid);
      const result = await autocannon({
        url: `${service.http}/v1/input/${service.writeKey}`,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: event(),
        connections,
        duration: seconds,
      });
      const requests = result['2xx'];
      if (result.non2xx > 0) throw new Error(`${result.non2xx} requests were refused`);
      const cpu = cpuSeconds(service.pid) - startedCpu;
      figures.push(
        [`${name}, CPU`, 'us/request', (cpu * 1e6) / requests],
        [`${name}, rate`, 'requests/s', requests / seconds],
        [`${name}, p50`, 'ms', result.latency.p50],
        [`${name}, p99`, 'ms', result.latency.p99],
      );
    }
  } finally {
    await service.stop();
    removeFolder(folder);
  }
  return figures;
}

/** Small requests, one event each: what a request costs beside its events. */
export const smallWorkload: Workload = {
  ...SMALL_REQUESTS,
  seconds: () => CONNECTIONS.length * SECONDS + 5,
  run: async (bench) => {
    const figures = await sendSmall(COMMAND, SECONDS, (text) => bench.progress(text));
    for (const figure of figures) bench.figure(...figure);
  },
};
