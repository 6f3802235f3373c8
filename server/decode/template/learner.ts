import { PATH_CUSTOM, PATH_MESSAGE } from '../../../engine/column/path.ts';
import type { Rows } from '../../../engine/column/rows.ts';
import { literalEnd, type ValueScanner } from '../json.ts';
import type { KeyTable } from '../key.ts';
import { type LeafReader, Role } from '../leaf.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  OPEN_BRACE,
  OPEN_BRACKET,
  plainEnd,
  QUOTE,
  skipBlanks,
  stringEnd,
} from '../text.ts';
import { NodeType } from './template-kernel.ts';

const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;

/** A value of a line with the literal before it, `[start, end)` of the source. */
export interface Member {
  start: number;
  end: number;
  type: NodeType;
  /** Path of its leaf; of an end 0. */
  path: number;
  /** Names of the objects around the literal's beginning: paths, which tell what its names mean. */
  around: string;
  /** Of a name of a syslog line: the path of the object that it lies in; of a part of a header: its number. */
  container?: number;
  /** Paths of the objects that its literal opens. */
  opened: readonly number[];
}

/** Finds in lines that the reference has read what the kernel has to know of them. */
export interface LineLearner {
  /** The members of the last line, which begins at `start`; `undefined` when the kernel could not read it. */
  find(bytes: Uint8Array, start: number): Member[] | undefined;
}

/**
 * Finds the members of lines that the reference has read, and which leaf each of them is. Owned by one thread.
 */
export class Learner implements LineLearner {
  readonly #keys: KeyTable;
  readonly #roles: Uint8Array;
  readonly #scanner: ValueScanner;
  /** Paths of the leaves of the last event, in the order in which it has them. */
  #paths = new Uint32Array(64);
  #count = -1;

  constructor(keys: KeyTable, { roles, scanner }: LeafReader) {
    this.#keys = keys;
    this.#roles = roles;
    this.#scanner = scanner;
  }

  /** Forgets the last event. */
  forget(): void {
    this.#count = -1;
  }

  /** Notes the leaves of the row that is being written, before they are put in order. */
  note({ path, rowEntry, rowCount, entryCount }: Rows): void {
    const start = rowEntry[rowCount];
    this.#count = entryCount - start;
    if (this.#count > this.#paths.length) this.#paths = new Uint32Array(2 * this.#count);
    for (let leaf = 0; leaf < this.#count; leaf++) this.#paths[leaf] = path[start + leaf];
  }

  /**
   * The members of the object at `start`, which was noted, the last of them its end; `undefined` when the kernel could
   * not read them: names with escapes or places of their own, arrays in arrays.
   */
  find(bytes: Uint8Array, start: number): Member[] | undefined {
    if (this.#count < 0) return undefined;
    const end = bytes.length;
    const members: Member[] = [];
    const open = [PATH_CUSTOM];
    let opened: number[] = [];
    let around = '';
    let literalStart = start;
    let at = start + 1;
    while (at < end) {
      const byte = bytes[at];
      if (byte === CLOSE_BRACE) {
        open.pop();
        if (open.length === 0) {
          const path = 0;
          members.push({
            start: literalStart,
            end: at + 1,
            type: NodeType.END,
            path,
            around,
            opened,
          });
          return members.length === this.#count + 1 ? members : undefined;
        }
      }
      if (byte !== QUOTE) {
        at++;
        continue;
      }
      const nameEnd = plainEnd(bytes, at + 1, end);
      if (bytes[nameEnd] === BACKSLASH) return undefined;
      const named = this.#keys.resolve(open[open.length - 1], bytes, at + 1, nameEnd);
      at = skipBlanks(bytes, skipBlanks(bytes, nameEnd + 1, end) + 1, end);
      if (named < 0 || members.length > this.#count) return undefined;
      const inside = skipBlanks(bytes, at + 1, end);
      if (bytes[at] === OPEN_BRACE && bytes[inside] !== CLOSE_BRACE) {
        if (this.#roles[named] !== Role.NONE) return undefined;
        open.push(named);
        opened.push(named);
        at++;
        continue;
      }
      const value = this.#value(bytes, at, inside);
      if (value === undefined) return undefined;
      const { type, behind } = value;
      const role = this.#roles[named];
      const isMessage = role === Role.MESSAGE && type === NodeType.STRING;
      const path = isMessage ? PATH_MESSAGE : named;
      if (role === Role.WRITE_KEY || path !== this.#paths[members.length]) return undefined;
      members.push({ start: literalStart, end: value.end, type, path, around, opened });
      around = open.join('>');
      opened = [];
      literalStart = behind;
      at = behind;
    }
    return undefined;
  }

  /** The end of the literal before the value at `at`, its type, and the offset behind it. */
  #value(
    bytes: Uint8Array,
    at: number,
    inside: number,
  ): { end: number; type: NodeType; behind: number } | undefined {
    const byte = bytes[at];
    const { length } = bytes;
    if (byte === QUOTE) {
      return { end: at + 1, type: NodeType.STRING, behind: stringEnd(bytes, at + 1, length) + 1 };
    }
    if (byte === OPEN_BRACE) return { end: inside + 1, type: NodeType.EMPTY, behind: inside + 1 };
    if (byte === LETTER_N) return { end: at + 4, type: NodeType.NULL, behind: at + 4 };
    if (byte === LETTER_T || byte === LETTER_F) {
      return { end: at, type: NodeType.BOOLEAN, behind: literalEnd(bytes, at, length) };
    }
    const behind = this.#scanner.skip(bytes, at, length);
    if (this.#scanner.depth > 1 || this.#scanner.hasBlanks) return undefined;
    return { end: at, type: byte === OPEN_BRACKET ? NodeType.ARRAY : NodeType.NUMBER, behind };
  }
}
