import { PathTable } from '../engine/column/path.ts';
import { Rows } from '../engine/column/rows.ts';
import { Decoder } from '../server/decode/decoder.ts';
import { accessLog, bodies, syslogPairs } from './corpus.ts';
import type { Bench, Workload } from './harness.ts';

const EVENTS = 200_000;
const BODY_BYTES = 1_000_000;

const KINDS: [name: string, events: (seed: number) => () => string][] = [
  ['access log', accessLog],
  ['syslog with key=value', syslogPairs],
];

/** The reference decoder alone, from bytes to row records, on one core. */
export const decodeWorkload: Workload = {
  name: 'decode',
  what: 'the reference decoder alone: lines to row records, one core',
  run: async (bench) => {
    for (const [name, events] of KINDS) decode(bench, name, events(1));
  },
};

function decode(bench: Bench, name: string, event: () => string): void {
  const wanted = Math.round(EVENTS * bench.scale);
  const made = bodies(event, wanted, BODY_BYTES);
  const decoder = new Decoder(new PathTable(), new Rows());
  const samples: number[] = [];
  let bytes = 0;
  for (let run = 0; run <= bench.runs; run++) {
    bench.progress(`${name}, run ${run}`);
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
  bench.figure(name, 'events/s/core', ...samples);
  bench.figure(`${name}, a line`, 'bytes', bytes / wanted);
}
