import autocannon from 'autocannon';
import {
  cpuSeconds,
  removeFolder,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import { accessLog } from '../corpus/access.ts';
import type { Workload } from '../harness.ts';

const SECONDS = 5;
const CONNECTIONS = [1, 64];

/** Small requests, one event each: what a request costs beside its events. */
export const smallWorkload: Workload = {
  name: 'small-requests',
  what: `HTTP requests of one event for ${SECONDS} s over 1 and 64 connections, each 200 fsynced`,
  seconds: () => CONNECTIONS.length * SECONDS + 5,
  run: async (bench) => {
    const folder = temporaryFolder();
    const service = await startService(folder);
    try {
      const event = accessLog(1);
      for (const connections of CONNECTIONS) {
        bench.progress(`${connections} connections`);
        const startedCpu = cpuSeconds(service.pid);
        const result = await autocannon({
          url: `${service.http}/v1/input/${service.writeKey}`,
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: event(),
          connections,
          duration: SECONDS,
        });
        const requests = result['2xx'];
        if (result.non2xx > 0) throw new Error(`${result.non2xx} requests were refused`);
        const name = `${connections} connection${connections > 1 ? 's' : ''}`;
        const cpu = cpuSeconds(service.pid) - startedCpu;
        bench.figure(`${name}, CPU`, 'us/request', (cpu * 1e6) / requests);
        bench.figure(`${name}, rate`, 'requests/s', requests / SECONDS);
        bench.figure(`${name}, p50`, 'ms', result.latency.p50);
        bench.figure(`${name}, p99`, 'ms', result.latency.p99);
      }
    } finally {
      await service.stop();
      removeFolder(folder);
    }
  },
};
