import { assert, must } from '../../engine/base/assert.ts';
import { Kind } from '../../engine/column/kind.ts';
import { PATH_CUSTOM, type PathTable } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import { clearCounters, type DecodeCounters, noDecodeCounters } from '../decode/counters.ts';
import { KeyTable } from '../decode/key.ts';
import { LeafReader } from '../decode/leaf.ts';
import type { Member } from '../decode/member.ts';
import { PathNames } from '../decode/path-names.ts';
import { EventTree } from '../decode/tree.ts';
import { hideKey, type WriteKeyTest } from '../decode/write-key.ts';
import type { Attributes, ExtractedValue } from './extraction.ts';
import { Findings } from './found/findings.ts';
import { NamePaths } from './found/name-paths.ts';
import { MemberWriter } from './member-writer.ts';
import { DECLINED, LEFT, type Outcome, PUT, RowEdit } from './row-edit.ts';
import { oneByteText } from './row-index.ts';
import { RowValues } from './row-values.ts';

const CUSTOM = 'custom';
const SYSLOG = 'syslog';
const MESSAGE = 'message';

/** A change of an event, or a `write`. */
type Change =
  | { type: 'add'; attributes: Attributes; target: string | undefined }
  | { type: 'set'; path: string; value: ExtractedValue }
  | { type: 'copy'; from: string; to: string; keeps: boolean }
  | { type: 'remove'; path: string }
  | { type: 'message'; text: string }
  | Found
  | { type: 'write' };

/** Change by what a finder found; `again` finds it by the extractor and makes the changes of that. */
export interface Found {
  type: 'found';
  again: () => void;
}

const WRITE: Change = { type: 'write' };

/**
 * An event between decoding and storing: the last row of rows, which has just ended. What is read is the row; changes
 * are in it after `write`, and its leaves are in order after `finish`. Changes are made in the row (RowEdit) as long as
 * that goes, else all of them in a tree, which is the plain form. Attributes are named by dotted paths as in
 * predicates: `message`, `custom.http.verb`, `syslog.appname`. Made for one path table, owned by one thread.
 * Source: INTERFACE.md 1.2, 2.3 and 8.
 */
export class Draft {
  /** Values of the event, as of the last `write`. */
  readonly values: RowValues;
  readonly #rows: Rows;
  readonly #counters: DecodeCounters;
  /** Counts of the last `write`. */
  readonly #written = noDecodeCounters();
  /** Reads the leaves that are added. */
  readonly leaves: LeafReader;
  readonly #tree: EventTree;
  readonly #edit: RowEdit;
  readonly #names: PathNames;
  readonly #namePaths: NamePaths;
  readonly #members: MemberWriter;
  /** Paths of targets. */
  readonly #paths = new Map<string, number>();
  /** Set when changes are made in the row, and those that were made. */
  #isInRow = true;
  readonly #changes: Change[] = [];
  #changeCount = 0;
  readonly #isPlain: boolean;
  #row = 0;
  #sideBytes = 0;
  /** Set when the tree has the event, and more than the row has. */
  #isOpen = false;
  /** Set when an entry was taken out that the values have. */
  #isMoved = false;
  #isChanged = false;
  #wasWritten = false;
  #hasTime = false;
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
    this.#namePaths = new NamePaths(keys);
    this.leaves = new LeafReader(rows, keys, this.#written);
    this.leaves.isWriteKey = isWriteKey;
    this.#tree = new EventTree(rows, keys, this.leaves, this.#written);
    this.#edit = new RowEdit(paths, rows, keys, this.leaves);
    this.#names = new PathNames(paths);
    this.values = new RowValues(rows, this.#names);
    this.#members = new MemberWriter(rows);
  }

  /** Turns to the last row. */
  begin(): void {
    this.#row = this.#rows.rowCount - 1;
    this.values.begin(this.#row);
    this.#sideBytes = this.#rows.sideBytes;
    this.#isInRow = !this.#isPlain;
    this.#changeCount = 0;
    this.#isOpen = false;
    this.#isMoved = false;
    this.#isChanged = false;
    this.#wasWritten = false;
    this.#hasTime = false;
  }

  /** Bytes that changes of this event have taken. */
  get addedBytes(): number {
    return this.#rows.sideBytes - this.#sideBytes;
  }

  /** Gives values at `path` a mark: some bits of 32. */
  mark(path: string, bits: number): void {
    this.values.index.mark(path, bits);
  }

  /** Marks of the values that there are. */
  get marked(): number {
    return this.values.index.marked;
  }

  /** Reports whether there is a value at `path` or in an object there. */
  has(path: string): boolean {
    return this.values.has(path);
  }

  /** The text of the string, number or boolean at `path`; `undefined` when there is none. */
  text(path: string): string | undefined {
    const { values } = this;
    return values.turnToText([path]) ? values.text : undefined;
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

  /** Is set while what finders found can be added. */
  get takesFindings(): boolean {
    return this.#isInRow;
  }

  /**
   * Makes room for what is found for the path `target`, `undefined` for the top of the event; `undefined` when that is
   * too deep.
   */
  findings(target: string | undefined, takesMessage: boolean): Findings | undefined {
    const isTop = target === undefined || target === CUSTOM;
    const container = isTop ? PATH_CUSTOM : this.#pathOf(target);
    if (container < 0) return undefined;
    return new Findings(this.#rows, this.#namePaths, container, takesMessage && isTop);
  }

  /**
   * Adds what was found, as `add` and `setMessage` do; false when the row declines: then the event is as it was, and
   * `takesFindings` no more.
   */
  addFound(found: Findings, change: Found): boolean {
    this.#change(change);
    const outcome = this.#edit.putFound(found);
    const { messageStart, messageLength, takesMessage } = found;
    const hasMessage = messageLength >= 0 && (takesMessage || outcome === PUT);
    const isPut =
      outcome !== DECLINED &&
      (!hasMessage || this.#edit.placeMessage(messageStart, messageLength) === PUT);
    if (!isPut) {
      this.#changeCount--;
      this.#replay();
    }
    return isPut;
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

  /** Gives the attribute at `path` a digit, whatever it was. */
  setDigit(path: string, digit: number): void {
    if (!this.#isInRow || path === MESSAGE) {
      this.set(path, digit);
      return;
    }
    this.#change({ type: 'set', path, value: digit });
    if (this.#edit.putDigit(this.#pathOf(path), digit) === DECLINED)
      this.#anew(() => this.#put(path, this.#member(nameOf(path), digit), false));
  }

  /** The path of a dotted path below `custom` or `syslog`; -1 when it is for the tree. */
  #pathOf(dotted: string): number {
    let path = this.#paths.get(dotted);
    if (path === undefined) {
      path = this.#edit.pathOf(isSyslog(dotted), oneByteText(nameOf(dotted)));
      if (path >= 0) this.#paths.set(dotted, path);
    }
    return path;
  }

  /**
   * Gives the attribute `to` the value that the first string, number, boolean or array at `from` has, whatever `to`
   * was; unless `keeps`, `from` goes. False when there is no such value.
   */
  copy(from: string, to: string, keeps: boolean): boolean {
    if (from === to) return false;
    this.values.open(from);
    if (!this.values.next()) return false;
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

  /** Is set when the event was given a date. */
  get hasTime(): boolean {
    return this.#hasTime;
  }

  /** Gives the event a date; the first one stays. */
  setTime(ms: number): void {
    if (this.#hasTime) return;
    this.#hasTime = true;
    this.#rows.timeMs[this.#row] = ms;
  }

  /** Is set when changes were written. */
  get wasWritten(): boolean {
    return this.#wasWritten;
  }

  /** Is set when there are changes since the last `write`. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** Makes the changes since the last time those of the row. When it throws the row is what it was. */
  write(): void {
    if (!this.#isChanged) return;
    if (this.#isInRow) {
      this.#changes[this.#changeCount++] = WRITE;
      const isMoved = this.#edit.show() || this.#isMoved;
      this.#isMoved = false;
      if (isMoved) this.values.turn();
      else this.values.grow();
    } else {
      this.#writeTree();
      this.values.turn();
    }
    this.#isChanged = false;
    this.#wasWritten = true;
  }

  /** Forgets the changes since the last `write`. */
  revert(): void {
    if (!this.#isChanged) return;
    if (this.#isInRow) {
      while (this.#changeCount > 0 && this.#changes[this.#changeCount - 1] !== WRITE)
        this.#changeCount--;
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
    if (this.#isInRow) this.#edit.finish();
    this.settle(hasDate);
  }

  /** Gives the event the date of its leaves when it has no other, and counts what the limits did. */
  settle(hasDate: boolean): void {
    const { timeMs } = this.#rows;
    if (!hasDate && !this.#hasTime) timeMs[this.#row] = this.leaves.eventDate(timeMs[this.#row]);
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
      if (this.#changeCount === 0) this.#beginEdit();
      this.#changes[this.#changeCount++] = change;
    } else if (!this.#isOpen) {
      this.#isOpen = true;
      this.#tree.begin();
      this.#tree.placeRow(this.#row, this.#names);
    }
  }

  #beginEdit(): void {
    this.beginLeaves();
    this.#edit.begin();
  }

  /** Begins the leaves that are added to the event. */
  beginLeaves(): void {
    clearCounters(this.#written);
    this.leaves.beginEvent();
  }

  /** Does the last change, which the row has declined, in the tree, after all those before it. */
  #anew<T>(change: () => T | undefined): T {
    assert(this.#changeCount > 0, 'a change was declined');
    const last = this.#changes[--this.#changeCount];
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
    this.values.begin(this.#row);
    for (let at = 0; at < this.#changeCount; at++) {
      const change = this.#changes[at];
      if (change.type === 'add') this.add(change.attributes, change.target);
      else if (change.type === 'set') this.set(change.path, change.value);
      else if (change.type === 'copy') this.copy(change.from, change.to, change.keeps);
      else if (change.type === 'remove') this.remove(change.path);
      else if (change.type === 'message') this.setMessage(change.text);
      else if (change.type === 'found') change.again();
      else this.write();
    }
  }

  #writeTree(): void {
    const rows = this.#rows;
    const sideBytes = rows.sideBytes;
    clearCounters(this.#written);
    this.leaves.turnTo(rows.side, sideBytes, true);
    this.leaves.beginEvent();
    this.#tree.write();
    const key = this.leaves.writeKey;
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

  /** Copies the value that was turned to. */
  #copy(from: string, to: string, keeps: boolean): Outcome {
    const { values } = this;
    if (!this.#isInRow) {
      values.open(from);
      values.next();
    }
    if (!keeps && this.#remove(from) === DECLINED) return DECLINED;
    const isText = values.kind === Kind.STRING || values.kind === Kind.DATE;
    if (to !== MESSAGE || !isText) return this.#put(to, this.#copied(nameOf(to)), false);
    return this.#placeMessage(this.#startOfValue(), values.end - values.start);
  }

  #remove(path: string): Outcome {
    if (!this.#isInRow) {
      if (path === MESSAGE) this.#tree.removeMessage();
      else this.#tree.remove(isSyslog(path), oneByteText(nameOf(path)));
      return PUT;
    }
    const { index } = this.values;
    const wanted = index.number(path);
    const only = index.only(wanted);
    if (only >= 0 && this.#edit.entriesShown) {
      if (this.#edit.remove(only) === DECLINED) return DECLINED;
      this.#isMoved ||= !index.forget(wanted, only);
      return PUT;
    }
    this.#isMoved = true;
    const { path: paths, rowEntry, entryCount } = this.#rows;
    for (let entry = rowEntry[this.#row]; entry < entryCount; entry++) {
      if (index.isOther(paths[entry], wanted)) continue;
      if (this.#edit.remove(entry) === DECLINED) return DECLINED;
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

  /** The value that was turned to as the member `name`. */
  #copied(name: string): Member {
    const { kind, bytes, start, end } = this.values;
    if (kind === Kind.BOOLEAN) return this.#members.member(name, end > start);
    const member = { name: oneByteText(name), isObject: false, members: undefined };
    if (kind === Kind.ARRAY) {
      const at = ~this.#rows.addSide(bytes.subarray(start, end));
      return { ...member, start: at, end: at + end - start };
    }
    const mayBeNumber = kind === Kind.NUMBER;
    const plain = { start: this.#startOfValue(), length: end - start, mayBeNumber };
    return { ...member, start: 0, end: 0, plain };
  }

  /** `start` of the value that was turned to as a row entry has it. */
  #startOfValue(): number {
    const { start, isInSide } = this.values;
    return isInSide ? ~start : start;
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
