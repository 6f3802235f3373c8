import { existsSync, readdirSync, statSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  ask,
  COMMAND,
  cpuSeconds,
  peakMegabytes,
  removeFolder,
  request,
  type Service,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import { bodies } from '../corpus/bodies.ts';

/** Bytes of a body over HTTP, and of a piece that is made at a time for TCP. */
export const BODY_BYTES = 1_000_000;
const HTTP_CONNECTIONS = 4;
/** What is left in the log is sealed three seconds after the last event; nothing is sealed because of that before. */
export const SEALING = ['--seal-idle-minutes', '0.05', '--metrics-open', 'true'];
const SEALED_POLL_MS = 200;

/** Bytes of log and sealed segments in a data folder. */
export function storeBytes(folder: string): number {
  return ['log', 'sealed']
    .map((part) => join(folder, part))
    .filter((path) => existsSync(path))
    .reduce((total, path) => total + folderBytes(path), 0);
}

/** Bytes of the files below `folder`. */
function folderBytes(folder: string): number {
  let total = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) total += folderBytes(path);
    else if (entry.isFile()) total += statSync(path).size;
  }
  return total;
}

/** Posts every body over a few keep-alive connections; rejects unless each is answered with 200. */
export async function postAll(
  service: Service,
  made: readonly Made[],
  onProgress: (events: number) => void = () => {},
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: HTTP_CONNECTIONS });
  const url = `${service.http}/v1/input/${service.writeKey}`;
  const headers = { 'content-type': 'application/x-ndjson' };
  let next = 0;
  let sentCount = 0;
  const post = (body: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      const outgoing = httpRequest(url, { method: 'POST', agent, headers }, (response) => {
        response.resume();
        response.on('end', () =>
          response.statusCode === 200
            ? resolve()
            : reject(new Error(`HTTP ${response.statusCode}`)),
        );
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  const work = async (): Promise<void> => {
    while (next < made.length) {
      const { body, events } = made[next++];
      await post(body);
      sentCount += events;
      onProgress(sentCount);
    }
  };
  await Promise.all(Array.from({ length: HTTP_CONNECTIONS }, work));
  agent.destroy();
}

/** Asserts that the service counts as many events as were sent. */
async function expectCount(service: Service, eventCount: number): Promise<void> {
  const answer = await ask(service, '/beta/events/aggregate', {
    time: { from: 0, to: 4e12 },
    compute: [{ metric: { id: 'count', output: 'n' } }],
  });
  const text = JSON.stringify({ n: eventCount });
  if (!answer.text.includes(text))
    throw new Error(`${text} was sent, the service says ${answer.text}`);
}

/** A figure of the service's own metrics, without labels; the listener is started with `--metrics-open`. */
export async function metric(service: Service, name: string): Promise<number> {
  const { text } = await request(`${service.http}/metrics`);
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

/** Resolves when every event lies in a sealed segment. */
export async function awaitSealed(service: Service, eventCount: number): Promise<void> {
  for (;;) {
    if ((await metric(service, 'logseam_sealed_rows_total')) >= eventCount) return;
    await pause(SEALED_POLL_MS);
  }
}

/** Events of one kind that are sent in one way to a fresh service. */
export interface Ingestion {
  name: string;
  /** Says in a sentence what it stands for. */
  what: string;
  /** Events at full size. */
  events: number;
  make(seed: number): () => string;
  /** Stands before each event. */
  prefixOf(service: Service): string;
  /** Resolves when all is acknowledged. */
  send(service: Service, made: Made[], progress: (text: string) => void): Promise<void>;
}

/** A body or a piece of a stream, and the number of events in it. */
export type Made = { body: Buffer; events: number };

/** What one run of an ingestion used: CPU in seconds per million events, disk in bytes an event, memory in MB. */
export interface IngestSample {
  cpu: number;
  /** Events a second. */
  rate: number;
  disk: number;
  peak: number;
  sealedCpu: number;
  sealedDisk: number;
  sealedPeak: number;
  /** Percent of the rows that the reference decoder made. */
  reference: number;
}

/** One run: feeds a fresh service, `command` of this checkout or of another one, and measures it. */
export async function runIngestion(
  ingestion: Ingestion,
  run: { scale: number; seed: number; command?: string; progress: (text: string) => void },
): Promise<IngestSample> {
  const eventCount = Math.round(ingestion.events * run.scale);
  const millions = eventCount / 1e6;
  const folder = temporaryFolder();
  const service = await startService(folder, SEALING, { command: run.command ?? COMMAND });
  try {
    run.progress(`making ${eventCount} events`);
    const prefix = ingestion.prefixOf(service);
    const made = bodies(ingestion.make(run.seed), eventCount, BODY_BYTES, prefix);
    const startedCpu = cpuSeconds(service.pid);
    const started = performance.now();
    await ingestion.send(service, made, run.progress);
    const seconds = (performance.now() - started) / 1000;
    const acknowledged = {
      cpu: (cpuSeconds(service.pid) - startedCpu) / millions,
      rate: eventCount / seconds,
      peak: peakMegabytes(service.pid),
      disk: storeBytes(folder) / eventCount,
    };
    await expectCount(service, eventCount);
    run.progress('sealing');
    await awaitSealed(service, eventCount);
    const sealed = {
      sealedCpu: (cpuSeconds(service.pid) - startedCpu) / millions,
      sealedDisk: storeBytes(folder) / eventCount,
      sealedPeak: peakMegabytes(service.pid),
    };
    const reference = await metric(service, 'logseam_rows_decoded_total\\{path="reference"\\}');
    await expectCount(service, eventCount);
    return { ...acknowledged, ...sealed, reference: (100 * reference) / eventCount };
  } finally {
    await service.stop();
    removeFolder(folder);
  }
}
