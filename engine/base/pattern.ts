import { RE2JS } from 're2js';
import type { PatternText } from './pattern-text.ts';
import { PATTERN_SIZE_MAX, PatternError } from './pattern-text.ts';

/** Longer texts are left to the automaton: a native match needs memory in proportion to the text. */
const NATIVE_CHARACTERS_MAX = 65_536;

/**
 * A regular expression of a user's, in the syntax of RE2, where `.` is any character. Matches whole texts in time in
 * proportion to their length, whatever the pattern is: RE2 runs it as an automaton.
 *
 * Where RE2 finds that a pattern is one-pass (at each character at most one way goes on) a backtracking matcher goes
 * back at most a character each time, so the native one, which is many times faster, takes its place.
 * Source: RE2, onepass.cc.
 */
export class Pattern {
  /** Captures; group 0 is the whole text. */
  readonly groupCount: number;
  /** Instructions of the automaton. */
  readonly size: number;

  #automaton: RE2JS;
  #native: RegExp | undefined;
  #groupStarts: number[] = [];
  #nativeGroups: (string | undefined)[] | undefined;
  #text = '';

  /** Throws PatternError. `read` comes from `readPattern`, with a capture for each group. */
  constructor(read: PatternText) {
    this.#automaton = compile(anchored(read.source));
    this.groupCount = this.#automaton.groupCount();
    const size = this.#automaton.programSize();
    if (size > 2 * PATTERN_SIZE_MAX) {
      throw new PatternError(`the pattern compiles to ${size} instructions, which is too many`, 0);
    }
    this.size = size;
    if (read.native !== undefined && isOnePass(compile(anchored(read.outline)))) {
      this.#native = new RegExp(`^(?:${read.native})$`, 'us');
    }
  }

  /** Steps that a match of a text takes at most, about. */
  stepsOf(characterCount: number): number {
    const isQuick =
      (this.#native !== undefined && characterCount <= NATIVE_CHARACTERS_MAX) ||
      isOnePass(this.#automaton);
    return isQuick ? characterCount : characterCount * this.size;
  }

  /** Is set when the native matcher serves texts of ordinary length. */
  get isNative(): boolean {
    return this.#native !== undefined;
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
