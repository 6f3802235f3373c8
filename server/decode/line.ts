import { isUtf8 } from 'node:buffer';
import { assert } from '../../engine/base/assert.ts';
import { EVENT_BYTES_MAX } from '../../engine/base/limits.ts';
import { Kind } from '../../engine/column/kind.ts';
import type { PathTable } from '../../engine/column/path.ts';
import { PATH_CUSTOM, PATH_MESSAGE } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { AddedAttribute } from './added.ts';
import { addedAttributes } from './added.ts';
import { countedSum, type DecodeCounters, type TroubleWatch } from './counters.ts';
import type { Enrichment } from './enrichment.ts';
import { KeyTable } from './key.ts';
import { LeafReader } from './leaf.ts';
import type { NameLimit } from './name-limit.ts';
import { NEEDS_TREE, ObjectReader } from './object.ts';
import { PathNames } from './path-names.ts';
import { NameLearner } from './syslog/name-learner.ts';
import { SyslogReader } from './syslog/syslog.ts';
import { Learner } from './template/learner.ts';
import {
  OPEN_BRACE,
  plainEnd,
  QUOTE,
  repairedText,
  skipBlanks,
  stringEnd,
  unescapeString,
  wholeCharactersEnd,
} from './text.ts';
import { EventTree } from './tree.ts';
import { hideKey } from './write-key.ts';

const TRUNCATED = '_truncated';

/** Receives the news that an event is now the last row, and whether it has a date of its own; may change that row. */
export type RowExtension = (hasDate: boolean) => void;

/**
 * Reads one line of content, wherever it came from, as an event: JSON object, else syslog, else text; and the object
 * of a body.
 * Source: INTERFACE.md 4.4.
 */
export class LineReader {
  readonly leaves: LeafReader;
  readonly objects: ObjectReader;
  /** Learns of the events that are JSON objects. */
  readonly learner: Learner;
  /** Learns of those that are syslog lines. */
  readonly nameLearner: NameLearner;
  /** Set while events stay unfinished, until their owner is known. */
  findsWriteKey = false;
  /** Set when some of the source is not UTF-8, so that each event has to be checked. */
  isSuspect = false;
  /** Receives lines and elements for which something was counted. */
  watch: TroubleWatch | undefined;
  extension: RowExtension | undefined;
  /** The names that events may have; `undefined`: all. */
  nameLimit: NameLimit | undefined;
  readonly #rows: Rows;
  readonly #keys: KeyTable;
  readonly #tree: EventTree;
  readonly #syslog: SyslogReader;
  readonly #pathNames: PathNames;
  readonly #counters: DecodeCounters;
  readonly #truncatedPath: number;
  #enrichment: Enrichment | undefined;
  #added: AddedAttribute[] = [];
  #countedSum = 0;

  constructor(paths: PathTable, rows: Rows, counters: DecodeCounters) {
    this.#rows = rows;
    this.#counters = counters;
    this.#keys = new KeyTable(paths);
    this.leaves = new LeafReader(rows, this.#keys, counters);
    this.learner = new Learner(this.#keys, this.leaves);
    this.objects = new ObjectReader(paths, rows, this.#keys, this.leaves);
    this.#tree = new EventTree(rows, this.#keys, this.leaves, counters);
    this.#syslog = new SyslogReader(rows, this.#keys, this.leaves, this.objects, this.#tree);
    this.nameLearner = new NameLearner(this.#keys, this.leaves, this.#syslog);
    this.#pathNames = new PathNames(paths);
    const name = Buffer.from(TRUNCATED);
    this.#truncatedPath = this.#keys.child(PATH_CUSTOM, name, 0, name.length);
    assert(this.#truncatedPath >= 0, 'there is a path for the mark of a cut');
  }

  /** Turns to `[start, end)` of a source, whose rows have been reset. */
  begin(start: number, end: number, enrichment: Enrichment | undefined): void {
    const source = this.#rows.source;
    this.#enrichment = enrichment;
    this.goOn();
    this.leaves.turnTo(source, start, false);
    this.isSuspect = !isUtf8(source.subarray(start, end));
  }

  /** Goes on with the same source, whose rows have been reset. */
  goOn(): void {
    this.#added = addedAttributes(this.#enrichment, this.#keys, this.#rows);
  }

  /** Reports that nothing but the source and extensions say what is in events, and all of it is UTF-8. */
  get isPlain(): boolean {
    return !this.isSuspect && this.#added.length === 0;
  }

  /** Reports whether `[start, end)` of the source needs repair before it is read. */
  isBroken(start: number, end: number): boolean {
    return this.isSuspect && !isUtf8(this.#rows.source.subarray(start, end));
  }

  /** Turns the leaf reader to the source up to `end`. */
  turnToSource(end: number): void {
    this.leaves.turnTo(this.#rows.source, end, false);
  }

  /**
   * Puts `[start, end)` of the source, repaired, into the side buffer and turns the leaf reader to it.
   * Returns its offset there.
   */
  turnToRepaired(start: number, end: number): number {
    this.#counters.textsRepaired++;
    const text = repairedText(this.#rows.source, start, end);
    const at = ~this.#rows.addSide(text);
    this.leaves.turnTo(this.#rows.side, at + text.length, true);
    return at;
  }

  /** Reads the line `[start, end)` of the source; with `isCut` it is known to lack its end. */
  line(start: number, end: number, isCut: boolean, unquotes: boolean): void {
    const isLong = end - start > EVENT_BYTES_MAX;
    const cutAt = isLong ? start + EVENT_BYTES_MAX : end;
    const wholeEnd = isLong || isCut ? wholeCharactersEnd(this.#rows.source, start, cutAt) : end;
    let at = start;
    if (this.isBroken(start, wholeEnd)) at = this.turnToRepaired(start, wholeEnd);
    else this.turnToSource(wholeEnd);
    if (isLong || isCut) {
      this.#counters.linesCut++;
      this.#text(at, this.leaves.end - at, true);
    } else {
      this.content(at, unquotes);
    }
    this.tellTrouble(start, end);
  }

  /** Tells of the line or element `[start, end)` of the source when something was counted since the last time. */
  tellTrouble(start: number, end: number): void {
    const sum = countedSum(this.#counters);
    if (sum === this.#countedSum) return;
    this.#countedSum = sum;
    this.watch?.(this.#counters, this.#rows.source, start, end);
  }

  /** Reads what the leaf reader was turned to, from `start` on, as a line of content. A blank one is no event. */
  content(start: number, unquotes: boolean): void {
    const { bytes, end } = this.leaves;
    const first = skipBlanks(bytes, start, end);
    if (first === end) return;
    if (bytes[first] === OPEN_BRACE && this.#wholeObject(first)) return;
    if (unquotes && bytes[first] === QUOTE && this.#quoted(first)) return;
    if (this.#syslog.read(first, this.#added)) {
      this.#endRow();
      return;
    }
    this.#text(start, end - start, false);
  }

  /**
   * Extends the event that has ended last, which has a date of its own when `hasDate`, and holds it to the names that
   * it may have.
   */
  finishRow(hasDate = this.leaves.hasDate): void {
    this.extension?.(hasDate);
    const row = this.#rows.rowCount - 1;
    const limit = this.nameLimit;
    if (limit === undefined || limit.keptRows(this.#rows, row, 1) === 1) return;
    this.#tree.begin();
    this.#tree.placeRow(row, this.#pathNames, limit);
    this.#tree.write();
    this.#rows.replaceRow();
  }

  /**
   * Turns to the inside of the JSON string at `at`, its escapes undone, and returns where it begins; negative when
   * it is not JSON. `behind.at` gets the offset behind it.
   */
  turnToString(at: number, behind: { at: number }): number {
    const { bytes, end, inSide } = this.leaves;
    const stop = plainEnd(bytes, at + 1, end);
    const isPlain = stop < end && bytes[stop] === QUOTE;
    const closing = isPlain ? stop : stringEnd(bytes, stop, end);
    if (closing < 0) return -1;
    behind.at = closing + 1;
    if (isPlain) {
      this.leaves.turnTo(bytes, closing, inSide);
      return at + 1;
    }
    const rows = this.#rows;
    const to = rows.reserveSide(closing - at - 1);
    rows.sideBytes = unescapeString(bytes, at + 1, closing, rows.side, to);
    this.leaves.turnTo(rows.side, rows.sideBytes, true);
    return to;
  }

  /** Adds the event of the JSON object at `at`; returns the offset behind it, -1 when it is not JSON. */
  object(at: number): number {
    const behind = this.#object(at);
    if (behind >= 0) this.#endRow();
    return behind;
  }

  /** Adds a text event of the JSON value `[start, end)`, without blanks between its tokens. */
  jsonText(start: number, end: number): void {
    this.leaves.addJson(PATH_MESSAGE, Kind.STRING, start, end);
    const entry = --this.#rows.entryCount;
    this.#addText(this.#rows.start[entry], this.#rows.length[entry], false);
  }

  #wholeObject(at: number): boolean {
    const { bytes, end } = this.leaves;
    const sideBytes = this.#rows.sideBytes;
    const behind = this.#object(at);
    if (behind < 0) return false;
    if (skipBlanks(bytes, behind, end) < end) {
      this.#drop(sideBytes);
      return false;
    }
    this.#endRow();
    return true;
  }

  /** Adds the leaves of the object at `at` and of the enrichment to the row that is being written. */
  #object(at: number): number {
    const sideBytes = this.#rows.sideBytes;
    this.leaves.beginEvent();
    let behind = this.objects.read(at);
    if (behind === NEEDS_TREE || (behind >= 0 && !this.objects.enrich(this.#added))) {
      this.#drop(sideBytes);
      behind = this.#tree.read(at);
      if (behind >= 0) this.#writeTree();
    } else if (behind >= 0) {
      this.learner.note(this.#rows);
    }
    if (behind < 0) this.#drop(sideBytes);
    return behind;
  }

  #writeTree(): void {
    this.leaves.beginEvent();
    this.#tree.enrich(this.#added);
    this.#tree.write();
  }

  #quoted(at: number): boolean {
    const { bytes, end, inSide } = this.leaves;
    const sideBytes = this.#rows.sideBytes;
    const behind = { at: 0 };
    const start = this.turnToString(at, behind);
    if (start >= 0 && skipBlanks(bytes, behind.at, end) === end) {
      this.content(start, false);
      return true;
    }
    this.#rows.sideBytes = sideBytes;
    this.leaves.turnTo(bytes, end, inSide);
    return false;
  }

  #text(start: number, length: number, isCut: boolean): void {
    this.#addText(this.leaves.inSide ? ~start : start, length, isCut);
  }

  /** Adds a text event; `start` is that of a row entry. */
  #addText(start: number, length: number, isCut: boolean): void {
    const rows = this.#rows;
    this.leaves.beginEvent();
    this.objects.begin();
    this.objects.claim(PATH_MESSAGE);
    rows.add(PATH_MESSAGE, Kind.STRING, start, length, 0, 0);
    if (!this.objects.enrich(this.#added)) {
      rows.dropRow();
      this.#tree.readText(start, length);
      this.#writeTree();
    }
    if (isCut) rows.add(this.#truncatedPath, Kind.BOOLEAN, 0, 1, 0, 0);
    rows.endRow(rows.receivedMs);
    if (!this.findsWriteKey) this.finishRow();
  }

  #endRow(): void {
    this.objects.putInOrder();
    const key = this.leaves.writeKey;
    if (key !== undefined) hideKey(this.#rows, key);
    this.#rows.endRow(this.leaves.eventDate(this.#rows.receivedMs));
    if (!this.findsWriteKey) this.finishRow();
  }

  #drop(sideBytes: number): void {
    this.#rows.dropRow();
    this.#rows.sideBytes = sideBytes;
  }
}
