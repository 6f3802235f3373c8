import { CLOSE_BRACKET } from '../../../engine/base/ascii.ts';
import { AccessDateReader } from '../access-log/access-log-date.ts';
import { commonDate } from '../access-log/access-log-line.ts';

const LENGTH_MAX = 40;

/** Reads the dates of access lines as AccessDateReader does, from bytes, remembering the last one. */
export class AccessDate {
  /** The date that was read last, in ISO 8601. */
  iso = '';
  /** Is set when it was written as most servers do. */
  isCommon = false;
  readonly #reader = new AccessDateReader();
  /** As it was written, with its closing bracket. */
  readonly #written = new Uint8Array(LENGTH_MAX + 1);
  #writtenBytes = 0;

  /** Reads the date at `at`, before `end`; returns the offset behind its closing bracket, -1 when there is none. */
  read(bytes: Uint8Array, at: number, end: number): number {
    const written = this.#written;
    const length = this.#writtenBytes;
    let same = 0;
    if (at + length <= end) while (same < length && bytes[at + same] === written[same]) same++;
    return same === length && length > 0 ? at + length : this.#learn(bytes, at, end);
  }

  #learn(bytes: Uint8Array, at: number, end: number): number {
    const closing = bytes.subarray(at, Math.min(end, at + LENGTH_MAX)).indexOf(CLOSE_BRACKET);
    if (closing < 0) return -1;
    const text = Buffer.from(bytes.subarray(at, at + closing + 1)).toString('latin1');
    if (this.#reader.read(text, 0) !== text.length) return -1;
    this.iso = this.#reader.iso;
    this.isCommon = commonDate(this.iso) === text.slice(0, -1);
    this.#written.set(bytes.subarray(at, at + text.length));
    this.#writtenBytes = text.length;
    return at + text.length;
  }
}
