import type { Rows } from '../../engine/column/rows.ts';
import type { Decoder } from '../decode/decoder.ts';
import { type KeyLookup, NO_CELL } from '../registry/key-table.ts';
import { dayOf, type UsageCells } from '../registry/usage.ts';
import type { LinesTask } from './protocol.ts';
import { Shares } from './share.ts';

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
 * Decodes lines of raw channels, each of which brings its write key: `<key> <content>`, or a JSON object with the
 * attribute `logmaticKey`. A line means the same as on every other channel. Owned by one ingest thread.
 * Source: interface.md 4.4, decisions.md 2.
 */
export class RawDecoder {
  readonly #decoder: Decoder;
  readonly #rows: Rows;
  readonly #keys: KeyLookup;
  readonly #cells: UsageCells;
  readonly #memory: Uint8Array;
  /** The same memory as a Buffer, whose search for a byte is three times as fast as that of shared typed arrays. */
  readonly #search: Buffer;
  #shares = new Shares(0);
  #day = 0;

  constructor(
    decoder: Decoder,
    rows: Rows,
    keys: KeyLookup,
    cells: UsageCells,
    memory: Uint8Array,
  ) {
    this.#decoder = decoder;
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
    this.#decoder.unquotes = true;
    this.#decoder.begin(source, task.receivedMs, undefined);
    let droppedCount = 0;
    for (let at = 0; at < task.bytes; ) {
      const lineFeed = this.#search.indexOf(LINE_FEED, task.start + at) - task.start;
      const end =
        lineFeed > at && source[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed;
      if (end > at && !this.#line(source, at, end)) droppedCount++;
      at = lineFeed + 1;
    }
    return { shares: this.#shares, droppedCount };
  }

  /** Decodes one line; false when it brings no key that is good. */
  #line(source: Uint8Array, start: number, end: number): boolean {
    if (source[start] === BRACE) return this.#keyedObject(start, end);
    const keyEnd = endOfKey(source, start, end);
    const cell = this.#keys.find(source, start, keyEnd);
    if (cell === NO_CELL) return false;
    const contentStart = Math.min(keyEnd + 1, end);
    const bytes = end - contentStart;
    if (this.#cells.reserve(cell, bytes, this.#day) !== 'ok') return false;
    const before = this.#rows.rowCount;
    this.#decoder.line(contentStart, end);
    this.#shares.add(cell, bytes, this.#rows.rowCount - before);
    return true;
  }

  /** Decodes a JSON object that brings its key as an attribute; false, and no event, when it brings no good one. */
  #keyedObject(start: number, end: number): boolean {
    const decoder = this.#decoder;
    decoder.takesWriteKey = true;
    decoder.line(start, end);
    decoder.takesWriteKey = false;
    const key = decoder.writeKey();
    const cell = key === undefined ? NO_CELL : this.#keys.find(key, 0, key.length);
    const bytes = end - start;
    if (cell === NO_CELL || this.#cells.reserve(cell, bytes, this.#day) !== 'ok') {
      decoder.dropLine();
      return false;
    }
    this.#shares.add(cell, bytes, 1);
    return true;
  }
}

function endOfKey(source: Uint8Array, start: number, lineEnd: number): number {
  const last = Math.min(lineEnd, start + KEY_BYTES_MAX);
  let at = start;
  while (at < last && source[at] !== BLANK) at++;
  return at;
}
