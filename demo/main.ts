import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { askHolder } from '../engine/store/lock.ts';
import { AdminClient } from '../server/api/admin/client.ts';
import { Day } from './day.ts';
import { DEFINITIONS } from './definitions.ts';
import { type DemoEvent, SOURCES, type Source } from './event.ts';

/**
 * `node demo/main.ts [--data demo-data] [--events 200000] [--seed 1]`: the service with a day of a web shop, which ends
 * now, and with what goes on there until it is stopped. A second start goes on with the same data.
 */

const COMMAND = fileURLToPath(new URL('../server/logseam', import.meta.url));
/** Minutes that are sent together. */
const BATCH_MINUTES = 15;
const DAY_MINUTES = 1_440;
const LIVE_MS = 1_000;
const ASK_MS = 50;

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: 'demo-data' },
    events: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
  },
});

/** The service of the demonstration. */
interface Demo {
  client: AdminClient;
  /** `http://host:port`. */
  base: string;
  /** Text of the write key of each source. */
  keys: Record<Source, string>;
}

/** Starts the service; resolves when it is ready. */
function startService(data: string): Promise<ChildProcess> {
  const child = spawn(COMMAND, ['serve', '--data', data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      process.stdout.write(chunk);
      output = (output + chunk.toString()).slice(-10_000);
      if (/^ready$/m.test(output)) resolve(child);
    });
    child.on('exit', (code) => reject(new Error(`the service ended with ${code}`)));
  });
}

/** Address of HTTP by which this machine reaches the service, which tells it right behind its start. */
async function baseOf(data: string): Promise<string> {
  for (;;) {
    const { http } = JSON.parse((await askHolder(data)) ?? '{}') as { http?: string };
    if (http !== undefined) return `http://${http.replace(/^(0\.0\.0\.0|\[::\])/, '127.0.0.1')}`;
    await new Promise((resolve) => setTimeout(resolve, ASK_MS));
  }
}

/** Makes new write keys; those of an earlier start, whose texts are lost, are deleted. */
async function makeKeys(client: AdminClient): Promise<Demo['keys']> {
  const named = (await client.list(['write'])).map(({ name }) => name);
  const texts: [Source, string][] = [];
  for (const source of SOURCES) {
    const name = `demo ${source}`;
    if (named.includes(name)) await client.ask('DELETE', `write_keys/${encodeURIComponent(name)}`);
    const { key } = (await client.ask('POST', 'write_keys', { name })) as { key: string };
    texts.push([source, key]);
  }
  return Object.fromEntries(texts) as Demo['keys'];
}

/** Sends events, those of a source in one request. Rejects when they are not stored. */
async function send({ base, keys }: Demo, events: readonly DemoEvent[]): Promise<void> {
  for (const source of SOURCES) {
    const texts = events.filter((event) => event.source === source).map(({ text }) => text);
    if (texts.length === 0) continue;
    const response = await fetch(`${base}/v1/input/${keys[source]}`, {
      method: 'POST',
      headers: { 'content-type': source === 'system' ? 'text/plain' : 'application/x-ndjson' },
      body: texts.join('\n'),
    });
    if (!response.ok) throw new Error(`events were refused: ${await response.text()}`);
  }
}

/** Sends a day that ends now, and makes what is defined over it. */
async function fill(demo: Demo, day: Day): Promise<void> {
  const isTerminal = process.stdout.isTTY;
  let batch: DemoEvent[] = [];
  let minutes = 0;
  let sent = 0;
  for (const events of day.minutes()) {
    batch.push(...events);
    minutes++;
    if (minutes % BATCH_MINUTES > 0) continue;
    await send(demo, batch);
    sent += batch.length;
    batch = [];
    const percent = Math.round((100 * minutes) / DAY_MINUTES);
    if (isTerminal) process.stdout.write(`\ra day of events: ${percent} %`);
  }
  for (const [resource, definitions] of DEFINITIONS) {
    for (const definition of definitions) await demo.client.ask('POST', resource, definition);
  }
  if (isTerminal) process.stdout.write('\r\u001b[K');
  process.stdout.write(`A day of a web shop is there, ${sent.toLocaleString('en-US')} events.\n`);
}

/** Reports whether an earlier start has sent its day: the definitions come last. */
async function isFilled(client: AdminClient): Promise<boolean> {
  const result = (await client.ask('GET', 'saved_analyses')) as { saved_analyses: object[] };
  return result.saved_analyses.length > 0;
}

/** Sends what happens, once a second, until the service ends. */
async function goOn(demo: Demo, day: Day, child: ChildProcess): Promise<void> {
  for (let fromMs = Date.now(); child.exitCode === null; ) {
    await new Promise((resolve) => setTimeout(resolve, LIVE_MS));
    const nowMs = Date.now();
    await send(demo, day.span(fromMs, nowMs - fromMs)).catch((error) => {
      if (child.exitCode === null && !child.killed) complain(error);
    });
    fromMs = nowMs;
  }
}

function complain(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
}

/** Fills the store of a service that has begun, and goes on. */
async function run(child: ChildProcess): Promise<void> {
  const { data, seed, events } = values;
  const base = await baseOf(data);
  const client = new AdminClient(askHolder, data);
  const demo: Demo = { client, base, keys: await makeKeys(client) };
  const day = new Day(Number(seed), Date.now(), Number(events));
  if (!(await isFilled(client))) await fill(demo, day);
  process.stdout.write(
    `Open ${base}/ (three hours ago a release of the payment service went wrong). Ctrl+C ends it.\n`,
  );
  await goOn(demo, day, child);
}

const child = await startService(values.data);
child.on('exit', (code) => process.exit(process.exitCode ?? code ?? 1));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
try {
  await run(child);
} catch (error) {
  complain(error);
  process.exitCode = 1;
  child.kill();
}
