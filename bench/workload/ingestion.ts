import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { metric } from '../../test/support/metrics.ts';
import {
  COMMAND,
  countOf,
  cpuSeconds,
  peakMegabytes,
  removeFolder,
  type Service,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import { bodies } from '../corpus/bodies.ts';
import { folderBytes } from '../peer/disk.ts';
import type { Channel } from './channel.ts';
import { quantile } from './quantile.ts';

/** What is left in the log is sealed two seconds after the last event; nothing is sealed because of that before. */
export const SEALING = ['--seal-idle-minutes', '0.03', '--metrics-open', 'true'];
/**
 * Settings of a service that is asked: the same, and it keeps nothing of a question, so that each costs what the first
 * did.
 */
export const ASKED = [...SEALING, '--query-cache-mb', '0'];
const SEALED_POLL_MS = 200;
/** Datagrams that have not come in for so long are lost. */
const DATAGRAMS_REST_MS = 500;

/** Bytes of log and sealed segments in a data folder. */
export function storeBytes(folder: string): number {
  return ['log', 'sealed']
    .map((part) => join(folder, part))
    .filter((path) => existsSync(path))
    .reduce((total, path) => total + folderBytes(path), 0);
}

/**
 * The number of events that arrived, when it does not change any more; throws unless it is `wanted` where none may be
 * lost.
 */
async function arrived(service: Service, wanted: number, mayLose: boolean): Promise<number> {
  let count = await countOf(service, '*');
  if (count !== wanted && !mayLose)
    throw new Error(`${wanted} events were sent, there are ${count}`);
  while (count < wanted) {
    await pause(DATAGRAMS_REST_MS);
    const now = await countOf(service, '*');
    if (now === count) break;
    count = now;
  }
  return count;
}

/** Resolves when every event lies in a sealed segment. */
export async function awaitSealed(service: Service, eventCount: number): Promise<void> {
  for (;;) {
    if ((await metric(service, 'logseam_store_sealed_rows')) >= eventCount) return;
    await pause(SEALED_POLL_MS);
  }
}

/** Events of one kind that are sent in one way to a fresh service. */
export interface Ingestion {
  name: string;
  /** Says in a sentence what it stands for. */
  what: string;
  /** Name of the corpus. */
  corpus: string;
  /** Events at full size. */
  events: number;
  make(seed: number): () => string;
  channel: Channel;
  /** Makes the service ready, before the first event is sent. */
  prepare?: (service: Service) => Promise<void>;
  /** How often it is run, at most. */
  runsMax?: number;
}

/** What one run of an ingestion used: CPU in seconds per million events, disk in bytes an event, memory in MB. */
export interface IngestSample {
  cpu: number;
  /** Events a second. */
  rate: number;
  /** Milliseconds from a request to its 200; NaN where there are no requests. */
  p50: number;
  p99: number;
  disk: number;
  peak: number;
  sealedCpu: number;
  sealedDisk: number;
  sealedPeak: number;
  /** Percent of the rows that the reference decoder made. */
  reference: number;
  /** Percent of the events that did not arrive; NaN where none may be lost. */
  lost: number;
}

/** One run: feeds a fresh service, `command` of this checkout or of another one, and measures it. */
export async function runIngestion(
  { channel, make, events, prepare }: Ingestion,
  run: { scale: number; seed: number; command?: string; progress: (text: string) => void },
): Promise<IngestSample> {
  const wanted = Math.round(events * run.scale);
  const folder = temporaryFolder();
  const settings = [...SEALING, ...channel.settings];
  const service = await startService(folder, settings, { command: run.command ?? COMMAND });
  try {
    await prepare?.(service);
    run.progress(`making ${wanted} events`);
    const prefix = channel.hasKeys ? `${service.writeKey} ` : '';
    const made = bodies(make(run.seed), wanted, channel.bodyBytes, prefix);
    const startedCpu = cpuSeconds(service.pid);
    const started = performance.now();
    const latencies = await channel.send(service, made, (count) =>
      run.progress(`${count} of ${wanted} events sent`),
    );
    const seconds = (performance.now() - started) / 1000;
    const count = await arrived(service, wanted, channel.mayLose);
    const perMillion = (cpu: number): number => (cpu * 1e6) / count;
    const acknowledged = {
      cpu: perMillion(cpuSeconds(service.pid) - startedCpu),
      rate: count / seconds,
      p50: quantile(latencies, 0.5),
      p99: quantile(latencies, 0.99),
      peak: peakMegabytes(service.pid),
      disk: storeBytes(folder) / count,
    };
    run.progress('sealing');
    await awaitSealed(service, count);
    const sealed = {
      sealedCpu: perMillion(cpuSeconds(service.pid) - startedCpu),
      sealedDisk: storeBytes(folder) / count,
      sealedPeak: peakMegabytes(service.pid),
    };
    const reference = await metric(service, 'logseam_rows_decoded_total', { path: 'reference' });
    await arrived(service, count, false);
    const lost = channel.mayLose ? (100 * (wanted - count)) / wanted : Number.NaN;
    return { ...acknowledged, ...sealed, reference: (100 * reference) / count, lost };
  } finally {
    await service.stop();
    removeFolder(folder);
  }
}
