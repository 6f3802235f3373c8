import { RE2JS } from 're2js';
import type { PatternText } from './pattern-text.ts';
import { PATTERN_SIZE_MAX, PatternError } from './pattern-text.ts';

/** Longer texts are left to the automaton: a native match needs memory in proportion to the text. */
const NATIVE_CHARACTERS_MAX = 65_536;

/** An atom of a native pattern that takes one character, and the repeat behind it, which may give characters back. */
const ITEM =
  /([A-Za-z0-9 ]|\\u\{[0-9a-f]+\}|\\[dDwWtnrfv]|\.|\[(?:[^\]\\]|\\u\{[0-9a-f]+\}|\\[a-z])+\])([*+]?)/y;
const LITERAL = /^(?:[A-Za-z0-9 ]|\\u\{[0-9a-f]+\})$/;

/** An atom, whether it is repeated, and whether a text may have none of it. */
interface Item {
  atom: string;
  isRepeated: boolean;
  isOptional: boolean;
}

/** Characters at an end of a text that are looked at before it is matched, at most. */
const END_CHARACTERS_MAX = 4;
const ASCII_COUNT = 128;
/** ASCII characters that stand at an end of all texts that match, from there on: 1 by character. */
type EndTables = readonly Uint8Array[];
const NO_TABLES: EndTables = [];

/**
 * A regular expression of a user's, in the syntax of RE2, where `.` is any character. Matches whole texts in time in
 * proportion to their length, whatever the pattern is: RE2 runs it as an automaton.
 *
 * Where RE2 finds that a pattern is one-pass (at each character at most one way goes on) a backtracking matcher goes
 * back at most a character each time, so the native one, which is many times faster, takes its place. It does so too
 * where the last repeat alone can be tried with several lengths (`stepsOfBacktracking`). Source: RE2, onepass.cc.
 */
export class Pattern {
  /** Captures; group 0 is the whole text. */
  readonly groupCount: number;
  /** Instructions of the automaton. */
  readonly size: number;
  /** The pattern in the syntax of RE2. */
  readonly source: string;

  #automaton: RE2JS;
  #native: RegExp | undefined;
  /** Steps a character that it takes at most. */
  #nativeSteps = 1;
  #beginning: readonly Uint8Array[] | undefined;
  #first = NO_TABLES;
  #last = NO_TABLES;
  #groupStarts: number[] = [];
  #nativeGroups: (string | undefined)[] | undefined;
  #text = '';

  /** Throws PatternError. `read` comes from `readPattern`, with a capture for each group. */
  constructor(read: PatternText) {
    this.source = read.source;
    this.#automaton = compile(anchored(read.source));
    this.groupCount = this.#automaton.groupCount();
    const size = this.#automaton.programSize();
    if (size > 2 * PATTERN_SIZE_MAX) {
      throw new PatternError(`the pattern compiles to ${size} instructions, which is too many`, 0);
    }
    this.size = size;
    if (read.native === undefined) return;
    const steps = isOnePass(compile(anchored(read.skeleton)))
      ? 1
      : stepsOfBacktracking(read.native);
    if (steps === undefined) return;
    this.#native = new RegExp(`^(?:${read.native})$`, 'us');
    this.#nativeSteps = steps;
    const items = itemsOf(read.native) ?? [];
    this.#first = tablesOf(items);
    this.#last = tablesOf(items.reverse());
  }

  /** Steps that a match of a text takes at most, about. */
  stepsOf(characterCount: number): number {
    if (isOnePass(this.#automaton)) return characterCount;
    const isNative = this.#native !== undefined && characterCount <= NATIVE_CHARACTERS_MAX;
    return characterCount * (isNative ? this.#nativeSteps : this.size);
  }

  /** Steps a character for texts that are not very long. */
  get steps(): number {
    return this.#native === undefined ? this.size : this.#nativeSteps;
  }

  /** Tells by its first byte, or that it has none, that a text in UTF-8 may match. */
  mayBegin(first: number | undefined): boolean {
    this.#beginning ??= beginningOf(this.#automaton);
    return first === undefined || this.#beginning.length === 0 || this.#beginning[0][first] === 1;
  }

  /** Tells by its first bytes that a text in UTF-8, `bytes[start, end)`, may match. */
  mayBeginAs(bytes: Uint8Array, start: number, end: number): boolean {
    this.#beginning ??= beginningOf(this.#automaton);
    const length = Math.min(end - start, this.#beginning.length);
    for (let at = 0; at < length; at++) {
      const byte = bytes[start + at];
      if (byte >= ASCII_COUNT) return true;
      if (this.#beginning[at][byte] === 0) return false;
    }
    return true;
  }

  /** Tells by a few characters that the ASCII text `bytes[start, end)` may match. */
  mayMatch(bytes: Uint8Array, start: number, end: number): boolean {
    const first = this.#first;
    const last = this.#last;
    if (end - start < Math.max(first.length, last.length)) return false;
    for (let at = 0; at < first.length; at++) if (first[at][bytes[start + at]] === 0) return false;
    for (let at = 0; at < last.length; at++) if (last[at][bytes[end - 1 - at]] === 0) return false;
    return true;
  }

  /** The automaton of whole texts. */
  get program(): Program {
    return (this.#automaton.re2() as { prog: Program }).prog;
  }

  /** Matches the whole of `text`; `group` gives the parts until `forget`. */
  match(text: string): boolean {
    if (this.#native !== undefined && text.length <= NATIVE_CHARACTERS_MAX) {
      const found = this.#native.exec(text);
      this.#nativeGroups = found ?? undefined;
      return found !== null;
    }
    return this.matchByAutomaton(text);
  }

  /** Matches as `match` does, without the parts. */
  test(text: string): boolean {
    const isLong = text.length > NATIVE_CHARACTERS_MAX;
    if (this.#native !== undefined && !isLong) return this.#native.test(text);
    const isMatch = this.#automaton.testExact(text);
    if (isLong) this.#automaton.re2().reset();
    return isMatch;
  }

  /** Matches as `match` does, without the native matcher. */
  matchByAutomaton(text: string): boolean {
    this.#nativeGroups = undefined;
    const automaton = this.#automaton.re2();
    const [isMatch, starts] = automaton.matchWithGroup(
      text,
      0,
      text.length,
      ANCHOR_BOTH,
      this.groupCount + 1,
    ) as [boolean, number[] | null];
    // Threads of the automaton are pooled; after one long text they would stay for good.
    automaton.reset();
    if (!isMatch || starts === null) return false;
    this.#groupStarts = starts;
    this.#text = text;
    return true;
  }

  /** The part of the last matching text that group `index` captured; `undefined` when it took no part. */
  group(index: number): string | undefined {
    if (this.#nativeGroups !== undefined) return this.#nativeGroups[index];
    const start = this.#groupStarts[2 * index] ?? -1;
    return start < 0 ? undefined : this.#text.slice(start, this.#groupStarts[2 * index + 1]);
  }

  /** Lets go of the last text. */
  forget(): void {
    this.#nativeGroups = undefined;
    this.#text = '';
  }
}

/** Source: re2js, RE2Flags. */
const ANCHOR_BOTH = 2;

function anchored(source: string): string {
  return `\\A(?:${source})\\z`;
}

function isOnePass(automaton: RE2JS): boolean {
  return automaton.re2().onepass !== null;
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source, RE2JS.DOTALL);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new PatternError(message, 0);
  }
}

/**
 * The steps a character that a backtracking matcher takes at most for a whole text, when `native` (as `readPattern`
 * makes it) is seen to be harmless: atoms of one character in a row, where each repeat but the last one is followed by
 * a literal that the repeated atom does not match. Such a repeat ends in one place, so that only the last one is tried
 * with all its lengths, each of which costs the atoms behind it. `undefined` when it is not.
 */
function stepsOfBacktracking(native: string): number | undefined {
  const items = itemsOf(native);
  if (items === undefined) return undefined;
  // Nothing is left behind it that could fail.
  if (items.at(-1)?.atom === '.' && items.at(-1)?.isRepeated === true) items.pop();
  const last = items.findLastIndex(({ isRepeated }) => isRepeated);
  const isExact = items.every(
    (item, at) => at >= last || !item.isRepeated || endsBefore(item, items[at + 1]),
  );
  return isExact ? items.length - last + 1 : undefined;
}

/** The atoms of a pattern; `undefined` when it has something else, too. */
function itemsOf(native: string): Item[] | undefined {
  const items: Item[] = [];
  for (ITEM.lastIndex = 0; ITEM.lastIndex < native.length; ) {
    const found = ITEM.exec(native);
    if (found === null) return undefined;
    const [, atom, repeat] = found;
    items.push({ atom, isRepeated: repeat !== '', isOptional: repeat === '*' });
  }
  return items;
}

/** Places of the beginning of a text that are looked at, and states of an automaton at one of them, at most. */
const BEGINNING_MAX = 8;
const STATES_MAX = 100;
/** Operations of an automaton. Source: re2js, Inst. */
export const Operation = {
  ALT: 1,
  CAPTURE: 3,
  EMPTY_WIDTH: 4,
  FAIL: 5,
  MATCH: 6,
  NOP: 7,
  RUNE: 8,
  RUNE1: 9,
  ANY: 10,
  ANY_IN_LINE: 11,
} as const;
const PASSED = new Set<number>([Operation.CAPTURE, Operation.EMPTY_WIDTH, Operation.NOP]);
const TAKING = new Set<number>([
  Operation.RUNE,
  Operation.RUNE1,
  Operation.ANY,
  Operation.ANY_IN_LINE,
]);
/** An instruction of an automaton: what it does, and those behind it. */
export interface Instruction {
  op: number;
  out: number;
  arg: number;
  matchRune(point: number): boolean;
}

/** The instructions of an automaton, and the first one. */
export interface Program {
  inst: readonly Instruction[];
  start: number;
}

/** The bytes, in UTF-8, with which texts that an automaton may match begin: by place, 1 by byte. */
function beginningOf(automaton: RE2JS): readonly Uint8Array[] {
  const { prog } = automaton.re2() as { prog: Program };
  const tables: Uint8Array[] = [];
  let states = [prog.start];
  while (tables.length < BEGINNING_MAX) {
    const table = new Uint8Array(256).fill(1, ASCII_COUNT);
    const behind: number[] = [];
    const seen = new Set<number>();
    for (let at = states.pop(); at !== undefined; at = states.pop()) {
      if (seen.has(at)) continue;
      if (seen.add(at).size > STATES_MAX) return tables;
      const instruction = prog.inst[at];
      const { op, out, arg } = instruction;
      if (op === Operation.FAIL) continue;
      if (op === Operation.ALT) states.push(out, arg);
      else if (PASSED.has(op)) states.push(out);
      else if (TAKING.has(op)) {
        for (let byte = 0; byte < ASCII_COUNT; byte++) {
          if (op >= Operation.ANY || instruction.matchRune(byte)) table[byte] = 1;
        }
        behind.push(out);
      } else return tables;
    }
    tables.push(table);
    states = behind;
  }
  return tables;
}

/** The tables of the first characters of texts that are made of these items. */
function tablesOf(items: readonly Item[]): EndTables {
  const tables: Uint8Array[] = [];
  for (const { atom, isRepeated, isOptional } of items) {
    if (isOptional || tables.length === END_CHARACTERS_MAX) break;
    const test = new RegExp(`^${atom}$`, 'us');
    const table = new Uint8Array(ASCII_COUNT);
    for (let character = 0; character < table.length; character++) {
      if (test.test(String.fromCharCode(character))) table[character] = 1;
    }
    tables.push(table);
    if (isRepeated) break;
  }
  return tables;
}

/** Reports whether the next item is a single literal that the repeated item does not match. */
function endsBefore({ atom }: Item, next: Item): boolean {
  if (next.isRepeated || !LITERAL.test(next.atom)) return false;
  const character = next.atom.startsWith('\\u{')
    ? String.fromCodePoint(Number.parseInt(next.atom.slice(3, -1), 16))
    : next.atom;
  return !new RegExp(`^${atom}$`, 'us').test(character);
}
