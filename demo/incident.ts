import type { Draw } from '../bench/corpus/random.ts';
import { type DemoEvent, jsonEvent, syslogEvent } from './event.ts';

const MINUTE_MS = 60_000;
/** Before the end of the day. */
const DEPLOYED_MS = 200 * MINUTE_MS;
const FAILING_MS = 188 * MINUTE_MS;
const ROLLED_BACK_MS = 150 * MINUTE_MS;
const WELL_MS = 146 * MINUTE_MS;

/** Versions of the payment service before, during and after its bad release. */
const GOOD_VERSION = '2.4.0';
const BAD_VERSION = '2.4.1';

/**
 * The incident of the day: a release of the payment service that does not give connections back. Some minutes later its
 * pool is empty, payments time out and checkouts fail, until it is rolled back.
 */
export class Incident {
  readonly #endMs: number;

  /** `endMs` is the end of the day. */
  constructor(endMs: number) {
    this.#endMs = endMs;
  }

  /** The version of the payment service that runs. */
  version(timeMs: number): string {
    const leftMs = this.#endMs - timeMs;
    return leftMs <= DEPLOYED_MS && leftMs > ROLLED_BACK_MS ? BAD_VERSION : GOOD_VERSION;
  }

  /** How bad it is, from 0 to 1. */
  severity(timeMs: number): number {
    const leftMs = this.#endMs - timeMs;
    if (leftMs > FAILING_MS || leftMs <= WELL_MS) return 0;
    return Math.min(1, (FAILING_MS - leftMs) / (8 * MINUTE_MS));
  }

  /** Events of those who operate the cluster. */
  events(draw: Draw): DemoEvent[] {
    const at = (leftMs: number): number => this.#endMs - leftMs + draw.below(1_000);
    const release = (leftMs: number, from: string, to: string): DemoEvent[] => [
      this.#cluster(at(leftMs), 'info', `Scaled up replica set payment-${to} to 3`, to),
      this.#cluster(at(leftMs - 20_000), 'info', `Started container payment ${to}`, to),
      this.#cluster(
        at(leftMs - 40_000),
        'info',
        `Scaled down replica set payment-${from} to 0`,
        to,
      ),
    ];
    return [
      ...release(DEPLOYED_MS, GOOD_VERSION, BAD_VERSION),
      ...release(ROLLED_BACK_MS, BAD_VERSION, GOOD_VERSION),
      this.#cluster(
        at(FAILING_MS - 5 * MINUTE_MS),
        'warn',
        'Readiness probe failed: HTTP probe failed with statuscode: 503',
        BAD_VERSION,
      ),
      syslogEvent(at(FAILING_MS - 2 * MINUTE_MS), {
        ...{ severity: 4, host: 'lb-1', program: 'haproxy' },
        text: 'Server payment/payment-1 is DOWN, reason: Layer7 timeout, check duration: 2001ms.',
      }),
      syslogEvent(at(WELL_MS), {
        ...{ severity: 5, host: 'lb-1', program: 'haproxy' },
        text: 'Server payment/payment-1 is UP, reason: Layer7 check passed, code: 200.',
      }),
    ];
  }

  #cluster(timeMs: number, level: string, message: string, version: string): DemoEvent {
    return jsonEvent('cluster', timeMs, {
      ...{ level, message },
      kubernetes: { namespace_name: 'shop', labels: { app: 'payment', version } },
    });
  }
}
