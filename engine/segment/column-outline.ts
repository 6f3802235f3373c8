import type { Kind } from '../column/kind.ts';
import type { ColumnInfo } from './block/block-head.ts';
import type { DirectoryPaths } from './block/directory.ts';
import { decodeText } from './block/rebuild.ts';

/** Memory of a path besides its characters. */
const PATH_BYTES = 40;

/** What the footer says of a column. Arrays are by block; min and max are those of the values, in ms for dates. */
export interface ColumnOutline {
  path: number;
  kind: Kind;
  /** Number of its dictionary; -1 when it has none. */
  dictionary: number;
  presentCounts: Float64Array;
  /** Of numbers and dates; they mean nothing where no value is present. */
  mins: Float64Array | undefined;
  maxs: Float64Array | undefined;
}

/** A column of one block, as the footer has it, with the dictionary of the segment that has its values; -1: none. */
export type ColumnFacts = Omit<ColumnInfo, 'names'> & Pick<ColumnOutline, 'dictionary'>;

/** Of what kind a column of a segment is, and in which dictionary its values are; -1: in none. */
export type ColumnForm = Pick<ColumnOutline, 'kind' | 'dictionary'>;

/** Gives the columns of one block whose paths are wanted, in no particular order. */
export type BlockColumns = (isWanted: (path: string) => boolean) => ColumnFacts[];

/**
 * The columns that a footer names. Readers keep those of many segments for all time, and arrays and objects of each
 * column would take ten times as much: so all numbers are in one array.
 */
export class OutlineTable {
  readonly #blockCount: number;
  /** By column, names joined by dots. */
  readonly #paths: readonly string[];
  readonly #kinds: Uint8Array;
  readonly #dictionaries: Int32Array;
  /** Column by column, each with a stretch of counts, and when it has zones with one of mins and one of maxs. */
  readonly #numbers: Float64Array;
  /** By column, where its counts begin; one more entry: the end. */
  readonly #starts: Uint32Array;

  constructor(columns: readonly ColumnOutline[], paths: DirectoryPaths, blockCount: number) {
    const names = joinedNames(paths);
    this.#blockCount = blockCount;
    this.#paths = columns.map(({ path }) => names[path]);
    this.#kinds = Uint8Array.from(columns, ({ kind }) => kind);
    this.#dictionaries = Int32Array.from(columns, ({ dictionary }) => dictionary);
    this.#starts = new Uint32Array(columns.length + 1);
    for (const [index, { mins }] of columns.entries()) {
      this.#starts[index + 1] = this.#starts[index] + blockCount * (mins === undefined ? 1 : 3);
    }
    this.#numbers = new Float64Array(this.#starts[columns.length]);
    for (const [index, { presentCounts, mins, maxs }] of columns.entries()) {
      const start = this.#starts[index];
      this.#numbers.set(presentCounts, start);
      if (mins !== undefined) this.#numbers.set(mins, start + blockCount);
      if (maxs !== undefined) this.#numbers.set(maxs, start + blockCount * 2);
    }
  }

  /** Memory that it takes, about. */
  get memoryBytes(): number {
    const words = this.#starts.byteLength + this.#dictionaries.byteLength;
    const arrays = this.#numbers.byteLength + this.#kinds.byteLength + words;
    return this.#paths.reduce((sum, path) => sum + path.length + PATH_BYTES, arrays);
  }

  /** All columns of the segment, in the order of their numbers. */
  all(): { path: string; dictionary: number }[] {
    return this.#paths.map((path, at) => ({ path, dictionary: this.#dictionaries[at] }));
  }

  /** The columns of the segment at `path`. */
  forms(path: string): ColumnForm[] {
    const found: ColumnForm[] = [];
    for (let at = this.#paths.indexOf(path); at >= 0; at = this.#paths.indexOf(path, at + 1)) {
      found.push({ kind: this.#kinds[at] as Kind, dictionary: this.#dictionaries[at] });
    }
    return found;
  }

  /** The number of the column of a kind at `path`; -1 when there is none, or several whose names are joined alike. */
  numberOf(path: string, kind: Kind): number {
    let found = -1;
    for (let at = this.#paths.indexOf(path); at >= 0; at = this.#paths.indexOf(path, at + 1)) {
      if (this.#kinds[at] !== kind) continue;
      if (found >= 0) return -1;
      found = at;
    }
    return found;
  }

  /** The dictionary of the column number `column`; -1 when it has none. */
  dictionaryOf(column: number): number {
    return this.#dictionaries[column];
  }

  /**
   * Tells which parts of the column number `column` are of a block: the parts have `valueCount` values each, the last
   * one of a block may have fewer.
   */
  partsOf(column: number, block: number, valueCount: number): { from: number; to: number } {
    const start = this.#starts[column];
    let from = 0;
    for (let before = 0; before < block; before++) {
      from += Math.ceil(this.#numbers[start + before] / valueCount);
    }
    return { from, to: from + Math.ceil(this.#numbers[start + block] / valueCount) };
  }

  /** Gives the columns of the block number `block` whose paths are wanted. */
  columns(block: number, isWanted: (path: string) => boolean): ColumnFacts[] {
    const found: ColumnFacts[] = [];
    for (let column = 0; column < this.#paths.length; column++) {
      const at = this.#starts[column] + block;
      const presentCount = this.#numbers[at];
      const path = this.#paths[column];
      if (presentCount === 0 || !isWanted(path)) continue;
      const kind = this.#kinds[column] as Kind;
      const dictionary = this.#dictionaries[column];
      const facts: ColumnFacts = { path, kind, presentCount, dictionary };
      if (at + this.#blockCount < this.#starts[column + 1]) {
        facts.min = this.#numbers[at + this.#blockCount];
        facts.max = this.#numbers[at + this.#blockCount * 2];
      }
      found.push(facts);
    }
    return found;
  }
}

/** Of each path its names from the root, joined by dots. */
function joinedNames({ names, parents }: DirectoryPaths): string[] {
  const all: string[][] = [];
  for (const [path, name] of names.entries()) {
    const text = decodeText(name, 0, name.length);
    all.push(parents[path] === 0 ? [text] : [...all[parents[path] - 1], text]);
  }
  return all.map((list) => list.join('.'));
}
