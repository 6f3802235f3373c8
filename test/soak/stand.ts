import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { peakMegabytes, type Service, startService, TEST_LISTENERS } from '../support/service.ts';
import type { Maker, Source } from './content.ts';
import { Faults, type Sent } from './judge.ts';
import { Ledger } from './ledger.ts';

/** Small segments, so that a soak seals and merges all the time. */
const FLAGS = [
  ...['--tls', '127.0.0.1:0', '--ingest-workers', '2', '--metrics-open', 'true'],
  ...['--seal-rows', '20000', '--seal-idle-minutes', '0.2'],
];
const SETTLE_MS = 2_000;
const COLLECT_MAX_MS = 20_000;

/** Memory of a service after all its threads have collected their garbage, bytes. */
export interface Collected {
  threads: number;
  rss: number;
  /** Objects of all threads. */
  heap: number;
  /** Buffers that objects of all threads own. */
  outside: number;
}

/** A service under a soak: it is killed and started again, and whoever wants it waits until it is up. */
export class Stand {
  readonly name: string;
  readonly maker: Maker;
  readonly sources: ReadonlyMap<string, Sent>;
  readonly faults = new Faults();
  readonly #folder: string;
  readonly #command: string;
  readonly #isMeasured: boolean;
  #service: Service | undefined;
  #up = Promise.withResolvers<Service>();
  #gate: Promise<void> = Promise.resolve();
  #keys: Pick<Service, 'writeKey' | 'readKey'> = { writeKey: '', readKey: '' };
  /** Ends in the middle of the load: by SIGKILL, by SIGTERM, and by SIGKILL while it was starting. */
  readonly ends = { kill: 0, stop: 0, whileStarting: 0 };
  /** The largest VmHWM of its processes, MB. */
  peak = 0;
  /** Messages of level `error`, with their counts and the first of each as it was logged. */
  readonly errors = new Map<string, { count: number; first: string }>();
  /** No more is to be sent and asked. */
  isClosing = false;

  constructor(
    name: string,
    folder: string,
    command: string,
    maker: Maker,
    sources: readonly Source[],
    isMeasured: boolean,
  ) {
    this.name = name;
    this.#folder = folder;
    this.#command = command;
    this.#isMeasured = isMeasured;
    this.maker = maker;
    this.sources = new Map(
      sources.map((source) => [source.name, { source, ledger: new Ledger() }]),
    );
  }

  /** Resolves with the service when it is up and nothing is being measured. */
  async up(): Promise<Service> {
    await this.#gate;
    return this.#up.promise;
  }

  /** Says that this very service is up and nothing was sent to it that ends it. */
  isUp(service: Service): boolean {
    return this.#service === service;
  }

  async start(): Promise<void> {
    const started = await startService(this.#folder, FLAGS, {
      command: this.#command,
      environment: this.#environment(),
    });
    const { writeKey, readKey } = started;
    if (writeKey !== '') this.#keys = { writeKey, readKey };
    const service = { ...started, ...this.#keys };
    this.#service = service;
    this.#up.resolve(service);
    void service.ended.then((code) => {
      if (this.#service !== service) return;
      this.faults.add(
        'service',
        `${this.name} ended by itself with ${code}:\n${service.output().slice(-2000)}`,
      );
      this.#service = undefined;
      this.#up = Promise.withResolvers();
      this.isClosing = true;
    });
  }

  /** Ends the service by a signal. */
  async end(how: 'kill' | 'stop'): Promise<void> {
    const service = this.#service;
    if (service === undefined) return;
    this.peak = Math.max(this.peak, peakMegabytes(service.pid));
    this.#service = undefined;
    this.#up = Promise.withResolvers();
    const code = await service[how]();
    if (how === 'stop' && code !== 0)
      this.faults.add('service', `SIGTERM ended with ${code}:\n${service.output().slice(-2000)}`);
    this.#readErrors(service.output());
  }

  /** Begins a start and kills it after a while. The service must not be up. */
  async killWhileStarting(afterMs: number): Promise<void> {
    const child = spawn(
      this.#command,
      ['serve', '--data', this.#folder, ...TEST_LISTENERS, ...FLAGS],
      {
        stdio: 'ignore',
      },
    );
    const closed = new Promise((resolve) => child.on('close', resolve));
    await pause(afterMs);
    child.kill('SIGKILL');
    await closed;
    this.ends.whileStarting++;
  }

  /**
   * Holds the senders, lets what is under way end, and has all threads collect. Undefined when they did not in time.
   */
  async collect(): Promise<Collected | undefined> {
    const service = this.#service;
    if (service === undefined) return undefined;
    const held = Promise.withResolvers<void>();
    this.#gate = held.promise;
    try {
      await pause(SETTLE_MS);
      const path = this.#memoryPath();
      rmSync(path, { force: true });
      process.kill(service.pid, 'SIGUSR2');
      for (let waited = 0; waited < COLLECT_MAX_MS; waited += 100) {
        await pause(100);
        if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'));
      }
      return undefined;
    } finally {
      held.resolve();
    }
  }

  get acknowledged(): number {
    return this.#sum((ledger) => ledger.acknowledged);
  }

  get unknown(): number {
    return this.#sum((ledger) => ledger.unknownCount);
  }

  #sum(pick: (ledger: Ledger) => number): number {
    return [...this.sources.values()].reduce((total, { ledger }) => total + pick(ledger), 0);
  }

  #memoryPath(): string {
    return join(this.#folder, '..', `${this.name}-memory.json`);
  }

  #environment(): Record<string, string> {
    if (!this.#isMeasured) return {};
    const preload = new URL('collect.ts', import.meta.url).href;
    return { NODE_OPTIONS: `--expose-gc --import ${preload}`, SOAK_MEMORY: this.#memoryPath() };
  }

  #readErrors(output: string): void {
    for (const line of output.split('\n')) {
      if (!line.includes('"level":"error"')) continue;
      const { message } = JSON.parse(line);
      const known = this.errors.get(message) ?? { count: 0, first: line };
      this.errors.set(message, { ...known, count: known.count + 1 });
    }
  }
}
