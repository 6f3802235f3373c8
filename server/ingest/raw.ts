import { BLANK, CARRIAGE_RETURN, LESS, LINE_FEED, OPEN_BRACE } from '../../engine/base/ascii.ts';
import { EVENT_BYTES_MIN } from '../../engine/base/limits.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { Decoder } from '../decode/decoder.ts';
import { PatternBudget } from '../extend/pattern-budget.ts';
import { type KeyLookup, NO_CELL } from '../registry/key-table.ts';
import { dayOf, type UsageCells } from '../registry/usage.ts';
import type { NameBudget } from './name-budget.ts';
import type { LinesTask } from './protocol.ts';
import { Reservation } from './reservation.ts';
import { LINE_DROPPED, TroubleNotes } from './trouble.ts';

/** Length at which the search for the blank behind a key ends; no key is as long. */
const KEY_BYTES_MAX = 64;

/** Lines that are decoded in one go. */
const PIECE_LINES_MAX = 4_096;

/** Place where reading the lines of a task goes on. */
export interface LinesPlace {
  /** Offset from the task's start. */
  at: number;
  /** The next span, or the one that is being read. */
  span: number;
  /** Cell of the key of lines in that span that bring none. */
  cell: number;
}

/** Result of decoding a piece of a task's lines. */
export interface RawLines {
  reservation: Reservation;
  /** Lines without a valid key, or whose key is off or spent. */
  droppedCount: number;
  /** Start of the next piece; `undefined` when this was the last. */
  rest: LinesPlace | undefined;
}

/** Parts of its worker that a decoder of raw lines shares. */
export interface RawOptions {
  keys: KeyLookup;
  cells: UsageCells;
  /** Memory of the slots that the front fills. */
  memory: Uint8Array;
  troubles?: TroubleNotes;
  names?: NameBudget;
  budget?: PatternBudget;
}

/**
 * Decodes lines of raw channels. Each brings its write key, `<key> <content>` or a JSON object with the attribute
 * `logmaticKey`, or belongs to the key that its listener is bound to, or to the first one of its datagram. A line means
 * the same as on every other channel. Owned by one ingest thread. Source: INTERFACE.md 4.4.
 */
export class RawDecoder {
  readonly #decoder: Decoder;
  readonly #rows: Rows;
  readonly #keys: KeyLookup;
  readonly #cells: UsageCells;
  readonly #memory: Uint8Array;
  /** The source as a Buffer, whose search for a byte is three times as fast as that of shared typed arrays. */
  #search: Buffer = Buffer.alloc(0);
  readonly #troubles: TroubleNotes;
  readonly #names: NameBudget | undefined;
  readonly #budget: PatternBudget;
  #leftCount = 0;
  #reservation = new Reservation(0);
  #droppedCount = 0;
  /** The last line that was dropped. */
  #droppedStart = 0;
  #droppedEnd = 0;
  #day = 0;
  /** Start of the content of the last line. */
  #contentStart = 0;
  /** Lines before it are for the reference alone, as they could pass a quota. */
  #unknownUntil = 0;

  constructor(decoder: Decoder, rows: Rows, options: RawOptions) {
    const { keys, cells, memory, troubles, names, budget } = options;
    this.#decoder = decoder;
    this.#rows = rows;
    this.#keys = keys;
    this.#cells = cells;
    this.#memory = memory;
    this.#troubles = troubles ?? new TroubleNotes();
    this.#names = names;
    this.#budget = budget ?? new PatternBudget();
  }

  /** Reservations of the lines decoded last, even when decoding broke off. */
  get reservation(): Reservation {
    return this.#reservation;
  }

  /** Decodes the task's lines from a place on into the rows: all of them, or a piece. */
  decode(task: LinesTask, from: LinesPlace = beginning(task)): RawLines {
    const { own = this.#memory, start, bytes } = task;
    const source = own.subarray(start, start + bytes);
    this.#search = Buffer.from(source.buffer, source.byteOffset, bytes);
    this.#day = dayOf(task.receivedMs);
    this.#reservation = new Reservation(this.#day);
    this.#droppedCount = 0;
    this.#leftCount = PIECE_LINES_MAX;
    this.#decoder.unquotes = true;
    this.#decoder.begin(source, task.receivedMs, undefined, from.at);
    this.#unknownUntil = 0;
    const place = { ...from };
    while (place.at < task.bytes && !this.#isPieceOver()) this.#goOn(source, task, place);
    if (this.#droppedCount > 0) {
      const { receivedMs } = task;
      const line = source.subarray(this.#droppedStart, this.#droppedEnd);
      this.#troubles.note(LINE_DROPPED, line, receivedMs);
    }
    const rest = place.at < task.bytes ? place : undefined;
    return { reservation: this.#reservation, droppedCount: this.#droppedCount, rest };
  }

  #isPieceOver(): boolean {
    return this.#leftCount <= 0 || this.#budget.isPieceSpent;
  }

  /** Decodes from `place` on, up to the next span, to its end or to that of the piece; `place` is then behind. */
  #goOn(source: Uint8Array, task: LinesTask, place: LinesPlace): void {
    const span = task.spans.at(place.span);
    if (span === undefined || place.at < span.start) {
      const owner = { cell: task.cell };
      const end = span?.start ?? task.bytes;
      place.at = this.#lines(source, place.at, end, owner, false);
      return;
    }
    const { form, start, end } = span;
    if (form !== 'datagram') {
      this.#leftCount--;
      this.#line(source, start, end, task.cell, form === 'cut');
      place.at = end + 1;
    } else {
      place.at = this.#lines(source, place.at, end + 1, place, true);
    }
    if (place.at <= end) return;
    place.span++;
    place.cell = task.cell;
  }

  /**
   * Decodes the lines in `[start, end)`, each with its line feed, up to the end of the piece; returns how far it came.
   * The key of `owner` is that of lines that bring none; when it `inherits`, it is the first key that a line brought.
   */
  #lines(
    source: Uint8Array,
    start: number,
    end: number,
    owner: { cell: number },
    inherits: boolean,
  ): number {
    let at = start;
    while (at < end && !this.#isPieceOver()) {
      at = this.#knownLines(source, at, end, owner, inherits);
      if (at >= end || this.#isPieceOver()) break;
      const lineFeed = this.#search.indexOf(LINE_FEED, at);
      const lineEnd =
        lineFeed > at && source[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed;
      this.#leftCount--;
      if (lineEnd > at) {
        const { known } = this.#decoder;
        known.beginLine();
        const cell = this.#line(source, at, lineEnd, owner.cell);
        known.endLine(this.#contentStart, lineFeed + 1);
        if (inherits && owner.cell === NO_CELL) owner.cell = cell;
      }
      at = lineFeed + 1;
    }
    return at;
  }

  /**
   * Decodes the lines of `[start, end)` from the first on that have known templates and the key of the first; returns
   * the offset of the line after them.
   */
  #knownLines(
    source: Uint8Array,
    start: number,
    end: number,
    owner: { cell: number },
    inherits: boolean,
  ): number {
    if (start < this.#unknownUntil) return start;
    const { known } = this.#decoder;
    const hasKey = source[start] !== OPEN_BRACE && source[start] !== LESS;
    const keyEnd = hasKey ? endOfKey(source, start, end) : start;
    const prefixBytes = hasKey ? keyEnd + 1 - start : 0;
    const templates = known.usable(source[start + prefixBytes]);
    if (templates === undefined) return start;
    const cell = hasKey ? this.#keys.find(source, start, keyEnd) : owner.cell;
    if (cell === NO_CELL || !templates.setPrefix(source, start, start + prefixBytes)) return start;
    const count = templates.read(this.#rows, start, end, prefixBytes, this.#leftCount);
    if (count === 0) return start;
    const bytes = templates.usedFrom(0, EVENT_BYTES_MIN);
    if (!this.#cells.reserveWithin(cell, bytes, this.#day)) {
      this.#unknownUntil = templates.offset(count);
      return start;
    }
    this.#names?.begin(cell, this.#day);
    const taken = known.take(templates, () => this.#budget.isPieceSpent);
    const lacking = templates.usedFrom(taken, EVENT_BYTES_MIN);
    if (lacking > 0) this.#cells.release(cell, lacking, this.#day);
    this.#reservation.add(cell, bytes - lacking, taken);
    this.#leftCount -= taken;
    if (inherits && owner.cell === NO_CELL) owner.cell = cell;
    return templates.offset(taken);
  }

  /** Decodes one line, or drops and counts it; the cell of the key that it belongs to, or NO_CELL. */
  #line(source: Uint8Array, start: number, end: number, owner: number, isCut = false): number {
    this.#contentStart = start;
    if (source[start] === OPEN_BRACE && !isCut) return this.#keyedObject(start, end, owner);
    const keyEnd = endOfKey(source, start, end);
    const found = this.#keys.find(source, start, keyEnd);
    const contentStart = found === NO_CELL ? start : Math.min(keyEnd + 1, end);
    this.#contentStart = contentStart;
    const cell = found === NO_CELL ? owner : found;
    const bytes = Math.max(end - contentStart, EVENT_BYTES_MIN);
    if (cell === NO_CELL || this.#cells.reserve(cell, bytes, this.#day) !== 'ok') {
      this.#drop(start, end);
      return cell;
    }
    const before = this.#rows.rowCount;
    this.#names?.begin(cell, this.#day);
    this.#decoder.line(contentStart, end, isCut);
    if (this.#rows.rowCount > before) this.#reservation.add(cell, bytes, 1);
    else this.#cells.release(cell, bytes, this.#day);
    return cell;
  }

  /** Decodes a JSON object, which may bring its key as an attribute; without a good key there is no event. */
  #keyedObject(start: number, end: number, owner: number): number {
    const decoder = this.#decoder;
    decoder.findsWriteKey = true;
    decoder.line(start, end);
    decoder.findsWriteKey = false;
    const key = decoder.writeKey();
    const found = key === undefined ? NO_CELL : this.#keys.find(key, 0, key.length);
    const cell = found === NO_CELL ? owner : found;
    const bytes = Math.max(end - start, EVENT_BYTES_MIN);
    if (cell === NO_CELL || this.#cells.reserve(cell, bytes, this.#day) !== 'ok') {
      decoder.dropLine();
      this.#drop(start, end);
      return cell;
    }
    this.#names?.begin(cell, this.#day);
    decoder.finishLine(start, end);
    this.#reservation.add(cell, bytes, 1);
    return cell;
  }

  #drop(start: number, end: number): void {
    this.#droppedCount++;
    this.#droppedStart = start;
    this.#droppedEnd = end;
  }
}

function beginning(task: LinesTask): LinesPlace {
  return { at: 0, span: 0, cell: task.cell };
}

function endOfKey(source: Uint8Array, start: number, lineEnd: number): number {
  const last = Math.min(lineEnd, start + KEY_BYTES_MAX);
  let at = start;
  while (at < last && source[at] !== BLANK) at++;
  return at;
}
