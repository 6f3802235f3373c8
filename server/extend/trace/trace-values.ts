import { Kind } from '../../../engine/column/kind.ts';
import type { EventValues } from '../../../engine/query/filter/event-test.ts';
import type { RowValues } from '../row-values.ts';
import type { Asked } from './trace.ts';

const NOTHING: readonly number[] = [];

/** Number of no entry. */
export const SEVERAL = -1;

/**
 * Values of a row for a filter, whose places are those of an earlier row of the same shape. While recording, places
 * that are not known are found in the row. Owned by one thread.
 */
export class TraceValues implements EventValues {
  kind: Kind = Kind.NULL;
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;
  /** Is set when something was asked that is not known. */
  isLost = false;
  /** Is set when a value was read. */
  wasRead = false;
  /** The only entry that was read, from the first one of the row; SEVERAL when there were others. */
  only = SEVERAL;

  readonly #row: RowValues;
  #asked: Asked = { places: new Map(), presence: new Map() };
  #isRecording = false;
  #first = 0;
  #places = NOTHING;
  #at = 0;

  constructor(row: RowValues) {
    this.#row = row;
  }

  /** Turns to what was asked of rows whose first entry is now `first`. */
  begin(asked: Asked, first: number, isRecording: boolean): void {
    this.#asked = asked;
    this.#first = first;
    this.#isRecording = isRecording;
    this.isLost = false;
    this.wasRead = false;
    this.only = SEVERAL;
  }

  open(path: string): void {
    this.#places = this.#asked.places.get(path) ?? this.#find(path);
    this.#at = 0;
  }

  /** Has no answer that is known. */
  openAll(): void {
    this.isLost = true;
    this.#places = NOTHING;
    this.#at = 0;
    if (this.#isRecording) this.#places = this.#rest(() => this.#row.openAll());
  }

  next(): boolean {
    if (this.#at === this.#places.length) return false;
    const place = this.#places[this.#at++];
    this.only = this.wasRead && this.only !== place ? SEVERAL : place;
    this.wasRead = true;
    const row = this.#row;
    row.turnToEntry(this.#first + place);
    this.kind = row.kind;
    this.bytes = row.bytes;
    this.start = row.start;
    this.end = row.end;
    return true;
  }

  has(path: string): boolean {
    const known = this.#asked.presence.get(path);
    if (known !== undefined) return known;
    this.isLost ||= !this.#isRecording;
    if (!this.#isRecording) return false;
    const has = this.#row.has(path);
    this.#asked.presence.set(path, has);
    return has;
  }

  #find(path: string): readonly number[] {
    this.isLost ||= !this.#isRecording;
    if (!this.#isRecording) return NOTHING;
    const found = this.#rest(() => this.#row.open(path));
    this.#asked.places.set(path, found);
    return found;
  }

  #rest(open: () => void): number[] {
    open();
    const found: number[] = [];
    while (this.#row.next()) found.push(this.#row.entry - this.#first);
    return found;
  }
}
