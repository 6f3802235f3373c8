import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type TransferListItem,
} from 'node:worker_threads';
import { Piscina } from 'piscina';
import { assert, must } from './assert.ts';
import { LoopWatch } from './thread/loop-watch.ts';

/** Argument of the function `start` of a pool's module: its data, its end of the channel, and its number. */
export interface ThreadTask<Data> {
  data: Data;
  port: MessagePort;
  /** Number from 0 to the count of threads - 1. */
  thread: number;
  /** The cells of its LoopWatch, which it begins. */
  loop: SharedArrayBuffer;
  /** The bell of its port: see `openThreadPort`. */
  bell: SharedArrayBuffer;
}

/**
 * One end of a channel between two threads, with typed messages. Messages arrive in the order in which they were
 * posted and are copied by structured clone (shared memory stays shared).
 */
export interface Port<Out, In> {
  /**
   * Posts a message, which is lost when the thread is gone. The buffers `moved` of `message` are transferred, not
   * copied.
   */
  post(message: Out, moved?: ArrayBuffer[]): void;
  /** Calls `take` for every message from now on; messages wait until then. */
  listen(take: (message: In) => void): void;
  /** Ends the channel for both ends, behind the messages that were posted. */
  close(): void;
}

/** The end of a thread that may wait for messages. */
export interface ThreadPort<Out, In> extends Port<Out, In> {
  /**
   * Waits for the next message for up to `ms`, in which the thread does nothing else, and has it taken before it
   * returns, with those that came by then; false when none came. It costs less than to have the event loop woken.
   */
  wait(ms: number): boolean;
}

/** Bounds of the objects of a thread, in 2^20 bytes. */
export interface HeapLimits {
  /** Limit of long-lived objects: a thread that has more dies. */
  oldMb: number;
}

/** A fixed number of threads. Each runs one task for as long as the pool is open. */
export interface Pool<Out, In> {
  /** The channel to each thread, by its number. A thread that is started anew has a new one. */
  readonly ports: readonly Port<Out, In>[];
  /** Lag of each thread's event loop, by its number; a restarted thread begins anew. */
  readonly loops: readonly LoopWatch[];
  /** Starts a thread anew, with new data, in the place of one that died; returns its channel. */
  restart(thread: number): Port<Out, In>;
  /** Ends a thread, whatever it does: it dies, and that is told. */
  kill(thread: number): void;
  /**
   * Resolves when the tasks have returned, or `graceMs` later, and the threads are gone; `died` is not called any
   * more. The owner tells the tasks beforehand, in messages of its own, that they should end.
   */
  close(graceMs: number): Promise<void>;
}

/** Makes a typed end of `port`; `bell` is rung behind each message, when the thread at the other end waits for it. */
export function openPort<Out, In>(port: MessagePort, bell?: SharedArrayBuffer): Port<Out, In> {
  const cell = bell === undefined ? undefined : new Int32Array(bell);
  return {
    post: (message, moved) => {
      port.postMessage(message, moved);
      if (cell !== undefined && Atomics.exchange(cell, 0, 0) === WAITING) Atomics.notify(cell, 0);
    },
    listen: (take) => {
      port.on('message', take);
    },
    close: () => port.close(),
  };
}

/** Value of a bell while its thread waits. */
const WAITING = 1;

/** Makes the end of a thread that `openPool` has started. */
export function openThreadPort<Out, In>({
  port,
  bell,
}: Pick<ThreadTask<unknown>, 'port' | 'bell'>): ThreadPort<Out, In> {
  const cell = new Int32Array(bell);
  const takeAll = (): boolean => {
    let next = receiveMessageOnPort(port);
    const hasCome = next !== undefined;
    for (; next !== undefined; next = receiveMessageOnPort(port))
      port.emit('message', next.message);
    return hasCome;
  };
  return {
    ...openPort<Out, In>(port),
    wait: (ms) => {
      if (ms <= 0) return takeAll();
      Atomics.store(cell, 0, WAITING);
      // What was posted before the other end could see that this one waits rings no bell.
      if (takeAll()) return true;
      Atomics.wait(cell, 0, WAITING, ms);
      return takeAll();
    },
  };
}

/** Options of all threads of a pool. */
export interface PoolOptions {
  /** Bounds the objects of a thread, not its array buffers. */
  heap?: HeapLimits | undefined;
  /** Threads begin when it resolves, else at once; what is posted to them before waits. */
  after?: Promise<void> | undefined;
}

/**
 * Starts `count` threads. Each runs the export `start(task: ThreadTask<Data>): Promise<void>` of the module `entry`
 * once, with what `data` gives for its number; its event loop keeps working meanwhile.
 * `died` is told once for a thread whose task failed, returned unasked, or that went down, be it by running out of
 * memory: then the thread is gone, nothing of it runs any more, and all that it has posted was taken. It stays away
 * until `restart`.
 */
export function openPool<Data, Out, In>(
  entry: URL,
  count: number,
  data: (thread: number) => Data,
  died: (thread: number, error: Error) => void,
  { heap, after }: PoolOptions = {},
): Pool<Out, In> {
  let closing = false;
  const loops: LoopWatch[] = [];
  const begin = (number: number): Thread<Out, In> => {
    const loop = new LoopWatch();
    loops[number] = loop;
    const bell = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const task = { data: data(number), thread: number, loop: loop.shared, bell };
    const thread = new Thread<Out, In>({ entry, task, heap, after });
    void thread.ended.then((error) => {
      if (!closing) died(number, error);
    });
    return thread;
  };
  const threads = Array.from({ length: count }, (_, number) => begin(number));
  const ports: Port<Out, In>[] = threads.map(({ port }) => port);
  return {
    ports,
    loops,
    restart: (number) => {
      assert(!closing && must(threads[number], 'thread').gone, `thread ${number} died`);
      const thread = begin(number);
      threads[number] = thread;
      ports[number] = thread.port;
      return thread.port;
    },
    kill: (number) => void must(threads[number], 'thread').end(),
    close: async (graceMs) => {
      closing = true;
      let timer: NodeJS.Timeout | undefined;
      const grace = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([Promise.all(threads.map(({ ended }) => ended)), grace]);
      clearTimeout(timer);
      await Promise.all(threads.map((thread) => thread.end()));
    },
  };
}

/** Suffix of module files: `.js` where the launcher has bundled them. */
const ENDING = import.meta.url.slice(import.meta.url.lastIndexOf('.'));

/** Data with which a thread begins. */
interface ThreadStart {
  entry: URL;
  task: Omit<ThreadTask<unknown>, 'port'>;
  heap: HeapLimits | undefined;
  /** Is awaited before the thread begins. */
  after: Promise<void> | undefined;
}

/** One thread with its task and its channel. A pool of its own has it, so that it can be ended by itself. */
class Thread<Out, In> {
  readonly port: Port<Out, In>;
  /** Resolves, with why, when the task is over, the thread is gone and its messages were taken. */
  readonly ended: Promise<Error>;
  #threads: Piscina | undefined;
  #gone = false;

  constructor(start: ThreadStart) {
    const { port1, port2 } = new MessageChannel();
    this.port = openPort(port1, start.task.bell);
    const { after } = start;
    const run = (): Promise<Error> => this.#run(start, port2);
    this.ended = (after === undefined ? run() : after.then(run)).then(async (error) => {
      takeRest(port1);
      await this.end();
      return error;
    });
  }

  /** Is set when the thread has ended and its messages were taken. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Ends the thread, whatever it does, and the channel. */
  async end(): Promise<void> {
    this.port.close();
    await this.#threads?.destroy();
    this.#gone = true;
  }

  /** Resolves, with why, when the task is over and nothing of the thread runs. */
  async #run({ entry, task, heap }: ThreadStart, port: MessagePort): Promise<Error> {
    if (this.#gone) return new Error(`thread ${task.thread} was ended before it began`);
    const threads = new Piscina({
      filename: entry.href.replace(/\.ts$/, ENDING),
      name: 'start',
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      // A thread that waits for its next task by Atomics.wait would stop its event loop.
      atomics: 'disabled',
      ...(heap === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: heap.oldMb } }),
    });
    this.#threads = threads;
    // Errors reach `ended` by the task; what comes after it has nobody left to tell.
    threads.on('error', () => {});
    // Otherwise piscina would put a thread in the place of a lost one by itself, for nobody.
    threads.options.minThreads = 0;
    const worker = must(threads.threads[0], 'worker');
    const transferList = [port as unknown as TransferListItem];
    const error = await threads
      .run({ ...task, port }, { transferList: transferList as never })
      .then(
        () => new Error(`thread ${task.thread} returned`),
        (cause: unknown) => (cause instanceof Error ? cause : new Error(String(cause))),
      );
    await worker.terminate();
    return error;
  }
}

/** Hands on what a thread that is gone has posted and the event loop has not brought yet. */
function takeRest(port: MessagePort): void {
  for (;;) {
    const rest = receiveMessageOnPort(port);
    if (rest === undefined) return;
    port.emit('message', rest.message);
  }
}
