import { LINE_FEED } from '../../../engine/base/ascii.ts';
import { KIND_COLUMN_MIN } from '../../../engine/column/kind.ts';
import {
  PATH_CUSTOM,
  PATH_MESSAGE,
  PATH_ROOT,
  type PathTable,
} from '../../../engine/column/path.ts';
import type { Rows } from '../../../engine/column/rows.ts';
import { type LeafReader, Role } from '../leaf.ts';
import type { NameLimit } from '../name-limit.ts';
import type { ObjectReader } from '../object.ts';
import { latin1 } from '../text.ts';
import type { LineLearner, Member } from './learner.ts';
import { isSameRow } from './same-row.ts';
import { type NodeTraits, NodeType, type Separator, TemplateKernel } from './template-kernel.ts';

/** One row of so many is read by the reference too. */
const CHECK_EVERY = 4_096;
/** Lines after which it is looked at whether templates are worth their while. */
const WINDOW_LINES = 1_024;
/** Lines that learning may cost before it has to have paid. */
const PATIENCE_LINES = 8_192;
/** Lines that are left to the reference when it has not: at first, and at most, as each time doubles them. */
const REST_LINES = 16_384;
const REST_LINES_MAX = 2 ** 22;

/** Lines read ahead behind one that turned out to be for the reference; twice as many each time that none is. */
const AHEAD_LINES_MIN = 16;
const AHEAD_LINES_MAX = 4_096;
/** One miss in so many lines is reason to begin anew when there is no room for more. */
const FULL_MISSES = 8;
/** Rows that have paid for what was learnt from none on. */
const PAID_ROWS = 32_768;
/** Lines of known members that are read in the time of learning from one, beside reading it. */
const LEARNING_LINES = 4;
/** Longer literals are not kept. */
const LITERAL_BYTES_MAX = 1_024;

/** Parts of the decoder that templates work for. */
export interface TemplateUser {
  rows: Rows;
  leaves: LeafReader;
  objects: ObjectReader;
  nameLimit: NameLimit | undefined;
}

/** The same, whose events are extended. */
export interface ExtendingUser extends TemplateUser {
  /** Extends the last row, the line `[start, end)`, which has a date of its own when `hasDate`; limits its names. */
  extend(hasDate: boolean, start: number, end: number): void;
}

/** Reads the line `[start, end)` of the source by the reference alone, into rows of its own, which it returns. */
export type ReferenceLine = (
  source: Uint8Array,
  receivedMs: number,
  start: number,
  end: number,
) => Rows;

/** Counts of rows that templates made, and of their faults. */
export interface TemplateCounts {
  rows: number;
  /** Rows that the reference reads otherwise, and traps: faults of the kernel. */
  faults: number;
}

/**
 * The templates of one path table: the lines of a decoder that the kernel reads, what it learns from those that the
 * reference had to read, and the checks between the two. Owned by one thread.
 */
export class Templates {
  readonly counts: TemplateCounts;
  readonly #paths: PathTable;
  readonly #kernel: TemplateKernel;
  readonly #reference: ReferenceLine;
  readonly #fault: (error: Error) => void;
  /** Nodes by what is around their literal, their type and the literal; those of syslog lines by their paths. */
  readonly #nodes = new Map<string | number, number>();
  /** Paths of all nodes that have a value. */
  #nodePaths: number[] = [];
  /** Contexts by the objects that they are, from the outermost; there is none around a line. */
  readonly #contexts = new Map([['', 0]]);
  /** Objects that the literals of nodes open. */
  readonly #opened = new Map<number, readonly number[]>();
  /** Rows since the last one that was checked. */
  #unchecked = 0;
  #hits = 0;
  #misses = 0;
  /** Lines that were learnt from, of those. */
  #learnt = 0;
  /** Rows of forms that were not known, since `#hits` began; they cost about as much as those of the reference. */
  #placed = 0;
  /** Lines by which what was spent exceeds what it has saved. */
  #lost = 0;
  /** Rows that were made since nothing was known. */
  #madeRows = 0;
  /** Lines that are still left to the reference, and how many it is next time. */
  #rest = 0;
  #restNext = REST_LINES;
  #isFull = false;
  #aheadLines = AHEAD_LINES_MIN;
  /** Offset behind the lines that were read last, and the bytes of their prefix. */
  #behind = 0;
  #prefixBytes = 0;

  constructor(
    paths: PathTable,
    kernel: TemplateKernel,
    reference: ReferenceLine,
    counts: TemplateCounts,
    fault: (error: Error) => void,
  ) {
    this.counts = counts;
    this.#paths = paths;
    this.#kernel = kernel;
    this.#reference = reference;
    this.#fault = fault;
  }

  /** Is set when the last lines that were read end before a syslog line with a name that is not known. */
  get hasNewName(): boolean {
    return this.#kernel.hasNewName;
  }

  /** Is set while lines are to be tried and learnt from. */
  get isOn(): boolean {
    return this.#rest === 0;
  }

  /** Turns to another source. */
  begin(): void {
    this.#kernel.turnAway();
  }

  /** Sets the bytes with which lines begin; false when they are too many. */
  setPrefix(source: Uint8Array, start: number, end: number): boolean {
    return this.#kernel.setPrefix(source, start, end);
  }

  /**
   * Reads lines of the source of `rows` in `[start, end)`, each with its separator, behind a prefix of `prefixBytes`,
   * while they are known, at most `linesMax`; returns how many there are. `usedFrom` tells their usage, `take` makes
   * rows of them.
   */
  read(
    rows: Rows,
    start: number,
    end: number,
    prefixBytes: number,
    linesMax: number,
    separator: Separator = LINE_FEED,
  ): number {
    const most = Math.min(linesMax, this.#aheadLines);
    try {
      this.#behind = this.#kernel.read(rows, start, end, prefixBytes, most, separator);
    } catch (error) {
      this.#fail(new Error('the kernel of templates failed', { cause: error }));
      return 0;
    }
    this.#prefixBytes = prefixBytes;
    return this.#kernel.rowCount;
  }

  /** Usage of the lines that were read from number `from` on: bytes of their contents, at least `bytesMin` each. */
  usedFrom(from: number, bytesMin: number): number {
    const { bytes, rowCount } = this.#kernel;
    let sum = 0;
    for (let line = from; line < rowCount; line++) sum += Math.max(bytes[line], bytesMin);
    return sum;
  }

  /** Offset of line number `line` of those that were read, or behind the last one. */
  offset(line: number): number {
    return line < this.#kernel.rowCount ? this.#kernel.line[line] : this.#behind;
  }

  /**
   * Makes rows of the lines that were read, up to one that the reference has to see: its date is not to be read, it has
   * a name too many, or the reference reads it otherwise. Returns how many there are.
   */
  take(user: TemplateUser): number {
    const { rows, nameLimit } = user;
    const kernel = this.#kernel;
    const count = kernel.rowCount;
    const first = rows.rowCount;
    kernel.copyRows(rows, count);
    let line = 0;
    while (line < count && this.#finish(user, first + line, line)) line++;
    // Rows have no paths but those of nodes.
    if (nameLimit?.knowsAll(this.#nodePaths) === false) {
      line = nameLimit.keptRows(rows, first, line);
    }
    line = this.#rightRows(rows, first, 0, line);
    rows.truncate(first + line);
    this.#took(line, line < count);
    return line;
  }

  /**
   * Makes rows of the lines that were read as `take` does, and has each one extended before the next; no more once
   * `isSpent`.
   */
  takeEach(user: ExtendingUser, isSpent: () => boolean): number {
    const { rows, extend } = user;
    const kernel = this.#kernel;
    const count = kernel.rowCount;
    kernel.copySide(rows);
    let line = 0;
    while (line < count && !isSpent()) {
      const row = rows.rowCount;
      kernel.copyRow(rows, line);
      if (!this.#finish(user, row, line) || this.#rightRows(rows, row, line, 1) === 0) {
        rows.truncate(row);
        this.#took(line, true);
        return line;
      }
      const start = kernel.line[line] + this.#prefixBytes;
      extend(hasDate(user, row), start, start + kernel.bytes[line]);
      line++;
    }
    this.#took(line, false);
    if (line < count) this.#aheadLines = Math.max(AHEAD_LINES_MIN, line);
    return line;
  }

  /** Counts lines that were made rows. Those behind one that `isCut` off are read again, so fewer are read ahead. */
  #took(count: number, isCut: boolean): void {
    this.#aheadLines = isCut ? AHEAD_LINES_MIN : Math.min(2 * this.#aheadLines, AHEAD_LINES_MAX);
    this.#hit(count);
  }

  /** Puts the leaves of row `row` in order, and gives it its date; false when it is for the reference. */
  #finish(user: TemplateUser, row: number, line: number): boolean {
    const { form, timeMs } = this.#kernel;
    if (form[line] === 0 && !this.#place(user, row, line)) return false;
    return !Number.isNaN(timeMs[line]) || this.#readDates(user, row);
  }

  /**
   * Puts the leaves of a row of a form that is not known in the order in which they come back; false when members
   * repeat or collide.
   */
  #place({ rows, objects }: TemplateUser, row: number, line: number): boolean {
    const kernel = this.#kernel;
    const start = rows.rowEntry[row];
    const end = rows.rowEntry[row + 1];
    const firstNode = kernel.rowEntry[line];
    objects.begin();
    for (let entry = start; entry < end; entry++) {
      const opened = this.#opened.get(kernel.entryNode[firstNode + entry - start]);
      if (opened?.some((path) => objects.isUsed(path)) === true) return false;
      if (!objects.claimLeaf(rows.path[entry])) return false;
    }
    this.#placed++;
    const { path, rowEntry } = rows;
    const order = objects.orderOf({ path, rowEntry, rowCount: row, entryCount: end });
    if (order !== undefined) rows.reorderRow(order, row);
    kernel.addForm(line, order);
    return true;
  }

  /** Gives row `row` the date that its attributes say; false when none of them can be read. */
  #readDates({ rows, leaves }: TemplateUser, row: number): boolean {
    leaves.beginEvent();
    for (let entry = rows.rowEntry[row]; entry < rows.rowEntry[row + 1]; entry++) {
      const role = leaves.roles[rows.path[entry]];
      // Nulls and empty objects are no dates, not ones that cannot be read.
      if (role < Role.DATE || rows.kind[entry] < KIND_COLUMN_MIN) continue;
      leaves.readDate(entry, role - Role.DATE);
    }
    if (leaves.hasUnreadDate) return false;
    rows.timeMs[row] = leaves.eventDate(rows.receivedMs);
    return true;
  }

  /**
   * Compares one of CHECK_EVERY rows with that of the reference: how many of the `count` rows from `row` on, the lines
   * from `line` on, stand before one that differs. There are CHECK_EVERY at most.
   */
  #rightRows(rows: Rows, row: number, line: number, count: number): number {
    const checked = CHECK_EVERY - 1 - this.#unchecked;
    this.#unchecked += count;
    if (checked >= count) return count;
    this.#unchecked -= CHECK_EVERY;
    if (this.#isAsReference(rows, row + checked, line + checked)) return count;
    this.#fail(new Error('the kernel of templates read a line otherwise than the reference'));
    return checked;
  }

  #isAsReference(rows: Rows, row: number, line: number): boolean {
    const start = this.#kernel.line[line] + this.#prefixBytes;
    const end = start + this.#kernel.bytes[line];
    const reference = this.#reference(rows.source, rows.receivedMs, start, end);
    return reference.rowCount === 1 && isSameRow(rows, row, reference, 0);
  }

  #fail(error: Error): void {
    this.counts.faults++;
    this.#fault(error);
    this.#forget();
    this.#rest = REST_LINES_MAX;
  }

  #forget(): void {
    this.#kernel.reset();
    this.#nodes.clear();
    this.#nodePaths = [];
    this.#contexts.clear();
    this.#contexts.set('', 0);
    this.#opened.clear();
    this.#isFull = false;
    this.#madeRows = 0;
    this.#lost = 0;
  }

  #hit(count: number): void {
    this.counts.rows += count;
    this.#hits += count;
    if (this.#hits + this.#misses >= WINDOW_LINES) this.#judge();
  }

  /** Counts a line that the reference had to read. */
  miss(): void {
    if (this.#rest > 0) {
      this.#rest--;
      return;
    }
    this.#misses++;
    if (this.#hits + this.#misses >= WINDOW_LINES) this.#judge();
  }

  /** Leaves the next lines to the reference when the last ones took as long here. */
  #judge(): void {
    const spent = this.#misses + LEARNING_LINES * this.#learnt + this.#placed;
    const lost = spent - (this.#hits - this.#placed);
    this.#lost = Math.max(0, this.#lost + lost);
    this.#madeRows += this.#hits;
    // What one sender filled it with is not to keep those of others out.
    const isFilled = this.#isFull && this.#misses * FULL_MISSES > this.#hits;
    const hasPaid = this.#madeRows >= PAID_ROWS;
    if (this.#lost > PATIENCE_LINES || (isFilled && !hasPaid)) {
      this.#lost = 0;
      this.#rest = this.#restNext;
      this.#restNext = Math.min(2 * this.#restNext, REST_LINES_MAX);
    } else if (hasPaid && lost <= 0) {
      this.#restNext = REST_LINES;
    }
    if (isFilled) this.#forget();
    this.#hits = 0;
    this.#misses = 0;
    this.#learnt = 0;
    this.#placed = 0;
  }

  /**
   * Learns the members of the last row, which the reference has read from the line `[start, end)`, with its separator,
   * and has the kernel read it: both must agree. A row that `isExtended` is read by the reference once more.
   */
  learn(
    user: TemplateUser,
    learner: LineLearner,
    start: number,
    end: number,
    { separator, isExtended }: { separator: Separator; isExtended: boolean },
  ): void {
    if (this.#isFull) return;
    this.#learnt++;
    const { rows } = user;
    const members = learner.find(rows.source, start);
    const known = this.#nodes.size;
    if (members === undefined || !this.#add(rows.source, members, user.leaves.roles)) return;
    // A syslog line whose names were known was left for another reason.
    if (members[0].type >= NodeType.NAME && this.#nodes.size === known) return;
    if (this.read(rows, start, end, 0, 1, separator) === 0) return;
    const row = rows.rowCount;
    this.#kernel.copyRows(rows, 1);
    // A row that is not to be finished is left to the reference each time that it comes.
    const isSame =
      !this.#finish(user, row, 0) ||
      (isExtended ? this.#isAsReference(rows, row, 0) : isSameRow(rows, row - 1, rows, row));
    rows.truncate(row);
    if (!isSame) this.#fail(new Error('the kernel of templates would read a line otherwise'));
  }

  /** Adds nodes for members in their order; false when there was no room for one. */
  #add(bytes: Uint8Array, members: readonly Member[], roles: Uint8Array): boolean {
    if (members.some(({ start, end }) => end - start > LITERAL_BYTES_MAX)) return false;
    for (const [place, member] of members.entries()) {
      const { start, end, type, path, around, container = 0, opened } = member;
      const isOfSyslog = type >= NodeType.NAME;
      const name = isOfSyslog ? path : `${around} ${type} ${latin1(bytes, start, end)}`;
      if (this.#nodes.has(name)) continue;
      const traits = { type, path, opened, ...this.#traitsOf(type, path, roles) };
      const node = this.#kernel.addNode(bytes, start, end, traits);
      this.#isFull = node === 0;
      if (node === 0) return false;
      this.#nodes.set(name, node);
      if (type !== NodeType.END) this.#nodePaths.push(path);
      if (opened.length > 0) this.#opened.set(node, opened);
      if (type === NodeType.PART) this.#kernel.setPart(container, node);
      if (type === NodeType.NAME && !this.#kernel.addName(node, container)) return false;
      if (isOfSyslog) continue;
      const after = members[place + 1]?.around ?? '';
      this.#kernel.placeNode(node, this.#contextOf(around), this.#contextOf(after));
    }
    return true;
  }

  /** The context of the objects `around`, of which there are as many as nodes at most. */
  #contextOf(around: string): number {
    const known = this.#contexts.get(around);
    if (known !== undefined) return known;
    const context = this.#contexts.size;
    this.#contexts.set(around, context);
    return context;
  }

  /**
   * Place of a path among dates, and whether its place in the event is what its names say: it is `message`, or lies in
   * `custom` alone, or in a header. The kernel learns what it lies in.
   */
  #traitsOf(
    type: NodeType,
    path: number,
    roles: Uint8Array,
  ): Pick<NodeTraits, 'rank' | 'isSimple'> {
    const rank = Math.max(0, roles[path] - Role.DATE + 1);
    if (path === PATH_MESSAGE) return { rank, isSimple: true };
    let isSimple = rank > 0 || roles[path] === Role.NONE || type === NodeType.NAME;
    let at = path;
    while (at !== PATH_CUSTOM && at !== PATH_ROOT) {
      const parent = this.#paths.parent(at);
      this.#kernel.setParent(at, parent);
      if (parent !== PATH_CUSTOM && roles[parent] !== Role.NONE) isSimple = false;
      at = parent;
    }
    return { rank, isSimple: isSimple && (at === PATH_CUSTOM || type >= NodeType.NAME) };
  }
}

/** Reports whether a row that templates made has a date of its own: they leave rows with unreadable ones alone. */
function hasDate({ rows, leaves }: TemplateUser, row: number): boolean {
  for (let entry = rows.rowEntry[row]; entry < rows.rowEntry[row + 1]; entry++) {
    const isDate = leaves.roles[rows.path[entry]] >= Role.DATE;
    if (isDate && rows.kind[entry] >= KIND_COLUMN_MIN) return true;
  }
  return false;
}

/** Templates of each kind of lines, so that those of one that are not known do not keep the others from being tried. */
export interface LineTemplates {
  json: Templates;
  syslog: Templates;
}

/**
 * Templates for a path table; `undefined` where there are no kernels. They add to `counts`, and tell `fault` of each
 * difference between kernel and reference.
 */
export function makeTemplates(
  paths: PathTable,
  reference: ReferenceLine,
  counts: TemplateCounts,
  fault: (error: Error) => void,
): LineTemplates | undefined {
  const json = TemplateKernel.make();
  const syslog = TemplateKernel.make();
  if (json === undefined || syslog === undefined) return undefined;
  return {
    json: new Templates(paths, json, reference, counts, fault),
    syslog: new Templates(paths, syslog, reference, counts, fault),
  };
}
