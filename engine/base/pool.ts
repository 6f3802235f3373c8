import { MessageChannel, type MessagePort, type TransferListItem } from 'node:worker_threads';
import { Piscina } from 'piscina';

/** What the function `start` of a pool's module gets: its data, its end of the channel, and its number. */
export interface ThreadTask<Data> {
  data: Data;
  port: MessagePort;
  /** From 0 to the count of threads - 1. */
  thread: number;
}

/**
 * One end of a channel between two threads, with typed messages. Messages arrive in the order in which they were
 * posted and are copied by structured clone (shared memory stays shared).
 */
export interface Port<Out, In> {
  post(message: Out): void;
  /** Calls `take` for every message from now on; messages wait until then. */
  listen(take: (message: In) => void): void;
  /** Ends the channel for both ends, behind the messages that were posted. */
  close(): void;
}

/** A fixed number of threads, each of which runs one task for as long as the pool is open. */
export interface Pool<Out, In> {
  /** The channel to each thread, by its number. */
  readonly ports: readonly Port<Out, In>[];
  /**
   * Resolves when the tasks have returned, or `graceMs` later, and the threads are gone; `died` is not called any
   * more. The owner tells the tasks beforehand, in messages of its own, that they should end.
   */
  close(graceMs: number): Promise<void>;
}

/** Makes a typed end of `port`. */
export function openPort<Out, In>(port: MessagePort): Port<Out, In> {
  return {
    post: (message) => port.postMessage(message),
    listen: (take) => {
      port.on('message', take);
    },
    close: () => port.close(),
  };
}

/**
 * Starts `count` threads. Each runs the export `start(task: ThreadTask<Data>): Promise<void>` of the module `entry`
 * once, with what `data` gives for its number; its event loop keeps working meanwhile.
 * `died` is told once for a thread whose task failed, returned unasked, or that went down. It is not replaced.
 */
export function openPool<Data, Out, In>(
  entry: URL,
  count: number,
  data: (thread: number) => Data,
  died: (thread: number, error: Error) => void,
): Pool<Out, In> {
  const threads = new Piscina({
    filename: entry.href,
    name: 'start',
    minThreads: count,
    maxThreads: count,
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    // A thread that waits for its next task by Atomics.wait would stop its event loop.
    atomics: 'disabled',
  });
  let closing = false;
  const ports: Port<Out, In>[] = [];
  const tasks: Promise<void>[] = [];
  // Errors reach `died` by the tasks; what comes after them has nobody left to tell.
  threads.on('error', () => {});
  for (let thread = 0; thread < count; thread++) {
    const { port1, port2 } = new MessageChannel();
    const task: ThreadTask<Data> = { data: data(thread), port: port2, thread };
    const transferList = [port2 as unknown as TransferListItem];
    tasks.push(
      threads.run(task, { transferList: transferList as never }).then(
        () => {
          if (!closing) died(thread, new Error(`thread ${thread} returned`));
        },
        (error: unknown) => {
          if (!closing) died(thread, error instanceof Error ? error : new Error(String(error)));
        },
      ),
    );
    ports.push(openPort(port1));
  }
  return {
    ports,
    close: async (graceMs) => {
      closing = true;
      let timer: NodeJS.Timeout | undefined;
      const grace = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([Promise.all(tasks), grace]);
      clearTimeout(timer);
      for (const port of ports) port.close();
      await threads.destroy();
    },
  };
}
