import { type ChildProcess, spawn } from 'node:child_process';
import type { LoopWatch } from '../engine/base/thread/loop-watch.ts';
import type { Log } from './log.ts';

/** Words for systemd come three times as often as they have to. */
const TIMES = 3;
/** One process for all words, begun while the service is small: to begin one takes longer the more memory there is. */
const TELLER = 'while read -r word; do systemd-notify "$word"; done';

/** The threads of a kind, by number; `undefined` for one that is not there. */
type Loops = readonly (LoopWatch | undefined)[];

/** Tells systemd that the service is ready, and from then on that all of its threads turn, as long as they do. */
export class Supervisor {
  readonly #watchdogMs: number;
  readonly #log: Log;
  readonly #teller: ChildProcess;

  /** When systemd hears nothing for `watchdogMs` it ends the service; 0: it does not. */
  constructor(watchdogMs: number, log: Log) {
    this.#watchdogMs = watchdogMs;
    this.#log = log;
    this.#teller = spawn('/bin/sh', ['-c', TELLER], { stdio: ['pipe', 'ignore', 'inherit'] });
    this.#teller.on('error', (error) => log.error('systemd cannot be told anything', { error }));
    this.#teller.stdin?.on('error', () => {});
    this.#teller.unref();
  }

  /** Says that the service is ready. `loops` are those of the threads that have to turn, by kind. */
  ready(loops: () => Readonly<Record<string, Loops>>): void {
    this.#tell('READY=1');
    if (this.#watchdogMs > 0)
      setInterval(() => this.#beat(loops()), this.#watchdogMs / TIMES).unref();
  }

  #beat(loops: Readonly<Record<string, Loops>>): void {
    const stuck = Object.entries(loops).flatMap(([kind, threads]) =>
      threads.flatMap((loop, worker) =>
        (loop?.stalledMs ?? 0) > this.#watchdogMs ? [{ kind, worker }] : [],
      ),
    );
    if (stuck.length === 0) this.#tell('WATCHDOG=1');
    else this.#log.error('threads are stuck, systemd will end the service', { stuck });
  }

  #tell(word: string): void {
    this.#teller.stdin?.write(`${word}\n`);
  }
}
