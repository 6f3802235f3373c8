import { EngineError } from '../../engine/base/errors.ts';
import type { Port } from '../../engine/base/pool.ts';
import type { FromIngest, ToIngest } from './protocol.ts';

/** Pause before the manifest is told again about something that acknowledgements wait for. */
const RETRY_MS = 1_000;

/** Dependencies of the intake's recorder. */
export interface RecorderOptions {
  /** Takes a segment number. */
  allocate: () => number;
  /** Records, durably, that a writer begins a segment. */
  begun: (segment: number, writer: number) => Promise<void>;
  /** Records, durably, that a segment is closed. */
  closed: (segment: number, bytes: number, sequence: number) => Promise<void>;
  /**
   * Recovers and closes the segments that the dead worker of a writer left open. When it rejects it is called again
   * later.
   */
  recover: (writer: number) => Promise<void>;
  /** Receives the error of a record that is tried again. */
  fault: (error: Error) => void;
}

type Closed = Extract<FromIngest, { type: 'closed' }>;
type IngestPort = Port<ToIngest, FromIngest>;

/** The front thread's end of the ledgers of ingest workers: has recorded what they ask for, and answers them. */
export class Recorder {
  readonly #options: RecorderOptions;
  /** The record being written, by writer. */
  readonly #recording = new Map<number, Promise<unknown>>();
  readonly #closing = Promise.withResolvers<void>();
  #closed = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Takes a segment number for a worker. */
  allocate(writer: number, port: IngestPort): void {
    void this.#answer(writer, port, 'allocate', async () => {
      return { type: 'allocated', segment: this.#options.allocate() };
    });
  }

  /** Records that a worker begins a segment. */
  begun(writer: number, port: IngestPort, segment: number): void {
    void this.#answer(writer, port, 'record', async () => {
      await this.#options.begun(segment, writer);
      return { type: 'recorded' };
    });
  }

  /**
   * Records that a segment of a worker is closed. When that ends a group that failed, the promise resolves when it is
   * recorded, however often that has to be tried: until then a recovery may show the group.
   */
  closed(writer: number, port: IngestPort, message: Closed): Promise<void> | undefined {
    const { segment, bytes, sequence, failed } = message;
    const record = (): Promise<void> => this.#options.closed(segment, bytes, sequence);
    const answered = this.#answer(writer, port, 'record', async () => {
      await record();
      return { type: 'recorded' };
    });
    if (failed === undefined) return undefined;
    return answered.then((isDone) =>
      isDone ? undefined : this.#untilDone(writer, record, RETRY_MS),
    );
  }

  /** Has the segments recovered that the dead worker of a writer left open; resolves when they are. */
  async recover(writer: number): Promise<void> {
    await this.#recording.get(writer);
    await this.#untilDone(writer, () => this.#options.recover(writer));
  }

  /** Resolves when the recorder ends. */
  get ended(): Promise<void> {
    return this.#closing.promise;
  }

  /** Tries nothing again any more; resolves when nothing is being recorded. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.resolve();
    await Promise.all(this.#recording.values());
  }

  /** Does something again and again while it fails; never resolves when the recorder ends before it is done. */
  async #untilDone(writer: number, work: () => Promise<void>, afterMs = 0): Promise<void> {
    let waitMs = afterMs;
    for (;;) {
      if (waitMs > 0) await this.#pause(waitMs);
      waitMs = RETRY_MS;
      if (this.#closed) await new Promise(() => {});
      const done = work().then(
        () => true,
        (error: unknown) => {
          this.#options.fault(error instanceof Error ? error : new Error(String(error)));
          return false;
        },
      );
      this.#note(writer, done);
      if (await done) return;
    }
  }

  async #pause(waitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([over, this.#closing.promise]);
    clearTimeout(timer);
  }

  /** Answers with what comes of `work`; resolves when it has, and says whether that went well. */
  #answer(
    writer: number,
    port: IngestPort,
    of: 'allocate' | 'record',
    work: () => Promise<ToIngest>,
  ): Promise<boolean> {
    const answered = work().then(
      (answer) => {
        port.post(answer);
        return true;
      },
      (error: unknown) => {
        const message = error instanceof EngineError ? error.message : 'the manifest failed';
        port.post({ type: 'failed', of, message });
        return false;
      },
    );
    this.#note(writer, answered);
    return answered;
  }

  #note(writer: number, work: Promise<unknown>): void {
    const before = this.#recording.get(writer);
    const both = Promise.all([before, work]).then(() => undefined);
    this.#recording.set(writer, both);
  }
}
