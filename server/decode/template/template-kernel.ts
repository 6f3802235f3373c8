import type { LINE_FEED } from '../../../engine/base/ascii.ts';
import { assert } from '../../../engine/base/assert.ts';
import { copyBytes } from '../../../engine/base/bytes.ts';
import { HASH_SEED } from '../../../engine/base/hash.ts';
import type { RowArrays, Rows } from '../../../engine/column/rows.ts';
import { makeKernels } from '../../../engine/kernel/kernel.ts';
import type { COMMA } from '../text.ts';

/** Value behind the literal of a node, as template.as.ts numbers them. */
export const NodeType = {
  END: 0,
  STRING: 1,
  NUMBER: 2,
  BOOLEAN: 3,
  ARRAY: 4,
  NULL: 5,
  EMPTY: 6,
  /** A name of a syslog line. */
  NAME: 7,
  /** A part of a syslog header, or the text behind it. */
  PART: 8,
} as const;

/** One of the values of `NodeType`. */
export type NodeType = (typeof NodeType)[keyof typeof NodeType];

/** Byte behind each line: a line feed, or the comma behind an element of an array. */
export type Separator = typeof LINE_FEED | typeof COMMA;

/** Traits of a node beside its literal. */
export interface NodeTraits {
  type: NodeType;
  path: number;
  /** Place of its path in the order of date attributes, plus 1; 0 when it is none. */
  rank: number;
  /** Set when nothing but its path says where its leaf belongs. */
  isSimple: boolean;
  /** Paths of the objects that its literal opens. */
  opened: readonly number[];
}

/** Functions of template.as.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  readLines(
    from: number,
    end: number,
    prefixBytes: number,
    rowsMax: number,
    base: number,
    sideBase: number,
    receivedMs: number,
    separator: number,
  ): number;
  addNode(length: number, type: number, path: number, rank: number, simple: number): number;
  addOpened(node: number, path: number): number;
  setParent(path: number, parent: number): void;
  placeNode(node: number, context: number, after: number): void;
  addName(node: number, container: number): number;
  setPart(part: number, node: number): void;
  addForm(row: number): void;
  resetForms(): void;
  reset(): void;
  begin(secret: number): number;
  rowCount: WebAssembly.Global;
  sideBytes: WebAssembly.Global;
  hasNewName: WebAssembly.Global;
  literalBytes: WebAssembly.Global;
  orderCount: WebAssembly.Global;
  SOURCE: WebAssembly.Global;
  SIDE: WebAssembly.Global;
  PREFIX: WebAssembly.Global;
  ENTRY_PATH: WebAssembly.Global;
  ROW_TIME: WebAssembly.Global;
  ROW_ENTRY: WebAssembly.Global;
  SLOT: WebAssembly.Global;
  SOURCE_BYTES: WebAssembly.Global;
  PREFIX_BYTES: WebAssembly.Global;
  ENTRIES: WebAssembly.Global;
  ROWS: WebAssembly.Global;
  LITERAL: WebAssembly.Global;
  LITERAL_BYTES: WebAssembly.Global;
  ORDERS: WebAssembly.Global;
  SLOTS: WebAssembly.Global;
}

/** Bytes behind a literal that vectors may read. */
const LITERAL_PAD = 32;
/** Bytes with which a window goes on that ends before the source; a line that its end cuts is for the reference. */
const WINDOW_BYTES_AMPLE = 65_536;
/** Room for one entry more than there are rows, and more, as template.as.ts has it. */
const ROW_ENTRIES_PAD = 16;

/**
 * The kernel of known lines with its memory: holds a window of the source, and after `read` the records of rows.
 * Owned by one thread.
 */
export class TemplateKernel {
  /** Date of each row, NaN when its texts are to be read for it. */
  readonly timeMs: Float64Array;
  /** Of each row: offset of its line, bytes of its content, its form, 0 when that is not known. */
  readonly line: Uint32Array;
  readonly bytes: Uint32Array;
  readonly form: Uint32Array;
  /** Of each row its first entry; of each entry its node, in the order of the line. */
  readonly rowEntry: Uint32Array;
  readonly entryNode: Uint16Array;
  readonly #exports: Exports;
  readonly #memory: Uint8Array;
  readonly #path: Uint32Array;
  readonly #start: Int32Array;
  readonly #length: Uint32Array;
  readonly #value: Float64Array;
  readonly #detail: Uint16Array;
  readonly #kind: Uint8Array;
  /** The records of rows. */
  readonly #rows: RowArrays;
  /** The window: `source[#from, #end)` lies at the beginning of the region. */
  #source: Uint8Array | undefined;
  #from = 0;
  #end = 0;

  private constructor(exports: Exports) {
    this.#exports = exports;
    const { buffer } = exports.memory;
    this.#memory = new Uint8Array(buffer);
    const entries = exports.ENTRIES.value;
    const rows = exports.ROWS.value;
    let at = exports.ENTRY_PATH.value;
    const region = (bytes: number): number => {
      at += bytes;
      return at - bytes;
    };
    this.#path = new Uint32Array(buffer, region(4 * entries), entries);
    this.#start = new Int32Array(buffer, region(4 * entries), entries);
    this.#length = new Uint32Array(buffer, region(4 * entries), entries);
    this.#value = new Float64Array(buffer, region(8 * entries), entries);
    this.#detail = new Uint16Array(buffer, region(2 * entries), entries);
    this.entryNode = new Uint16Array(buffer, region(2 * entries), entries);
    this.#kind = new Uint8Array(buffer, region(entries), entries);
    assert(at === exports.ROW_TIME.value, 'regions of rows follow those of entries');
    this.timeMs = new Float64Array(buffer, region(8 * rows), rows);
    assert(at === exports.ROW_ENTRY.value, 'entries of rows follow their dates');
    this.rowEntry = new Uint32Array(buffer, region(4 * (rows + ROW_ENTRIES_PAD)), rows + 1);
    this.line = new Uint32Array(buffer, region(4 * rows), rows);
    this.bytes = new Uint32Array(buffer, region(4 * rows), rows);
    this.form = new Uint32Array(buffer, region(4 * rows), rows);
    this.#rows = {
      path: this.#path,
      kind: this.#kind,
      start: this.#start,
      length: this.#length,
      value: this.#value,
      detail: this.#detail,
      rowEntry: this.rowEntry,
      timeMs: this.timeMs,
    };
  }

  /** A kernel that knows no line; `undefined` where there are no kernels, or no memory for one. */
  static make(): TemplateKernel | undefined {
    const exports = makeKernels() as Exports | undefined;
    if (exports === undefined || exports.begin(HASH_SEED) === 0) return undefined;
    return new TemplateKernel(exports);
  }

  /** Rows of the last `read`. */
  get rowCount(): number {
    return this.#exports.rowCount.value;
  }

  /** Forgets the window: the source is another one, or has changed. */
  turnAway(): void {
    this.#source = undefined;
  }

  /** Sets the bytes with which all lines of `read` begin; false when they are too many. */
  setPrefix(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start > this.#exports.PREFIX_BYTES.value) return false;
    const at = this.#exports.PREFIX.value - start;
    for (let from = start; from < end; from++) this.#memory[at + from] = bytes[from];
    return true;
  }

  /**
   * Reads whole lines of the source of `rows` in `[start, end)`, each with its separator behind a prefix of
   * `prefixBytes`, as long as they are known; at most `rowsMax`. Returns the offset behind the last one.
   */
  read(
    rows: Rows,
    start: number,
    end: number,
    prefixBytes: number,
    rowsMax: number,
    separator: Separator,
  ): number {
    this.#turnTo(rows.source, start, end);
    const base = this.#from;
    const at = start - base;
    const to = Math.min(end, this.#end) - base;
    const { sideBytes, receivedMs } = rows;
    const { readLines } = this.#exports;
    return readLines(at, to, prefixBytes, rowsMax, base, sideBytes, receivedMs, separator) + base;
  }

  /** Moves the window to `start`, unless that lies in it with enough behind. */
  #turnTo(source: Uint8Array, start: number, end: number): void {
    const isInside = source === this.#source && start >= this.#from && start < this.#end;
    if (isInside && (this.#end >= end || this.#end - start >= WINDOW_BYTES_AMPLE)) return;
    const { SOURCE, SOURCE_BYTES } = this.#exports;
    const windowEnd = Math.min(end, start + SOURCE_BYTES.value);
    copyBytes(source, start, windowEnd, this.#memory, SOURCE.value);
    this.#source = source;
    this.#from = start;
    this.#end = windowEnd;
  }

  /** Copies the first `count` rows of the last `read` behind those of the same `rows`. */
  copyRows(rows: Rows, count: number): void {
    this.copySide(rows);
    rows.addRows(this.#rows, count);
  }

  /** Copies the texts of the last `read` whose escapes were undone, before `copyRow`; nothing may have come since. */
  copySide(rows: Rows): void {
    const sideBytes = this.#exports.sideBytes.value;
    if (sideBytes === 0) return;
    const at = this.#exports.SIDE.value;
    const to = rows.reserveSide(sideBytes);
    copyBytes(this.#memory, at, at + sideBytes, rows.side, to);
  }

  /** Copies row `row` of the last `read` behind those of the same `rows`. */
  copyRow(rows: Rows, row: number): void {
    rows.addRow(this.#rows, row);
  }

  /** Makes a node of the literal `bytes[start, end)` and a value behind it; 0 when there is no room. */
  addNode(
    bytes: Uint8Array,
    start: number,
    end: number,
    { type, path, ...traits }: NodeTraits,
  ): number {
    const exports = this.#exports;
    const room = exports.LITERAL_BYTES.value - exports.literalBytes.value;
    if (end - start + LITERAL_PAD > room) return 0;
    this.#memory.set(
      bytes.subarray(start, end),
      exports.LITERAL.value + exports.literalBytes.value,
    );
    const { rank, isSimple, opened } = traits;
    const node = exports.addNode(end - start, type, path, rank, isSimple ? 1 : 0);
    const hasRoom = node > 0 && opened.every((object) => exports.addOpened(node, object) !== 0);
    return hasRoom ? node : 0;
  }

  /** Tells what a path lies in, before a node has it. */
  setParent(path: number, parent: number): void {
    this.#exports.setParent(path, parent);
  }

  /** Is set when the last `read` ended before a syslog line with a name that is not known. */
  get hasNewName(): boolean {
    return this.#exports.hasNewName.value !== 0;
  }

  /** Makes a node a name of the object at `container`, in syslog lines; false when there is no room. */
  addName(node: number, container: number): boolean {
    return this.#exports.addName(node, container) !== 0;
  }

  /** Makes a node that of a part of syslog headers, or of their text. */
  setPart(part: number, node: number): void {
    this.#exports.setPart(part, node);
  }

  /** Makes a new node one of the context before its literal; `after` is the context behind its value. */
  placeNode(node: number, context: number, after: number): void {
    this.#exports.placeNode(node, context, after);
  }

  /**
   * Remembers the form of row `row` of the last `read` with the places of its leaves, which are in the order of the
   * line without them, when it comes a second time.
   */
  addForm(row: number, places: Uint32Array | undefined): void {
    const exports = this.#exports;
    if (exports.orderCount.value + 2 * exports.SLOTS.value > exports.ORDERS.value)
      exports.resetForms();
    const count = this.rowEntry[row + 1] - this.rowEntry[row];
    const room = new Uint16Array(this.#memory.buffer, exports.SLOT.value, count);
    for (let leaf = 0; leaf < count; leaf++) {
      if (places === undefined) room[leaf] = leaf;
      else room[places[leaf]] = leaf;
    }
    exports.addForm(row);
  }

  /** Forgets all nodes and forms. */
  reset(): void {
    this.#exports.reset();
  }
}
