import t from 'tap';
import {
  peakMegabytes,
  removeFolder,
  send,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const EVENTS = 150_000;
const START = Date.UTC(2024, 4, 1);
const GROWTH_MB_MAX = 150;

t.test('a long export to a slow reader takes no memory in proportion to it', async (t) => {
  const folder = temporaryFolder();
  const service = await startService(folder);
  t.teardown(async () => {
    await service.stop();
    removeFolder(folder);
  });
  for (let from = 0; from < EVENTS; from += 5_000) {
    const rows = Array.from({ length: 5_000 }, (_, index) => {
      const n = from + index;
      return JSON.stringify({ timestamp: START + n, n, message: `${n} `.repeat(200) });
    });
    t.equal((await send(service, rows.join('\n'), 'application/x-ndjson')).status, 200);
  }
  const exported = async (pauseMs: number): Promise<{ bytes: number; lines: number }> => {
    const response = await fetch(`${service.http}/beta/events/export`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': service.readKey },
      body: JSON.stringify({ time: { from: START, to: START + EVENTS } }),
    });
    const reader = response.body?.getReader();
    let bytes = 0;
    let lines = 0;
    for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
      bytes += read.value.length;
      for (const byte of read.value) if (byte === 0x0a) lines++;
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    return { bytes, lines };
  };
  const whole = await exported(0);
  t.equal(whole.lines, EVENTS);
  const before = peakMegabytes(service.pid);
  t.same(await exported(5), whole);
  const growth = peakMegabytes(service.pid) - before;
  t.comment(`${whole.bytes / 1e6} MB, the peak grew by ${growth} MB`);
  t.ok(growth < GROWTH_MB_MAX);
});
