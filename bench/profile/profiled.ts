import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuSeconds, type Service } from '../../test/support/service.ts';
import { type CpuProfile, StageTimes, workOf } from './attribute.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const FILE = 'threads.cpuprofile';
const POLL_MS = 50;
const THREADS_MAX_MS = 60_000;

/** Cost of a piece of work. */
export interface Profiled {
  times: StageTimes;
  /** Of the whole process, what has no profile included: compiling, other threads of V8 and libuv. */
  cpuSeconds: number;
}

/**
 * Environment of a service whose threads can be profiled; `folder` is for the profiles. They name the sources
 * only when those are run as they are.
 */
export function profileEnvironment(folder: string): Record<string, string> {
  const preload = new URL('./preload.ts', import.meta.url).href;
  return {
    NODE_OPTIONS: `--import=${preload}`,
    BENCH_PROFILE: join(folder, FILE),
    LOGSEAM_BUNDLE: 'off',
  };
}

/** Starts or ends the profiles of all threads; resolves with what they have to say. */
async function toggle(service: Service, file: string): Promise<(CpuProfile | null)[]> {
  process.kill(service.pid, 'SIGUSR2');
  const endMs = performance.now() + THREADS_MAX_MS;
  while (!existsSync(file)) {
    if (performance.now() > endMs) throw new Error('a thread says nothing of its profile');
    await pause(POLL_MS);
  }
  const said: (CpuProfile | null)[] = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(file);
  return said;
}

/** Does a piece of work while all threads of the service are profiled. `front`: what the front thread works for. */
export async function profiled(
  service: Service,
  folder: string,
  front: 'ingest' | 'query',
  work: () => Promise<void>,
): Promise<Profiled> {
  const file = join(folder, FILE);
  await toggle(service, file);
  const startedCpu = cpuSeconds(service.pid);
  await work();
  const usedCpu = cpuSeconds(service.pid) - startedCpu;
  const times = new StageTimes();
  for (const profile of await toggle(service, file))
    if (profile !== null) times.add(profile, workOf(profile, front), ROOT);
  return { times, cpuSeconds: usedCpu };
}
