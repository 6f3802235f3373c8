import type { Rows } from '../../engine/column/rows.ts';
import type { Decoder } from '../decode/decoder.ts';
import { type KeyLookup, NO_CELL } from '../registry/key-table.ts';
import { dayOf, type UsageCells } from '../registry/usage.ts';
import type { NameBudget } from './name-budget.ts';
import type { LinesTask } from './protocol.ts';
import { Shares } from './share.ts';
import { LINE_DROPPED, TroubleNotes } from './trouble.ts';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const BLANK = 0x20;
const BRACE = 0x7b;
/** Where the search for the blank behind a key ends; no key is as long. */
const KEY_BYTES_MAX = 64;

/** What the lines of a task came to. */
export interface RawLines {
  shares: Shares;
  /** Lines without a valid key, or whose key is off or spent. */
  droppedCount: number;
}

/**
 * Decodes lines of raw channels. Each brings its write key, `<key> <content>` or a JSON object with the attribute
 * `logmaticKey`, or belongs to the key that its listener is bound to, or to the first one of its datagram. A line means
 * the same as on every other channel. Owned by one ingest thread. Source: interface.md 4.4, decisions.md 2.
 */
export class RawDecoder {
  readonly #decoder: Decoder;
  readonly #rows: Rows;
  readonly #keys: KeyLookup;
  readonly #cells: UsageCells;
  readonly #memory: Uint8Array;
  /** The same memory as a Buffer, whose search for a byte is three times as fast as that of shared typed arrays. */
  readonly #search: Buffer;
  readonly #troubles: TroubleNotes;
  readonly #names: NameBudget | undefined;
  #shares = new Shares(0);
  #droppedCount = 0;
  /** The last line that was dropped. */
  #droppedStart = 0;
  #droppedEnd = 0;
  #day = 0;

  constructor(
    decoder: Decoder,
    rows: Rows,
    keys: KeyLookup,
    cells: UsageCells,
    memory: Uint8Array,
    troubles = new TroubleNotes(),
    names?: NameBudget,
  ) {
    this.#decoder = decoder;
    this.#names = names;
    this.#troubles = troubles;
    this.#rows = rows;
    this.#keys = keys;
    this.#cells = cells;
    this.#memory = memory;
    this.#search = Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength);
  }

  /** What the lines that were decoded last reserved, also when decoding broke off. */
  get shares(): Shares {
    return this.#shares;
  }

  /** Decodes the task's lines into the rows. */
  decode(task: LinesTask): RawLines {
    const source = this.#memory.subarray(task.start, task.start + task.bytes);
    this.#day = dayOf(task.receivedMs);
    this.#shares = new Shares(this.#day);
    this.#droppedCount = 0;
    this.#decoder.unquotes = true;
    this.#decoder.begin(source, task.receivedMs, undefined);
    let at = 0;
    for (const { form, start, end } of task.spans) {
      this.#lines(source, task.start, at, start, task.cell, false);
      if (form === 'frame') this.#line(source, start, end, task.cell);
      else this.#lines(source, task.start, start, end + 1, task.cell, true);
      at = end + 1;
    }
    this.#lines(source, task.start, at, task.bytes, task.cell, false);
    if (this.#droppedCount > 0) {
      const { receivedMs } = task;
      this.#troubles.note(LINE_DROPPED, source, this.#droppedStart, this.#droppedEnd, receivedMs);
    }
    return { shares: this.#shares, droppedCount: this.#droppedCount };
  }

  /**
   * Decodes the lines in `[start, end)`, each with its line feed. `ownerCell` is the key of those that bring none; when
   * `inherits`, it is the first key that a line brought.
   */
  #lines(
    source: Uint8Array,
    taskStart: number,
    start: number,
    end: number,
    ownerCell: number,
    inherits: boolean,
  ): void {
    let owner = ownerCell;
    for (let at = start; at < end; ) {
      const lineFeed = this.#search.indexOf(LINE_FEED, taskStart + at) - taskStart;
      const lineEnd =
        lineFeed > at && source[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed;
      if (lineEnd > at) {
        const cell = this.#line(source, at, lineEnd, owner);
        if (inherits && owner === NO_CELL) owner = cell;
      }
      at = lineFeed + 1;
    }
  }

  /** Decodes one line, or drops and counts it; the cell of the key that it belongs to, or NO_CELL. */
  #line(source: Uint8Array, start: number, end: number, owner: number): number {
    if (source[start] === BRACE) return this.#keyedObject(start, end, owner);
    const keyEnd = endOfKey(source, start, end);
    const found = this.#keys.find(source, start, keyEnd);
    const contentStart = found === NO_CELL ? start : Math.min(keyEnd + 1, end);
    const cell = found === NO_CELL ? owner : found;
    const bytes = end - contentStart;
    if (cell === NO_CELL || this.#cells.reserve(cell, bytes, this.#day) !== 'ok') {
      this.#drop(start, end);
      return cell;
    }
    const before = this.#rows.rowCount;
    this.#names?.begin(cell, this.#day);
    this.#decoder.line(contentStart, end);
    this.#shares.add(cell, bytes, this.#rows.rowCount - before);
    return cell;
  }

  /** Decodes a JSON object, which may bring its key as an attribute; without a good key there is no event. */
  #keyedObject(start: number, end: number, owner: number): number {
    const decoder = this.#decoder;
    decoder.takesWriteKey = true;
    decoder.line(start, end);
    decoder.takesWriteKey = false;
    const key = decoder.writeKey();
    const found = key === undefined ? NO_CELL : this.#keys.find(key, 0, key.length);
    const cell = found === NO_CELL ? owner : found;
    const bytes = end - start;
    if (cell === NO_CELL || this.#cells.reserve(cell, bytes, this.#day) !== 'ok') {
      decoder.dropLine();
      this.#drop(start, end);
      return cell;
    }
    this.#names?.begin(cell, this.#day);
    decoder.finishLine(start, end);
    this.#shares.add(cell, bytes, 1);
    return cell;
  }

  #drop(start: number, end: number): void {
    this.#droppedCount++;
    this.#droppedStart = start;
    this.#droppedEnd = end;
  }
}

function endOfKey(source: Uint8Array, start: number, lineEnd: number): number {
  const last = Math.min(lineEnd, start + KEY_BYTES_MAX);
  let at = start;
  while (at < last && source[at] !== BLANK) at++;
  return at;
}
