import { setTimeout as pause } from 'node:timers/promises';
import { readExposition, sumOf } from './exposition.ts';
import { request, type Service } from './service.ts';

/** Metrics of a service that is started with `--metrics-open`. */

const POLL_MS = 50;

/** The sum of a metric's samples that have these labels; 0 where there are none. */
export async function metric(
  service: Service,
  name: string,
  labels: Record<string, string> = {},
): Promise<number> {
  const { text } = await request(`${service.http}/metrics`);
  return sumOf(readExposition(text), name, labels);
}

/** Resolves when the sum of a metric's samples is as wanted. */
export async function untilMetric(
  service: Service,
  name: string,
  isWanted: (value: number) => boolean,
): Promise<void> {
  while (!isWanted(await metric(service, name))) await pause(POLL_MS);
}
