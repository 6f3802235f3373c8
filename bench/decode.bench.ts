import { PathTable } from '../engine/column/path.ts';
import { Rows } from '../engine/column/rows.ts';
import { Decoder } from '../server/decode/decoder.ts';
import { accessLog, bodies } from './corpus.ts';
import type { Workload } from './harness.ts';

const EVENTS = 200_000;
const BODY_BYTES = 1_000_000;

/** The reference decoder alone, from bytes to row records, on one core. */
export const decodeWorkload: Workload = {
  name: 'decode',
  what: 'the reference decoder alone: access-log JSON lines to row records, one core',
  run: async (bench) => {
    const made = bodies(accessLog(1), Math.round(EVENTS * bench.scale), BODY_BYTES);
    const decoder = new Decoder(new PathTable(), new Rows());
    const samples: number[] = [];
    let bytes = 0;
    for (let run = 0; run <= bench.runs; run++) {
      bench.progress(`run ${run}`);
      const before = process.cpuUsage();
      let eventCount = 0;
      bytes = 0;
      for (const { body, events } of made) {
        decoder.begin(body, Date.now(), undefined);
        decoder.textBody(0, body.length);
        eventCount += events;
        bytes += body.length;
      }
      const used = process.cpuUsage(before);
      // The first run warms the compiler up.
      if (run > 0) samples.push(eventCount / ((used.user + used.system) / 1e6));
    }
    bench.figure('access log', 'events/s/core', ...samples);
    bench.figure('event', 'bytes', bytes / Math.round(EVENTS * bench.scale));
  },
};
