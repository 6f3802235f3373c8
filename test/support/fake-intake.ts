import { bodyTasks, type IngestTask } from '../../server/ingest/protocol.ts';
import { type Slot, Slots } from '../../server/ingest/slots.ts';
import { IngestWorkerHandle, type TaskPort } from '../../server/ingest/worker-handle.ts';
import type { ConnectionSink } from '../../server/listen/connection.ts';

/** An intake for tests of the listeners: what it is given lies in `texts` until the test says what became of it. */
export class FakeIntake {
  readonly thread: IngestWorkerHandle;
  readonly tasks: IngestTask[] = [];
  readonly texts: string[] = [];
  /** True when a text is a write key. */
  isKey: (text: string) => boolean = () => true;
  #waiting: (() => void)[] = [];
  #next = Promise.withResolvers<void>();

  /** `pages` of 64 KiB are for slots. */
  constructor(pages: number) {
    const memory = new WebAssembly.Memory({ initial: pages + 1, maximum: pages + 1, shared: true });
    const post: TaskPort['post'] = ({ tasks, numbers, keys }) => {
      for (const task of [...tasks, ...bodyTasks(numbers, keys)]) this.#take(task);
      this.#next.resolve();
      this.#next = Promise.withResolvers();
    };
    this.thread = new IngestWorkerHandle(new Slots(memory, 65_536), { post }, Date.now);
  }

  /** Where the lines of connections go. */
  get sink(): ConnectionSink {
    return {
      roomForLines: (...asked) => this.thread.roomForLines(...asked),
      appendLines: (...given) => this.thread.appendLines(...given),
      isKey: (bytes, start, end) => this.isKey(Buffer.from(bytes.subarray(start, end)).toString()),
      whenRoom: (resume) => this.whenRoom(resume),
      whenVisible: (resume) => resume(),
    };
  }

  leastBusy(): IngestWorkerHandle {
    return this.thread;
  }

  reserve(bytes: number): { thread: IngestWorkerHandle; slot: Slot } | undefined {
    const slot = this.thread.slots.reserve(bytes);
    return slot === undefined ? undefined : { thread: this.thread, slot };
  }

  whenRoom(resume: () => void): void {
    this.#waiting.push(resume);
  }

  /** True when a listener waits for room. */
  get isFull(): boolean {
    return this.#waiting.length > 0;
  }

  /** Tells those who wait that there is room. */
  makeRoom(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }

  /** Resolves when `done` holds, which is asked after each message to the worker. */
  async until(done: () => boolean): Promise<void> {
    while (!done()) await this.#next.promise;
  }

  /** Ends the tasks that were given so far. */
  settle(status = 200, message = ''): void {
    const outcomes = this.tasks
      .splice(0)
      .map(({ task }) => ({ task, status, message, events: 0, linesDropped: 0, usage: [] }));
    this.thread.report([], outcomes);
  }

  #take(task: IngestTask): void {
    const { start, bytes } = task;
    this.tasks.push(task);
    this.texts.push(Buffer.from(this.thread.slots.bytes.slice(start, start + bytes)).toString());
  }
}
