import { must } from '../../engine/base/assert.ts';
import { KIND_COLUMN_MIN, Kind } from '../../engine/column/kind.ts';
import type { PathTable } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { EventValues } from '../../engine/query/filter/event-test.ts';
import { clearCounters, type DecodeCounters, noDecodeCounters } from '../decode/counters.ts';
import { KeyTable } from '../decode/key.ts';
import { LeafReader } from '../decode/leaf.ts';
import type { Member } from '../decode/member.ts';
import { PathNames } from '../decode/path-names.ts';
import { EventTree } from '../decode/tree.ts';
import { hideKey, type WriteKeyTest } from '../decode/write-key.ts';
import type { Attributes, ExtractedValue } from './extraction.ts';
import { MemberWriter } from './member-writer.ts';
import { DECLINED, LEFT, type Outcome, PUT, RowEdit } from './row-edit.ts';
import { oneByteText, RowIndex } from './row-index.ts';

const CUSTOM = 'custom';
const SYSLOG = 'syslog';
const MESSAGE = 'message';
/** Number of the cursor when it goes to all values. */
const ALL = 0;

/** A change of an event, or a `write`. */
type Change =
  | { type: 'add'; attributes: Attributes; target: string | undefined }
  | { type: 'set'; path: string; value: ExtractedValue }
  | { type: 'copy'; from: string; to: string; keeps: boolean }
  | { type: 'remove'; path: string }
  | { type: 'message'; text: string }
  | { type: 'write' };

/**
 * An event between decoding and storing: the last row of rows, which has just ended. What is read is the row; changes
 * are in it after `write`, and its leaves are in order after `finish`. Changes are made in the row (RowEdit) as long as
 * that goes, else all of them in a tree, which is the plain form. Attributes are named by dotted paths as in
 * predicates: `message`, `custom.http.verb`, `syslog.appname`. Made for one path table, owned by one thread.
 * Source: INTERFACE.md 1.2, 2.3 and 8.
 */
export class Draft implements EventValues {
  kind: Kind = Kind.NULL;
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;

  readonly #rows: Rows;
  readonly #counters: DecodeCounters;
  /** Counts of the last `write`. */
  readonly #written = noDecodeCounters();
  readonly #leaves: LeafReader;
  readonly #tree: EventTree;
  readonly #edit: RowEdit;
  readonly #names: PathNames;
  readonly #index: RowIndex;
  readonly #members: MemberWriter;
  /** Set when changes are made in the row, and those that were made. */
  #isInRow = true;
  readonly #changes: Change[] = [];
  readonly #isPlain: boolean;
  #row = 0;
  #sideBytes = 0;
  /** Set when the tree has the event, and more than the row has. */
  #isOpen = false;
  #isChanged = false;
  #wasWritten = false;
  #hasTime = false;
  /** The cursor: the next entry, the end of those that may be meant, and the number of their dotted path, or ALL. */
  #entry = 0;
  #end = 0;
  #wanted = ALL;
  /** The text that was asked for last, and the path that it is at; `undefined` for none. */
  #text: string | undefined;
  #textPath: string | undefined;
  readonly #sourceTexts = new Texts();
  readonly #sideTexts = new Texts();

  /**
   * `counters` count what the limits did to events that were changed; no event gets what `isWriteKey` recognises as its
   * `logmaticKey`. One that `isPlain` makes all changes in the tree.
   */
  constructor(
    paths: PathTable,
    rows: Rows,
    counters: DecodeCounters,
    isWriteKey: WriteKeyTest = () => false,
    isPlain = false,
  ) {
    this.#rows = rows;
    this.#isPlain = isPlain;
    this.#counters = counters;
    const keys = new KeyTable(paths);
    this.#leaves = new LeafReader(rows, keys, this.#written);
    this.#leaves.isWriteKey = isWriteKey;
    this.#tree = new EventTree(rows, keys, this.#leaves, this.#written);
    this.#edit = new RowEdit(paths, rows, keys, this.#leaves);
    this.#names = new PathNames(paths);
    this.#index = new RowIndex(rows, this.#names);
    this.#members = new MemberWriter(rows);
  }

  /** Turns to the last row. */
  begin(): void {
    this.#row = this.#rows.rowCount - 1;
    this.#index.turnTo(this.#row);
    this.#sideBytes = this.#rows.sideBytes;
    this.#isInRow = !this.#isPlain;
    this.#changes.length = 0;
    this.#isOpen = false;
    this.#isChanged = false;
    this.#wasWritten = false;
    this.#hasTime = false;
    this.#textPath = undefined;
  }

  /** Bytes that changes of this event have taken. */
  get addedBytes(): number {
    return this.#rows.sideBytes - this.#sideBytes;
  }

  open(path: string): void {
    const index = this.#index;
    this.#wanted = index.number(path);
    const first = index.first(this.#wanted);
    this.#entry = Math.max(first, 0);
    const isMixed = first >= 0 && index.isMixed;
    this.#end = isMixed ? this.#rows.rowEntry[this.#row + 1] : first + 1;
  }

  openAll(): void {
    this.#wanted = ALL;
    this.#entry = this.#rows.rowEntry[this.#row];
    this.#end = this.#rows.rowEntry[this.#row + 1];
  }

  next(): boolean {
    const rows = this.#rows;
    while (this.#entry < this.#end) {
      const entry = this.#entry++;
      if (rows.kind[entry] < KIND_COLUMN_MIN) continue;
      const isWanted =
        this.#wanted === ALL || this.#index.numberOf(rows.path[entry]) === this.#wanted;
      if (!isWanted) continue;
      const start = rows.start[entry];
      this.kind = rows.kind[entry] as Kind;
      this.bytes = start < 0 ? rows.side : rows.source;
      this.start = start < 0 ? ~start : start;
      this.end = this.start + rows.length[entry];
      return true;
    }
    return false;
  }

  has(path: string): boolean {
    return this.#index.first(this.#index.number(path)) >= 0 || this.#index.hasIn(path);
  }

  /** Gives values at `path` a mark: some bits of 32. */
  mark(path: string, bits: number): void {
    this.#index.mark(path, bits);
  }

  /** Marks of the values that there are. */
  get marked(): number {
    return this.#index.marked;
  }

  /**
   * The text of the string, number or boolean at `path`; `undefined` when there is none. One extension after the other
   * asks for that of the message.
   */
  text(path: string): string | undefined {
    if (path !== this.#textPath) {
      this.#text = this.#textAt(path);
      this.#textPath = path;
    }
    return this.#text;
  }

  #textAt(path: string): string | undefined {
    this.open(path);
    while (this.next()) {
      if (this.kind === Kind.BOOLEAN) return String(this.end > this.start);
      if (this.kind === Kind.ARRAY) continue;
      const texts = this.bytes === this.#rows.side ? this.#sideTexts : this.#sourceTexts;
      return texts.of(this.bytes, this.start, this.end);
    }
    return undefined;
  }

  /**
   * Adds attributes under the path `target`, `undefined` for the top of the event. Attributes of the event win over
   * them; where one of two is an object and the other is not, both stay. Returns the names, or the target, of which
   * something was left out.
   */
  add(attributes: Attributes, target: string | undefined): readonly string[] {
    if (attributes.size === 0) return [];
    this.#change({ type: 'add', attributes, target });
    return this.#add(attributes, target) ?? this.#anew(() => this.#add(attributes, target));
  }

  /** Gives the attribute at `path` a value, whatever it was; `message` has to be a string. */
  set(path: string, value: ExtractedValue): void {
    if (path === MESSAGE && typeof value === 'string') {
      this.setMessage(value);
      return;
    }
    this.#change({ type: 'set', path, value });
    const set = (): Outcome => this.#put(path, this.#member(nameOf(path), value), false);
    if (set() === DECLINED) this.#anew(set);
  }

  /**
   * Gives the attribute `to` the value that the first string, number, boolean or array at `from` has, whatever `to`
   * was; unless `keeps`, `from` goes. False when there is no such value.
   */
  copy(from: string, to: string, keeps: boolean): boolean {
    if (from === to) return false;
    this.open(from);
    if (!this.next()) return false;
    this.#change({ type: 'copy', from, to, keeps });
    if (this.#copy(from, to, keeps) === DECLINED) this.#anew(() => this.#copy(from, to, keeps));
    return true;
  }

  /** Takes out the attribute at `path`, if there is one; an object with something in it stays. */
  remove(path: string): void {
    this.#change({ type: 'remove', path });
    if (this.#remove(path) === DECLINED) this.#anew(() => this.#remove(path));
  }

  /** Gives the event a message, in the place of the one that it has. */
  setMessage(text: string): void {
    this.#change({ type: 'message', text });
    const set = (): Outcome => {
      const { start, length } = this.#members.plain(text);
      return this.#placeMessage(start, length);
    };
    if (set() === DECLINED) this.#anew(set);
  }

  /** Gives the event a date; the first one stays. */
  setTime(ms: number): void {
    if (this.#hasTime) return;
    this.#hasTime = true;
    this.#rows.timeMs[this.#row] = ms;
  }

  /** Makes the changes since the last time those of the row. When it throws the row is what it was. */
  write(): void {
    if (!this.#isChanged) return;
    if (this.#isInRow) {
      this.#changes.push({ type: 'write' });
      this.#edit.show();
    } else {
      this.#writeTree();
    }
    this.#index.turnTo(this.#row);
    this.#textPath = undefined;
    this.#isChanged = false;
    this.#wasWritten = true;
  }

  /** Forgets the changes since the last `write`. */
  revert(): void {
    if (!this.#isChanged) return;
    if (this.#isInRow) {
      this.#changes.length = this.#changes.findLastIndex(({ type }) => type === 'write') + 1;
      this.#replay();
    }
    this.#rows.dropRow();
    this.#isOpen = false;
    this.#isChanged = false;
  }

  /**
   * Ends the event. One that had no date of its own, `hasDate`, gets that of the first date attribute that was added
   * and can be read.
   */
  finish(hasDate: boolean): void {
    if (!this.#wasWritten) return;
    const rows = this.#rows;
    if (this.#isInRow) this.#edit.finish();
    if (!hasDate && !this.#hasTime) {
      rows.timeMs[this.#row] = this.#leaves.eventDate(rows.timeMs[this.#row]);
    }
    const { subtreesTooDeep, eventsTooWide, namesRefused, datesUnread } = this.#written;
    this.#counters.subtreesTooDeep += subtreesTooDeep;
    this.#counters.eventsTooWide += eventsTooWide;
    this.#counters.namesRefused += namesRefused;
    this.#counters.datesUnread += datesUnread;
  }

  /** Begins a change: of the row, or of the tree, which gets the event unless it has it. */
  #change(change: Change): void {
    this.#isChanged = true;
    if (this.#isInRow) {
      if (this.#changes.length === 0) this.#beginEdit();
      this.#changes.push(change);
    } else if (!this.#isOpen) {
      this.#isOpen = true;
      this.#tree.begin();
      this.#tree.placeRow(this.#row, this.#names);
    }
  }

  #beginEdit(): void {
    clearCounters(this.#written);
    this.#leaves.beginEvent();
    this.#edit.begin();
  }

  /** Does the last change, which the row has declined, in the tree, after all those before it. */
  #anew<T>(change: () => T | undefined): T {
    const last = must(this.#changes.pop(), 'a change was declined');
    this.#replay();
    this.#change(last);
    return must(change(), 'the tree takes all changes');
  }

  /** Takes all changes of the row back and makes them in the tree. */
  #replay(): void {
    const rows = this.#rows;
    this.#edit.undo();
    rows.sideBytes = this.#sideBytes;
    this.#isInRow = false;
    this.#isOpen = false;
    this.#isChanged = false;
    this.#wasWritten = false;
    this.#textPath = undefined;
    this.#index.turnTo(this.#row);
    for (const change of this.#changes) {
      if (change.type === 'add') this.add(change.attributes, change.target);
      else if (change.type === 'set') this.set(change.path, change.value);
      else if (change.type === 'copy') this.copy(change.from, change.to, change.keeps);
      else if (change.type === 'remove') this.remove(change.path);
      else if (change.type === 'message') this.setMessage(change.text);
      else this.write();
    }
  }

  #writeTree(): void {
    const rows = this.#rows;
    const sideBytes = rows.sideBytes;
    clearCounters(this.#written);
    this.#leaves.turnTo(rows.side, sideBytes, true);
    this.#leaves.beginEvent();
    this.#tree.write();
    const key = this.#leaves.writeKey;
    if (key !== undefined) hideKey(rows, key);
    rows.replaceRow();
  }

  /** Adds as `add` does; `undefined` when the row declines. */
  #add(attributes: Attributes, target: string | undefined): readonly string[] | undefined {
    if (target !== undefined && target !== CUSTOM) {
      const outcome = this.#put(target, this.#member(nameOf(target), attributes), true);
      if (outcome === DECLINED) return undefined;
      return outcome === PUT ? [] : [target];
    }
    const left: string[] = [];
    for (const [name, value] of attributes) {
      const outcome = this.#put(CUSTOM, this.#member(name, value), true);
      if (outcome === DECLINED) return undefined;
      if (outcome !== PUT) left.push(name);
    }
    return left;
  }

  /** Copies the cursor's value. */
  #copy(from: string, to: string, keeps: boolean): Outcome {
    if (!this.#isInRow) {
      this.open(from);
      this.next();
    }
    if (!keeps && this.#remove(from) === DECLINED) return DECLINED;
    const isText = this.kind === Kind.STRING || this.kind === Kind.DATE;
    if (to !== MESSAGE || !isText) return this.#put(to, this.#copied(nameOf(to)), false);
    return this.#placeMessage(this.#startOfValue(), this.end - this.start);
  }

  #remove(path: string): Outcome {
    if (!this.#isInRow) {
      if (path === MESSAGE) this.#tree.removeMessage();
      else this.#tree.remove(isSyslog(path), oneByteText(nameOf(path)));
      return PUT;
    }
    const { path: paths, rowEntry, entryCount } = this.#rows;
    const wanted = this.#index.number(path);
    for (let entry = rowEntry[this.#row]; entry < entryCount; entry++) {
      const isWanted = this.#index.numberOf(paths[entry]) === wanted;
      if (isWanted && this.#edit.remove(entry) === DECLINED) return DECLINED;
    }
    return PUT;
  }

  #placeMessage(start: number, length: number): Outcome {
    if (this.#isInRow) return this.#edit.placeMessage(start, length);
    this.#tree.placeMessage(start, length);
    return PUT;
  }

  #member(name: string, value: ExtractedValue): Member {
    return this.#isInRow ? this.#members.leaves(name, value) : this.#members.member(name, value);
  }

  #put(path: string, member: Member, keeps: boolean): Outcome {
    if (this.#isInRow) return this.#edit.put(isSyslog(path), member, keeps);
    return this.#tree.put(isSyslog(path), member, keeps) ? PUT : LEFT;
  }

  /** The cursor's value as the member `name`. */
  #copied(name: string): Member {
    const { kind, start, end } = this;
    if (kind === Kind.BOOLEAN) return this.#members.member(name, end > start);
    const member = { name: oneByteText(name), isObject: false, members: undefined };
    if (kind === Kind.ARRAY) {
      const at = ~this.#rows.addSide(this.bytes.subarray(start, end));
      return { ...member, start: at, end: at + end - start };
    }
    const mayBeNumber = kind === Kind.NUMBER;
    const plain = { start: this.#startOfValue(), length: end - start, mayBeNumber };
    return { ...member, start: 0, end: 0, plain };
  }

  /** `start` of the cursor's value as a row entry has it. */
  #startOfValue(): number {
    return this.bytes === this.#rows.source ? this.start : ~this.start;
  }
}

function isSyslog(path: string): boolean {
  return path.startsWith(`${SYSLOG}.`);
}

/** The names of a path below `custom` or `syslog`, joined by dots. */
function nameOf(path: string): string {
  const isRooted = isSyslog(path) || path.startsWith(`${CUSTOM}.`);
  return isRooted ? path.slice(path.indexOf('.') + 1) : path;
}

/** Decodes texts of one array of bytes after the other: a view of the array serves many texts. */
class Texts {
  #bytes: Uint8Array | undefined;
  #view: Buffer = Buffer.alloc(0);

  of(bytes: Uint8Array, start: number, end: number): string {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    return this.#view.toString('utf8', start, end);
  }
}
