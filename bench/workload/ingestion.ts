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

/** Settings that seal what is left in the log two seconds after the last event, and nothing before because of that. */
export const SEALING = ['--seal-idle-minutes', '0.03', '--metrics-open', 'true'];
/**
 * Settings of a service that is asked: the same, and it keeps nothing of a question, so that each costs what the first
 * did.
 */
export const ASKED = [...SEALING, '--query-cache-mb', '0'];
const SEALED_POLL_MS = 200;
/** Polls without a merge behind which none is due: the service looks for one every second. */
const QUIET_POLLS = 8;
/** Datagrams that have not come in for so long are lost. */
const DATAGRAMS_REST_MS = 500;

/**
 * Loads of as many events that a service gets, one behind the other. By the last one it is warm: the merge thread still
 * compiles in the third.
 */
export const LOADS = 5;

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

/** Resolves when every event lies in a sealed segment, and no merge of segments runs or begins any more. */
export async function awaitSealed(service: Service, eventCount: number): Promise<void> {
  for (let quiet = 0; quiet < QUIET_POLLS; ) {
    const sealed = await metric(service, 'logseam_store_sealed_rows');
    const running = await metric(service, 'logseam_seals_running');
    quiet = sealed >= eventCount && running === 0 ? quiet + 1 : 0;
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

/** Cost of sending and sealing events: CPU in seconds per million events. */
interface Load {
  cpu: number;
  /** Events a second. */
  rate: number;
  sealedCpu: number;
}

/** Figures of one run of an ingestion: of a service that has just started, and of the same when it is warm. */
export interface IngestSample extends Load {
  /** Milliseconds from a request to its 200; NaN where there are no requests. */
  p50: number;
  p99: number;
  /** Bytes an event. */
  disk: number;
  /** MB. */
  peak: number;
  sealedDisk: number;
  sealedPeak: number;
  /** The last load, when V8 has compiled what it needs. */
  warm: Load;
  /** Percent of the rows that the reference decoder made. */
  reference: number;
  /** Percent of the events that did not arrive; NaN where none may be lost. */
  lost: number;
}

/** A service that is fed, and the events that it gets. */
interface Feeding {
  ingestion: Ingestion;
  service: Service;
  /** The source of the events, which goes on where the last load ended. */
  next: () => string;
  events: number;
  progress: (text: string) => void;
}

/** A load, the events that arrived in all, the milliseconds of its requests, and `acknowledged` of before sealing. */
interface Fed<T> extends Load {
  count: number;
  latencies: readonly number[];
  acknowledged: T;
}

/** Feeds a service that has `before` events, waits until all is sealed, and calls `acknowledged` in between. */
async function feed<T>(
  { ingestion: { channel }, service, next, events, progress }: Feeding,
  before: number,
  acknowledged: (count: number) => T,
): Promise<Fed<T>> {
  progress(`making ${events} events`);
  const prefix = channel.hasKeys ? `${service.writeKey} ` : '';
  const made = bodies(next, events, channel.bodyBytes, prefix);
  const startedCpu = cpuSeconds(service.pid);
  const started = performance.now();
  const latencies = await channel.send(service, made, (sent) =>
    progress(`${sent} of ${events} events sent`),
  );
  const seconds = (performance.now() - started) / 1000;
  const count = await arrived(service, before + events, channel.mayLose);
  const perMillion = (): number =>
    ((cpuSeconds(service.pid) - startedCpu) * 1e6) / (count - before);
  const cpu = perMillion();
  const rate = (count - before) / seconds;
  const found = acknowledged(count);
  progress('sealing');
  await awaitSealed(service, count);
  return { cpu, rate, sealedCpu: perMillion(), count, latencies, acknowledged: found };
}

/**
 * One run: feeds a fresh service, `command` of this checkout or of another one, LOADS times, and measures the first and
 * the last load.
 */
export async function runIngestion(
  ingestion: Ingestion,
  run: { scale: number; seed: number; command?: string; progress: (text: string) => void },
): Promise<IngestSample> {
  const { channel, make, prepare } = ingestion;
  const events = Math.round(ingestion.events * run.scale);
  const folder = temporaryFolder();
  const settings = [...SEALING, ...channel.settings];
  const service = await startService(folder, settings, { command: run.command ?? COMMAND });
  try {
    await prepare?.(service);
    const feeding = { ingestion, service, next: make(run.seed), events, progress: run.progress };
    const used = (count: number): { disk: number; peak: number } => ({
      disk: storeBytes(folder) / count,
      peak: peakMegabytes(service.pid),
    });
    const first = await feed(feeding, 0, used);
    const sealed = used(first.count);
    const { cpu, rate, sealedCpu, count, latencies } = first;
    let warm = await feed(feeding, count, () => undefined);
    for (let load = 2; load < LOADS; load++)
      warm = await feed(feeding, warm.count, () => undefined);
    const reference = await metric(service, 'logseam_rows_decoded_total', { path: 'reference' });
    await arrived(service, warm.count, false);
    return {
      ...{ cpu, rate, sealedCpu },
      p50: quantile(latencies, 0.5),
      p99: quantile(latencies, 0.99),
      ...first.acknowledged,
      sealedDisk: sealed.disk,
      sealedPeak: sealed.peak,
      warm,
      reference: (100 * reference) / warm.count,
      lost: channel.mayLose ? 100 * (1 - warm.count / (events * LOADS)) : Number.NaN,
    };
  } finally {
    await service.stop();
    removeFolder(folder);
  }
}
