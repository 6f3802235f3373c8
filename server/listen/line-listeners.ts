import { randomBytes } from 'node:crypto';
import { EngineError } from '../../engine/base/errors.ts';
import type { Address } from '../address.ts';
import type { Intake, SocketWatcher } from '../ingest/intake.ts';
import type {
  CertificateTexts,
  LinePlan,
  SocketReport,
  TlsVersion,
} from '../ingest/socket-order.ts';
import type { Log } from '../log.ts';
import { sharedPorts } from './kernel-sockets.ts';
import type { LineCells, LineChannel, LineCounts } from './line-cells.ts';
import { listenFault } from './listen-fault.ts';
import { type ClaimedPort, claimPort } from './tcp.ts';
import { checkPair } from './tls.ts';

/** The module of ingest threads, which have the sockets of TCP and TLS. */
export const INGEST_ENTRY = new URL('./ingest-worker.ts', import.meta.url);

/** Dependencies of the listeners for lines on the front thread. */
export interface LineListenersOptions {
  intake: Pick<Intake, 'writers' | 'order' | 'watchSockets'>;
  cells: LineCells;
  log: Log;
}

/** Plan of a listener for lines over TLS, besides its address. */
export interface SecurePlan {
  certificate: CertificateTexts;
  versionMax: TlsVersion;
}

/** Pause before a worker tries again to open its listeners. */
const RETRY_MS = 1_000;
/** Time that a worker may take, beyond its connections', to say that it has stopped. */
const ANSWER_MS = 1_000;
const TICKET_KEYS_BYTES = 48;

/**
 * The listeners for lines, as the front thread sees them. It has none of their sockets: each ingest worker listens on
 * all ports, and the kernel gives each connection to one worker.
 */
export class LineListeners implements SocketWatcher {
  readonly #options: LineListenersOptions;
  readonly #ticketKeys = randomBytes(TICKET_KEYS_BYTES);
  readonly #claims: ClaimedPort[] = [];
  #plans: LinePlan[] = [];
  /** Callers by worker that wait for it to listen, or to have stopped. */
  readonly #answers = new Map<number, PromiseWithResolvers<void>>();
  /** Workers that could not listen when they last tried. */
  readonly #refused = new Set<number>();
  #isOpen = false;

  constructor(options: LineListenersOptions) {
    this.#options = options;
    options.intake.watchSockets(this);
  }

  /**
   * Claims the address of a setting for a listener, bound to the write key with that name if one is given; returns the
   * port. Rejects with USAGE when another process has it. Nobody listens before `open`.
   */
  async add(
    setting: string,
    { host, port }: Address,
    key?: string,
    secure?: SecurePlan,
  ): Promise<number> {
    const claim = await claimPort(setting, { host, port });
    this.#claims.push(claim);
    const tls = secure === undefined ? undefined : { ...secure, ticketKeys: this.#ticketKeys };
    this.#plans.push({ setting, host, port: claim.port, key, tls });
    return claim.port;
  }

  /** Has all workers listen. Rejects with USAGE when one cannot, and when another process has begun to meanwhile. */
  async open(): Promise<void> {
    await this.#release();
    this.#isOpen = true;
    await this.#orderAll({ type: 'listen', plans: this.#plans });
    const shared = sharedPorts();
    const plan = this.#plans.find(({ port }) => shared.has(port));
    if (plan !== undefined) throw listenFault(plan.setting, plan, { code: 'EADDRINUSE' });
  }

  /** New connections get this certificate; those that are open stay. Throws USAGE as `checkPair` does. */
  reload({ cert, key }: CertificateTexts): void {
    const certificate = { cert, key };
    checkPair(certificate, 'the certificate');
    this.#plans = this.#plans.map((plan) =>
      plan.tls === undefined ? plan : { ...plan, tls: { ...plan.tls, certificate } },
    );
    const { intake } = this.#options;
    for (const writer of intake.writers) intake.order(writer, { type: 'certificate', certificate });
  }

  /** Takes nothing new and ends what is open, within `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isOpen = false;
    await this.#release();
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs + ANSWER_MS);
    });
    await Promise.race([this.#orderAll({ type: 'stop', graceMs }), overdue]);
    clearTimeout(timer);
  }

  /** Sums of each channel since the start. */
  counts(): ({ channel: LineChannel } & LineCounts)[] {
    const channels = new Set(this.#plans.map(({ tls }) => (tls === undefined ? 'tcp' : 'tls')));
    return [...channels].map((channel) => ({ channel, ...this.#options.cells.counts(channel) }));
  }

  /** Is set when there are workers and none of them could listen. */
  get areRefused(): boolean {
    const { writers } = this.#options.intake;
    return writers.length > 0 && writers.every((writer) => this.#refused.has(writer));
  }

  begun(writer: number): void {
    if (this.#isOpen) this.#options.intake.order(writer, { type: 'listen', plans: this.#plans });
  }

  died(writer: number): void {
    this.#options.cells.lose(writer);
    this.#refused.delete(writer);
    this.#answers.get(writer)?.resolve();
  }

  told(writer: number, report: SocketReport): void {
    const { log } = this.#options;
    const answer = this.#answers.get(writer);
    if (report.type === 'listening') this.#refused.delete(writer);
    if (report.type === 'failed') {
      log.error('a listener failed, it goes on', { worker: writer, error: report.error });
    } else if (report.type !== 'refused') answer?.resolve();
    else if (answer !== undefined) answer.reject(new EngineError('USAGE', report.message));
    else {
      this.#refused.add(writer);
      log.error('a worker cannot listen, it tries again', { worker: writer, why: report.message });
      setTimeout(() => this.#again(writer), RETRY_MS).unref();
    }
  }

  #again(writer: number): void {
    if (this.#options.intake.writers.includes(writer)) this.begun(writer);
  }

  /** Says something to all workers that are there; resolves when each has answered or is gone. */
  async #orderAll(order: Parameters<Intake['order']>[1]): Promise<void> {
    const { intake } = this.#options;
    const answers = intake.writers.map((writer) => {
      const answer = Promise.withResolvers<void>();
      this.#answers.set(writer, answer);
      intake.order(writer, order);
      return answer.promise;
    });
    await Promise.all(answers);
    this.#answers.clear();
  }

  async #release(): Promise<void> {
    await Promise.all(this.#claims.splice(0).map((claim) => claim.release()));
  }
}
