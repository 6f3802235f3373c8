import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpuSeconds, peakMegabytes } from '../../test/support/service.ts';
import type { Answer, Clocks, Parameters, Part } from './peer.ts';
import type { Action, Reply } from './wire.ts';

/** A peer in a process of its own, so that a crash of its library fails a call and not the run. */

const WORKER = new URL('worker.ts', import.meta.url).pathname;
const STDERR_MAX = 2_000;
/** Time after which a peer is taken for hung: the largest load of a part and the slowest question take a minute. */
const CALL_MAX_MS = 900_000;

/** Facts that a peer tells of itself when it is open. */
export interface Opened {
  version: string;
  settings: readonly string[];
  pid: number;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/** The benchmark's end of a worker. Every call rejects with what the peer said, or with how its process ended. */
export class RemotePeer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;
  #end: string | undefined;
  #stderr = '';
  #pid = 0;

  /** Forks the worker of the module at `path`; `folder` is the peer's own. */
  constructor(path: string, folder: string) {
    this.#child = fork(WORKER, [path, folder], {
      execArgv: ['--no-warnings'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_MAX);
    });
    this.#child.on('message', (reply: Reply) => this.#receive(reply));
    this.#child.on('error', (error) => this.#endWith(error.message));
    this.#child.on('exit', (code, signal) =>
      this.#endWith(`its process ended with ${signal ?? code} ${this.#stderr.trim()}`.trim()),
    );
  }

  async open(): Promise<Opened> {
    const opened = (await this.#call({ action: 'open' })) as Opened;
    this.#pid = opened.pid;
    return opened;
  }

  /** The milliseconds that it took. */
  async load(part: Part): Promise<number> {
    return (await this.#call({ action: 'load', part })) as number;
  }

  async settle(events: number): Promise<void> {
    await this.#call({ action: 'settle', events });
  }

  async ask(question: string, parameters: Parameters): Promise<Answer> {
    return (await this.#call({ action: 'ask', question, parameters })) as Answer;
  }

  /** One more run by both clocks; undefined when the store tells no time. */
  async clocks(question: string, parameters: Parameters): Promise<Clocks | undefined> {
    return (await this.#call({ action: 'clocks', question, parameters })) as Clocks | undefined;
  }

  /** CPU seconds of the store's process so far; 0 when it is gone. */
  cpuSeconds(): number {
    return this.#ofProcess(cpuSeconds);
  }

  /** The most memory that the store's process had resident since `forgetPeak`, in megabytes; 0 when it is gone. */
  peakMegabytes(): number {
    return this.#ofProcess(peakMegabytes);
  }

  /** Makes what the store's process has resident now the peak. Source: proc_pid_clear_refs(5). */
  forgetPeak(): void {
    this.#ofProcess((pid) => {
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
      return 0;
    });
  }

  /** Closes the store and ends the process, by force when that fails. */
  async close(): Promise<void> {
    try {
      await this.#call({ action: 'close' });
    } catch {
      // It is gone already, or cannot close: the signal below ends it either way.
    }
    if (this.#end === undefined) {
      const gone = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()));
      this.#kill();
      await gone;
    }
  }

  /** Ends the worker, and the server that it may have started. */
  #kill(): void {
    this.#child.kill('SIGKILL');
    if (this.#pid === this.#child.pid || this.#pid === 0) return;
    try {
      process.kill(this.#pid, 'SIGKILL');
    } catch {
      // It has ended with its worker.
    }
  }

  #ofProcess(read: (pid: number) => number): number {
    try {
      return this.#end === undefined ? read(this.#pid) : 0;
    } catch {
      return 0;
    }
  }

  #call(action: Action): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) {
        reject(new Error(this.#end));
        return;
      }
      const id = this.#nextId++;
      const timer = setTimeout(() => {
        this.#endWith(`no reply to ${action.action} in ${CALL_MAX_MS / 1000} s`);
        this.#kill();
      }, CALL_MAX_MS);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#child.send({ ...action, id });
    });
  }

  #receive({ id, value, fault }: Reply): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    if (fault === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(fault));
  }

  #endWith(reason: string): void {
    this.#end ??= reason;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error(this.#end));
    }
    this.#waiting.clear();
  }
}
