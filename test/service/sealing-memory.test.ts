import { randomBytes } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { metric, untilMetric } from '../support/metrics.ts';
import {
  ask,
  COMMAND,
  peakMegabytes,
  removeFolder,
  type Service,
  send,
  startService,
  temporaryFolder,
} from '../support/service.ts';

/** Megabytes by which sealing may make the process larger than it ever was before. */
const GROWTH_MB_MAX = 160;
/** Kilobytes of data that the process may map, as in a container of 1.5 GB. */
const DATA_KB_MAX = 1_500_000;
const SEALING = ['--seal-idle-minutes', '0.05', '--metrics-open', 'true'];
/** Events of some 200 MB together, about as much as is sealed at a time; the last ones are too wide to be. */
const KINDS: [string, number, (event: number) => object][] = [
  ['events of 1 MB', 200, (event) => ({ n: event, message: noise(1_000_000) })],
  ['events of 8 kB that do not compress', 24_000, (event) => ({ n: event, body: noise(8_000) })],
  ['events with 100 of 1,000 attributes', 36_000, wide],
];

/** Characters that nothing makes shorter than three quarters. */
function noise(length: number): string {
  return randomBytes(Math.ceil((length * 3) / 4))
    .toString('base64')
    .slice(0, length);
}

function wide(event: number): object {
  const attributes = Array.from({ length: 100 }, (_, at) => {
    const name = (event * 37 + at * 10) % 1_000;
    return [`attribute-${name}`, name % 2 === 0 ? noise(64) : event * name];
  });
  return Object.fromEntries(attributes);
}

/** An executable that starts the service with a limit to its memory. */
function limitedCommand(folder: string): string {
  const command = join(folder, 'limited');
  writeFileSync(command, `#!/bin/sh\nulimit -d ${DATA_KB_MAX}\nexec ${COMMAND} "$@"\n`);
  chmodSync(command, 0o755);
  return command;
}

async function sendAll(service: Service, count: number, make: (event: number) => object) {
  let lines: string[] = [];
  let length = 0;
  for (let event = 0; event < count; event++) {
    const line = JSON.stringify(make(event));
    lines.push(line);
    length += line.length;
    if (length < 4_000_000 && event < count - 1) continue;
    const { status, text } = await send(service, lines.join('\n'), 'application/x-ndjson');
    if (status !== 200) throw new Error(`${status} ${text}`);
    lines = [];
    length = 0;
  }
}

async function countAll(service: Service): Promise<string> {
  const { text } = await ask(service, '/beta/events/aggregate', {
    time: { from: 0, to: 4e12 },
    compute: [{ metric: { id: 'count', output: 'n' } }],
  });
  return text;
}

for (const [name, count, make] of KINDS) {
  t.test(`sealing takes bounded memory: ${name}`, async (t) => {
    const folder = temporaryFolder();
    t.teardown(() => removeFolder(folder));
    const data = join(folder, 'data');
    const first = await startService(data, ['--seal-idle-minutes', '1000']);
    await sendAll(first, count, make);
    t.equal(await first.stop(), 0);

    const command = limitedCommand(folder);
    const service = await startService(data, SEALING, { command });
    const reader = { ...service, readKey: first.readKey };
    // Query workers begin after "ready"; one query each, and both are there.
    await Promise.all([countAll(reader), countAll(reader)]);
    const before = peakMegabytes(service.pid);
    await untilMetric(service, 'logseam_sealed_rows_total', (rows) => rows >= count);
    const growth = peakMegabytes(service.pid) - before;
    t.comment(`${before.toFixed(0)} MB, and ${growth.toFixed(0)} MB more`);
    t.ok(growth <= GROWTH_MB_MAX, `grows by ${growth.toFixed(0)} MB`);
    t.match(await countAll(reader), `{"n":${count}}`);
    const splits = await metric(service, 'logseam_seal_splits_total');
    t.equal(splits, make === wide ? 1 : 0, 'only what is wide is sealed in parts');
    t.equal(await service.stop(), 0);
  });
}
