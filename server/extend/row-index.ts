import { PATHS_MAX } from '../../engine/base/limits.ts';
import { KIND_COLUMN_MIN } from '../../engine/column/kind.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { PathNames } from '../decode/path-names.ts';

/** Numbers for paths that were not looked at yet, and for those that nobody asks for. Others are places that are. */
const UNKNOWN = 0;
const UNWANTED = 1;
/** The greatest character of ASCII. */
export const ASCII_MAX = 0x7f;

/**
 * Finds the values of a row by dotted paths such as `custom.http.verb`: those that somebody asked for before are found
 * in one pass over the row. Made for one path table, owned by one thread.
 */
export class RowIndex {
  readonly #rows: Rows;
  readonly #names: PathNames;
  /** Dotted paths that were asked for, as they were given and with one character a byte, by their numbers. */
  readonly #wanted = new Map<string, number>();
  readonly #dotted = new Map<string, number>();
  /** The number of each path of the table, and 1 for each that nobody asks for, nor for an object that it is in. */
  #numbers = new Int32Array(1024);
  /** How many paths of the table are known to be at each dotted path, by its number. */
  readonly #pathCounts: number[] = [];
  readonly #idle = new Uint8Array(PATHS_MAX);
  /** By the number of a dotted path: the row, or version of it, in which it was met last, and its first entry there. */
  #met: number[] = [];
  #first: number[] = [];
  /** Objects that were asked for, with a dot behind, by their numbers; and those that each path of the table is in. */
  readonly #objects = new Map<string, number>();
  readonly #prefixes: string[] = [];
  #around: (readonly number[] | undefined)[] = [];
  /** By the number of an object: the version in which something was met in it last. */
  #metIn: number[] = [];
  /** Marks of each dotted path, by its number, and of those that the row has; numbers that have marks. */
  readonly #marks: number[] = [];
  readonly #marking: number[] = [];
  #marked = 0;
  #version = 1;
  /** The version that was gone through, and the entry before which that was. */
  #read = 0;
  #passed = 0;
  #row = 0;
  /** Set when a dotted path has several entries. */
  #isMixed = false;

  constructor(rows: Rows, names: PathNames) {
    this.#rows = rows;
    this.#names = names;
  }

  /** Turns to a row, or to what it has become; entries that come behind the others need no turn. */
  turnTo(row: number): void {
    this.#row = row;
    this.#version++;
  }

  /** The first entry at the dotted path of a number that has a column; -1 when there is none. */
  first(number: number): number {
    this.#pass();
    return this.#met[number] === this.#version ? this.#first[number] : -1;
  }

  /** Gives a dotted path a mark: some bits of 32. */
  mark(path: string, bits: number): void {
    const number = this.number(path);
    if (this.#marks[number] === undefined) this.#marking.push(number);
    this.#marks[number] = (this.#marks[number] ?? 0) | bits;
    this.#version++;
  }

  /** Marks of the dotted paths that have a value. */
  get marked(): number {
    this.#pass();
    return this.#marked;
  }

  /** Is set when entries behind the first one at a dotted path may be at the same, as of the last call of `first`. */
  get isMixed(): boolean {
    return this.#isMixed;
  }

  /** Reports whether the object at a dotted path has an entry with a column. */
  hasIn(path: string): boolean {
    let object = this.#objects.get(path);
    if (object === undefined) {
      object = this.#prefixes.push(`${oneByteText(path)}.`) - 1;
      this.#objects.set(path, object);
      this.#around = [];
      this.#idle.fill(0);
      this.#version++;
    }
    this.#pass();
    return this.#metIn[object] === this.#version;
  }

  /** The number of a dotted path. */
  number(path: string): number {
    const known = this.#wanted.get(path);
    if (known !== undefined) return known;
    const number = this.#wanted.size + UNWANTED + 1;
    this.#wanted.set(path, number);
    this.#dotted.set(oneByteText(path), number);
    this.#numbers.fill(UNKNOWN);
    this.#pathCounts.length = 0;
    this.#idle.fill(0);
    this.#version++;
    return number;
  }

  /** The number of a path of the table; that of no dotted path when nobody asked for it. */
  numberOf(path: number): number {
    if (path >= this.#numbers.length) {
      const grown = new Int32Array(2 ** Math.ceil(Math.log2(path + 1)));
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    const known = this.#numbers[path];
    if (known !== UNKNOWN) return known;
    const number = this.#dotted.get(this.#names.dotted(path)) ?? UNWANTED;
    this.#numbers[path] = number;
    this.#pathCounts[number] = (this.#pathCounts[number] ?? 0) + 1;
    return number;
  }

  /** The only entry that there can be at a dotted path; -1 when there may be none, or others. */
  only(number: number): number {
    const first = this.first(number);
    return this.#pathCounts[number] === 1 && !this.#isMixed ? first : -1;
  }

  /** Forgets the only entry at a dotted path, which is taken out; false when the row has to be gone through again. */
  forget(number: number, entry: number): boolean {
    if ((this.#around[this.#rows.path[entry]]?.length ?? 1) > 0) return false;
    this.#met[number] = 0;
    this.#marked = 0;
    for (const each of this.#marking) {
      if (this.#met[each] === this.#version) this.#marked |= this.#marks[each];
    }
    return true;
  }

  /** Tells that a path of the table is not at a dotted path. */
  isOther(path: number, number: number): boolean {
    return this.#idle[path] === 1 || this.numberOf(path) !== number;
  }

  /** Goes through the entries of the row that it has not yet gone through. */
  #pass(): void {
    const { path, kind, rowEntry } = this.#rows;
    if (this.#read !== this.#version) {
      this.#read = this.#version;
      this.#isMixed = false;
      this.#marked = 0;
      this.#passed = rowEntry[this.#row];
    }
    const end = rowEntry[this.#row + 1];
    if (this.#passed === end) return;
    const idle = this.#idle;
    let entry = this.#passed;
    this.#passed = end;
    for (; entry < end; entry++) {
      const at = path[entry];
      if (idle[at] === 1) continue;
      const number = this.numberOf(at);
      if (kind[entry] < KIND_COLUMN_MIN) continue;
      const around = this.#around[at] ?? this.#findAround(at);
      if (number !== UNWANTED) this.#meet(number, entry);
      else if (around.length === 0) idle[at] = 1;
      for (const object of around) this.#metIn[object] = this.#version;
    }
  }

  #meet(number: number, entry: number): void {
    if (this.#met[number] === this.#version) {
      this.#isMixed = true;
      return;
    }
    this.#met[number] = this.#version;
    this.#marked |= this.#marks[number] ?? 0;
    this.#first[number] = entry;
  }

  #findAround(path: number): readonly number[] {
    const dotted = this.#names.dotted(path);
    const around = [...this.#prefixes.keys()].filter((object) =>
      dotted.startsWith(this.#prefixes[object]),
    );
    this.#around[path] = around;
    return around;
  }
}

/** Text with one character a byte. */
export function oneByteText(text: string): string {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > ASCII_MAX) return Buffer.from(text).toString('latin1');
  }
  return text;
}
