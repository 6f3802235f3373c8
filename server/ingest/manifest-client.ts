import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { Claim } from '../../engine/engine.ts';
import type { FromIngest, ToIngest } from './protocol.ts';

/** Someone who waits for the front thread's answer. */
interface Waiting<T> {
  resolve: (value: T) => void;
  reject: (error: Error) => void;
}

/** An ingest worker's client of the manifest, which the front thread alone writes. Answers come in the order asked. */
export class ManifestClient {
  readonly #ask: (question: FromIngest) => void;
  readonly #grants: Waiting<number>[] = [];
  readonly #records: Waiting<void>[] = [];

  /** `ask` posts a question to the front thread. */
  constructor(ask: (question: FromIngest) => void) {
    this.#ask = ask;
  }

  /** Takes the number of a new segment. Rejects with IO when there is none left. */
  allocate(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#grants.push({ resolve, reject });
      this.#ask({ type: 'allocate' });
    });
  }

  /** Records that a segment is begun, whose file is durable. Rejects with IO when the manifest cannot be written. */
  begun(segment: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#records.push({ resolve, reject });
      this.#ask({ type: 'begun', segment });
    });
  }

  /**
   * Records that a segment is closed, as `WriterOptions` has it. Rejects with IO when the manifest cannot be written.
   */
  closed(segment: number, bytes: number, sequence: number, failed?: Claim): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#records.push({ resolve, reject });
      this.#ask({ type: 'closed', segment, bytes, sequence, failed });
    });
  }

  /** Takes an answer of the front thread. */
  take(answer: Extract<ToIngest, { type: 'allocated' | 'recorded' | 'failed' }>): void {
    if (answer.type === 'allocated') {
      must(this.#grants.shift(), 'asker for a segment').resolve(answer.segment);
    } else if (answer.type === 'recorded') {
      must(this.#records.shift(), 'asker for a record').resolve();
    } else {
      const waiting = answer.of === 'allocate' ? this.#grants.shift() : this.#records.shift();
      must(waiting, 'asker').reject(new EngineError('IO', answer.message));
    }
  }
}
