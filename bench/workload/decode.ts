import { NAMES_PER_KEY_DAY } from '../../engine/base/limits.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { Decoder } from '../../server/decode/decoder.ts';
import { NameBudget } from '../../server/ingest/name-budget.ts';
import { NameCounts } from '../../server/ingest/name-counts.ts';
import { decodeBody } from '../../test/support/decode-body.ts';
import { accessLog } from '../corpus/access.ts';
import { bodies } from '../corpus/bodies.ts';
import { dottedNames, type NameForm } from '../corpus/dotted.ts';
import { wide } from '../corpus/shapes.ts';
import { syslogPairs } from '../corpus/syslog.ts';
import type { Bench, Workload } from '../harness.ts';

const EVENTS = 200_000;
const BODY_BYTES = 1_000_000;

const NAME_FORMS: NameForm[] = [
  'contiguous',
  'interleaved',
  'shuffled',
  'shuffled each time',
  'repeated',
  'colliding',
  'escaped',
  'numbers as strings',
];

const KINDS: [name: string, eventCount: number, events: (seed: number) => () => string][] = [
  ['access log', EVENTS, accessLog],
  ['syslog with key=value', EVENTS, syslogPairs],
  ['200 optional attributes', EVENTS / 5, wide],
  ...NAME_FORMS.map((form): (typeof KINDS)[number] => [
    `dotted names, ${form}`,
    EVENTS / 2,
    (seed) => dottedNames(form, seed),
  ]),
];

/** The reference decoder alone, from bytes to row records, on one core. */
export const decodeWorkload: Workload = {
  name: 'decode',
  what: 'the reference decoder alone: lines to row records, one core',
  seconds: ({ scale, runs }) => 4 * scale * (1 + runs),
  run: async (bench) => {
    for (const [name, eventCount, events] of KINDS) decode(bench, name, eventCount, events(1));
  },
};

function decode(bench: Bench, name: string, eventCount: number, event: () => string): void {
  const wanted = Math.round(eventCount * bench.scale);
  const made = bodies(event, wanted, BODY_BYTES);
  const paths = new PathTable();
  const decoder = new Decoder(paths, new Rows());
  const names = new NameBudget(new NameCounts(NameCounts.memory(1), 0), NAMES_PER_KEY_DAY);
  names.usePaths(paths);
  names.begin(0, 0);
  decoder.nameLimit = names;
  const samples: number[] = [];
  let bytes = 0;
  for (let run = 0; run <= bench.runs; run++) {
    bench.progress(`${name}, run ${run}`);
    const before = process.cpuUsage();
    let decodedCount = 0;
    bytes = 0;
    for (const { body, events } of made) {
      decoder.begin(body, Date.now(), undefined);
      decodeBody(decoder, body, 'lines');
      decodedCount += events;
      bytes += body.length;
    }
    const used = process.cpuUsage(before);
    // The first run warms the compiler up.
    if (run > 0) samples.push((used.user + used.system) / decodedCount);
  }
  bench.figure(name, 'us a line', ...samples);
  bench.figure(`${name}, a line`, 'bytes', bytes / wanted);
}
