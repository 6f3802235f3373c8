import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import { readExposition, sumOf } from './exposition.ts';
import { removeFolder, request, type Service, startService, temporaryFolder } from './service.ts';

/** A service whose worker threads can be ended from outside. */

const MORTAL = new URL('mortal.ts', import.meta.url).href;
const POLL_MS = 5;

/** Ends a thread, as `mortal.ts` has it. Ingest workers have the first numbers, from 1, query workers the next. */
export type Die = (thread: number, how?: '' | 'throw' | 'fill' | 'stall') => void;

/** Starts a service whose worker threads end when a file says so. */
export async function startMortal(
  t: Test,
  args: string[],
  environment: Record<string, string> = {},
): Promise<{ service: Service; die: Die }> {
  const folder = temporaryFolder();
  const signs = temporaryFolder();
  t.teardown(() => {
    removeFolder(folder);
    removeFolder(signs);
  });
  const options = `${process.env['NODE_OPTIONS'] ?? ''} --import ${MORTAL}`;
  const service = await startService(folder, args, {
    environment: { ...environment, NODE_OPTIONS: options, MORTAL_FOLDER: signs },
  });
  t.teardown(() => service.kill());
  const die: Die = (thread, how = '') => {
    const sign = join(signs, `die-${thread}`);
    writeFileSync(`${sign}.new`, how);
    renameSync(`${sign}.new`, sign);
  };
  return { service, die };
}

/** Resolves when so many workers of a kind were replaced and so many are up. */
export async function untilReplaced(
  service: Service,
  kind: string,
  replaced: number,
  up: number,
): Promise<void> {
  for (;;) {
    const families = readExposition((await request(`${service.http}/metrics`)).text);
    const restarts = sumOf(families, 'logseam_worker_restarts_total', { kind });
    if (restarts >= replaced && sumOf(families, 'logseam_workers_up', { kind }) === up) return;
    await pause(POLL_MS);
  }
}
