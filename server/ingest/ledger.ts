import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { Port } from '../../engine/base/pool.ts';
import type { FromIngest, SegmentGrant, ToIngest } from './protocol.ts';

/** Someone who waits for the front thread's answer. */
interface Waiting<T> {
  resolve: (value: T) => void;
  reject: (error: Error) => void;
}

/** An ingest worker's way to the manifest, which the front thread alone writes. Answers come in the order asked. */
export class Ledger {
  readonly #port: Port<FromIngest, ToIngest>;
  readonly #grants: Waiting<SegmentGrant>[] = [];
  readonly #records: Waiting<void>[] = [];

  constructor(port: Port<FromIngest, ToIngest>) {
    this.#port = port;
  }

  /** Takes a new segment whose sequences begin at `floor` or above. Rejects with IO when the manifest cannot be written. */
  allocate(floor: number): Promise<SegmentGrant> {
    return new Promise((resolve, reject) => {
      this.#grants.push({ resolve, reject });
      this.#port.post({ type: 'allocate', floor });
    });
  }

  /** Records that a segment is closed. Rejects with IO when the manifest cannot be written. */
  closed(segment: number, bytes: number, sequence: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#records.push({ resolve, reject });
      this.#port.post({ type: 'closed', segment, bytes, sequence });
    });
  }

  /** Takes an answer of the front thread. */
  take(answer: Extract<ToIngest, { type: 'allocated' | 'recorded' | 'failed' }>): void {
    if (answer.type === 'allocated') {
      must(this.#grants.shift(), 'asker for a segment').resolve(answer.grant);
    } else if (answer.type === 'recorded') {
      must(this.#records.shift(), 'asker for a record').resolve();
    } else {
      const waiting = answer.of === 'allocate' ? this.#grants.shift() : this.#records.shift();
      must(waiting, 'asker').reject(new EngineError('IO', answer.message));
    }
  }
}
