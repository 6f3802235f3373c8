import { must } from '../../../engine/base/assert.ts';
import { Kind } from '../../../engine/column/kind.ts';
import { PATH_MESSAGE, PATH_ROOT } from '../../../engine/column/path.ts';
import type { Rows } from '../../../engine/column/rows.ts';
import type { EventTest, EventValues } from '../../../engine/query/filter/event-test.ts';
import type { EventDateReader } from '../event-date.ts';
import type { Extractor } from '../extraction.ts';
import type { Finding, StepGroup } from '../step-group.ts';
import { KnownAnswers } from './known-answers.ts';
import {
  type FindNode,
  FoundList,
  type LevelNode,
  movesOf,
  NEW,
  PLAIN,
  Slot,
  type TraceNode,
} from './trace.ts';
import type { TraceValues } from './trace-values.ts';

/** Answers of a group, or lists of a finder, that are told apart. */
const BRANCHES_MAX = 16;

/** Paths and texts of the entries of a row. */
interface Snapshot {
  path: Uint32Array;
  start: Int32Array;
  length: Uint32Array;
  kind: Uint8Array;
}

/**
 * Notes what the steps do with a row while they do it, in the trace of its shape. What cannot be done again with the
 * values of another row ends the trace there: rows that come so far are for the steps. Owned by one thread.
 */
export class Recorder {
  /** Nodes that it has made. */
  nodeCount = 0;
  readonly #rows: Rows;
  readonly #values: TraceValues;
  #slot = new Slot();
  #first = 0;
  #isLost = true;
  #before: Snapshot;
  /** Nodes of the step that is at work. */
  #finding: FindNode | undefined;
  #list: FoundList | undefined;
  #isNewList = false;
  #level: LevelNode | undefined;

  constructor(rows: Rows, values: TraceValues) {
    this.#rows = rows;
    this.#values = values;
    this.#before = snapshotOf(rows, 0, 0);
  }

  /** Begins at `root` with the last row. */
  begin(root: Slot): void {
    this.#slot = root;
    this.#first = this.#rows.rowEntry[this.#rows.rowCount - 1];
    this.#isLost = false;
    this.nodeCount = 0;
  }

  /** Ends the trace: what was done just now, or is done next, depends on more than is noted. */
  lose(): void {
    if (!this.#isLost) this.#slot.node ??= PLAIN;
    this.#isLost = true;
  }

  /** The answer of a filter. */
  test(test: EventTest, values: EventValues): boolean {
    if (this.#isLost) return test.holds(values);
    const { node } = this.#slot;
    const asked = { places: new Map(), presence: new Map() };
    this.#values.begin(node?.type === 'test' ? node : asked, this.#first, true);
    const holds = test.holds(this.#values);
    if (this.#values.isLost) this.lose();
    // What has no values is the same in all rows of the shape.
    else if (this.#values.wasRead || node?.type === 'test') {
      const parts = { holds: new Slot(), fails: new Slot(), known: new KnownAnswers() };
      const made = this.#at('test', () => ({ type: 'test', test, ...asked, ...parts }));
      if (made !== undefined) this.#slot = holds ? made.holds : made.fails;
    }
    return holds;
  }

  /** The steps of a group that may find something in the text at `entry`. */
  group(group: StepGroup, entry: number, mask: number): void {
    const node = this.#at('group', () => {
      return { type: 'group', group, entry: entry - this.#first, masks: [], slots: [] };
    });
    if (node === undefined) return;
    let place = node.masks.indexOf(mask);
    if (place < 0) {
      if (node.masks.length === BRANCHES_MAX) {
        this.#isLost = true;
        return;
      }
      place = node.masks.push(mask) - 1;
      node.slots.push(new Slot());
    }
    this.#slot = node.slots[place];
  }

  /** An extractor may find something in the text at `entry`, or not. */
  may(extractor: Extractor, entry: number, finds: boolean): void {
    const node = this.#at('may', () => {
      const slots = { finds: new Slot(), passes: new Slot() };
      return { type: 'may', extractor, entry: entry - this.#first, ...slots };
    });
    if (node !== undefined) this.#slot = finds ? node.finds : node.passes;
  }

  /** Remembers the row before a step changes it. */
  beginStep(): void {
    this.#finding = undefined;
    if (!this.#isLost) this.#before = snapshotOf(this.#rows, this.#first, this.#rows.entryCount);
  }

  /** A finder looks at the text at `entry`, and perhaps an extractor. */
  find(finding: Finding, extractor: Extractor, entry: number): void {
    const node = this.#at('find', () => {
      const slots = { nothing: new Slot(), extracted: new Slot() };
      const place = entry - this.#first;
      return { type: 'find', finding, extractor, entry: place, ...slots, lists: [] };
    });
    this.#finding = node;
    if (node !== undefined) this.#slot = node.extracted;
  }

  /** Nothing was found. Where no finder looked, that is for the steps. */
  nothing(): void {
    if (this.#finding === undefined) this.lose();
    if (this.#isLost || this.#finding === undefined) return;
    this.#slot = this.#finding.nothing;
  }

  /** The finder has found something in the text at `entry`, which is not yet added. */
  found(entry: number): void {
    const node = this.#finding;
    if (this.#isLost || node === undefined) return;
    const { found } = node.finding;
    let list = node.lists.find((known) => known.is(found));
    if (list === undefined && node.lists.length === BRANCHES_MAX) {
      this.#isLost = true;
      return;
    }
    this.#isNewList = list === undefined;
    if (list === undefined) {
      list = new FoundList(found);
      node.lists.push(list);
    }
    this.#list = list;
    this.#slot = list.next;
    const isOwn = this.#rows.path[entry] === PATH_MESSAGE || this.#entryOf(PATH_MESSAGE) < 0;
    // Where the message is another text, both have to be compared.
    if (list.hasMessage && !found.takesMessage && !isOwn) this.lose();
  }

  /** The attributes that were found are in the row; unless that `isPut`, the event is for the tree. */
  placed(isPut: boolean): void {
    const list = this.#list;
    if (this.#isLost || list === undefined) return;
    if (!isPut) this.lose();
    else if (this.#isNewList && !this.#place(list)) this.lose();
  }

  /** Notes where what was found went; false when that is not known. */
  #place(list: FoundList): boolean {
    const before = this.#before.path.length;
    const { path } = this.#rows;
    let at = this.#first + before;
    let isWhole = true;
    for (const [number, found] of list.paths.entries()) {
      const isPut = at < this.#rows.entryCount && path[at] === found;
      if (isPut) at++;
      list.isPut[number] = isPut ? 1 : 0;
      if (!isPut && number >= list.optional) isWhole = false;
    }
    const { takesMessage } = must(this.#finding, 'finding').finding.found;
    const changed: number[] = [];
    if (list.hasMessage && (takesMessage || isWhole)) {
      const message = this.#entryOf(PATH_MESSAGE);
      if (message < 0) return false;
      list.message = message < before ? message : -1;
      if (message >= before) at++;
      changed.push(message);
    }
    return at === this.#rows.entryCount && this.#isAsBefore(changed);
  }

  /** The text at `entry` means a level, which an attribute is given, or none unless there `isOne`. */
  level(entry: number, isOne: boolean): void {
    const node = this.#at('level', () => {
      const slots = { none: new Slot(), some: new Slot() };
      return { type: 'level', entry: entry - this.#first, ...slots, path: PATH_ROOT, to: NEW };
    });
    if (node === undefined) return;
    this.#slot = isOne ? node.some : node.none;
    this.#level = isOne && node.path === PATH_ROOT ? node : undefined;
  }

  /** The level is in the row; unless that `isPut`, the event is for the tree. */
  levelPlaced(isPut: boolean): void {
    if (this.#isLost) return;
    const node = this.#level;
    this.#level = undefined;
    if (!isPut) this.lose();
    if (!isPut || node === undefined) return;
    const before = this.#before.path.length;
    const rows = this.#rows;
    const count = rows.entryCount - this.#first;
    const changed = count > before ? count - 1 : this.#changed();
    const isDigit =
      changed >= 0 &&
      rows.kind[this.#first + changed] === Kind.NUMBER &&
      rows.length[this.#first + changed] === 1;
    if (!isDigit || count > before + 1 || !this.#isAsBefore([changed])) {
      this.lose();
      return;
    }
    node.path = rows.path[this.#first + changed];
    node.to = count > before ? NEW : changed;
  }

  /** The text at `entry` says a date or, unless it `isDate`, none. */
  date(reader: EventDateReader, entry: number, isDate: boolean): void {
    const node = this.#at('date', () => {
      const slots = { none: new Slot(), some: new Slot() };
      return { type: 'date', reader, entry: entry - this.#first, ...slots };
    });
    if (node !== undefined) this.#slot = isDate ? node.some : node.none;
  }

  /**
   * The value at `entry` was copied and, unless it `keeps`, taken out. A copy that is no text of a message is for the
   * steps.
   */
  copied(entry: number, keeps: boolean): void {
    if (this.#isLost) return;
    const from = entry - this.#first;
    const before = this.#before.path.length;
    const count = this.#rows.entryCount - this.#first;
    const message = this.#entryOf(PATH_MESSAGE);
    const isText = this.#before.kind[from] === Kind.STRING || this.#before.kind[from] === Kind.DATE;
    const hasText =
      message >= 0 &&
      this.#rows.start[this.#first + message] === this.#before.start[from] &&
      this.#rows.length[this.#first + message] === this.#before.length[from];
    const isGone = this.#rows.path[entry] === PATH_ROOT;
    const changed = keeps ? [message] : [message, from];
    const isExpected =
      isText &&
      hasText &&
      isGone !== keeps &&
      count <= before + 1 &&
      (count === before || message === before) &&
      this.#isAsBefore(changed);
    if (!isExpected) {
      this.lose();
      return;
    }
    const to = message < before ? message : NEW;
    const node = this.#at('move', () => {
      return { type: 'move', from, to, keeps, next: new Slot() };
    });
    if (node !== undefined) this.#slot = node.next;
  }

  /** Ends the trace of a row in which nothing was written. */
  endUnwritten(): void {
    this.#at('end', () => ({ type: 'end', moves: undefined }));
  }

  /** Puts a row that was written in order by `finish`, and ends its trace. */
  end(finish: () => void): void {
    if (this.#isLost) {
      finish();
      return;
    }
    const before = snapshotOf(this.#rows, this.#first, this.#rows.entryCount);
    finish();
    const { path, start, kind, entryCount } = this.#rows;
    const order: number[] = [];
    for (let entry = this.#first; entry < entryCount; entry++) {
      const from = before.path.indexOf(path[entry]);
      const isSame =
        from >= 0 && before.start[from] === start[entry] && before.kind[from] === kind[entry];
      if (!isSame || before.path.lastIndexOf(path[entry]) !== from) {
        this.lose();
        return;
      }
      order.push(from);
    }
    const count = before.path.length;
    this.#at('end', () => ({ type: 'end', moves: movesOf(order, count) }));
  }

  /** The node of a type that is at the slot, which is made when there is none; without it the trace is lost. */
  #at<T extends TraceNode['type']>(
    type: T,
    make: () => Extract<TraceNode, { type: T }>,
  ): Extract<TraceNode, { type: T }> | undefined {
    if (this.#isLost) return undefined;
    let { node } = this.#slot;
    if (node === undefined) {
      node = make();
      this.#slot.node = node;
      this.nodeCount++;
    }
    if (isOf(node, type)) return node;
    this.#isLost = true;
    return undefined;
  }

  /** The entry at a path, from the first one of the row; -1 when there is none. */
  #entryOf(path: number): number {
    const { path: paths, entryCount } = this.#rows;
    const at = paths.indexOf(path, this.#first);
    return at < 0 || at >= entryCount ? NEW : at - this.#first;
  }

  /** The first entry of the row that is not as before; -1 when all are. */
  #changed(): number {
    const at = this.#before.path.findIndex((_, entry) => !this.#isSame(entry));
    return at < 0 ? NEW : at;
  }

  /** Tells that all entries but some are as before. */
  #isAsBefore(changed: readonly number[]): boolean {
    return this.#before.path.every((_, at) => changed.includes(at) || this.#isSame(at));
  }

  /** Tells that an entry, counted from the first one of the row, is as before. */
  #isSame(at: number): boolean {
    const { path, start, length, kind } = this.#rows;
    const before = this.#before;
    const entry = this.#first + at;
    return (
      path[entry] === before.path[at] &&
      start[entry] === before.start[at] &&
      length[entry] === before.length[at] &&
      kind[entry] === before.kind[at]
    );
  }
}

function isOf<T extends TraceNode['type']>(
  node: TraceNode,
  type: T,
): node is Extract<TraceNode, { type: T }> {
  return node.type === type;
}

function snapshotOf({ path, start, length, kind }: Rows, from: number, to: number): Snapshot {
  return {
    path: path.slice(from, to),
    start: start.slice(from, to),
    length: length.slice(from, to),
    kind: kind.slice(from, to),
  };
}
