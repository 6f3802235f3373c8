/** The fault of a pattern, and its position. */
export class PatternError extends Error {
  /** Offset in the pattern, in UTF-16 units from 0. */
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.name = 'PatternError';
    this.at = at;
  }
}

/** A pattern that was read: the text to compile and the facts that are known before. */
export interface PatternText {
  /** The pattern in the syntax of RE2; plain groups do not capture. */
  source: string;
  /**
   * The same for the `u` and `s` flags of ECMAScript; `undefined` when it has something that means other things there.
   */
  native: string | undefined;
  /**
   * A pattern in the syntax of RE2 that matches all that this one does and, where it is one-pass, shows that `native`
   * goes back no more than a bounded number of characters. Each group and each alternative of it captures, because RE2
   * does not simplify across captures: it makes `a+` of `(?:a+)+`, which the native matcher does not.
   */
  skeleton: string;
  /** Upper estimate of the instructions that it compiles to. */
  size: number;
  /** Longest of `literals`; empty when there is none. */
  literal: string;
  /** Texts that every match contains, one behind the other. */
  literals: readonly string[];
  /** Set when an inset of it captures. */
  captures: boolean;
}

/** The replacement of `%{...}` in a pattern. */
export interface Inset extends PatternText {
  /** Offset behind the closing brace. */
  end: number;
}

/** Instructions of a pattern, at most: they bound the memory of a match, and its steps a character. */
export const PATTERN_SIZE_MAX = 4_000;
/** Characters of a pattern as somebody writes it. */
export const PATTERN_CHARACTERS_MAX = 4_096;
/** Characters of a pattern with all its insets. */
const SOURCE_CHARACTERS_MAX = 65_536;
/** Source: RE2, which counts to 1,000. */
const REPEAT_MAX = 1_000;
const DEPTH_MAX = 100;

/** Groups that no automaton has: they need a memory of the match, or a look at text outside of it. */
const REFUSED_GROUPS: readonly (readonly [string, string])[] = [
  ['(?=', 'look-ahead (?=...)'],
  ['(?!', 'look-ahead (?!...)'],
  ['(?<=', 'look-behind (?<=...)'],
  ['(?<!', 'look-behind (?<!...)'],
  ['(?>', 'atomic group (?>...)'],
  ['(?P=', 'back-reference (?P=...)'],
  ['(?P>', 'recursion (?P>...)'],
  ['(?(', 'condition (?(...)...)'],
];

const NOT_SUPPORTED = ' is not supported: patterns run in linear time';

const REPEAT = /[*+?]|\{(\d+)(?:(,)(\d*))?\}/y;
const FLAGS = /\(\?([a-zA-Z-]+)([:)])/y;
const NUMERIC_ESCAPE = /\\(?:x(?:[0-9A-Fa-f]{2}|\{[0-9A-Fa-f]+\})|0[0-7]{0,2})/y;
const PROPERTY_ESCAPE = /\\[pP](?:\{[^}]*\}|[A-Za-z])/y;
/** Characters of RE2's `\s`; that of ECMAScript has more. */
const BLANKS = '\\t\\n\\f\\r ';

/** One open group: what it holds so far. */
interface Level {
  at: number;
  size: number;
  /** Size of the last atom, which a repeat behind it multiplies. */
  atomSize: number;
  captures: boolean;
  /** Set when the last atom captures. */
  atomCaptures: boolean;
  /** Set when there is an atom that a repeat could follow. */
  hasAtom: boolean;
}

function newLevel(at: number): Level {
  return { at, size: 1, atomSize: 0, captures: false, atomCaptures: false, hasAtom: false };
}

/**
 * Reads `pattern`, asking `insetAt` for what stands at each `%{`. Throws PatternError for what is not supported because
 * patterns run in linear time, and for what would compile to more than PATTERN_SIZE_MAX instructions.
 */
export function readPattern(pattern: string, insetAt?: (at: number) => Inset): PatternText {
  if (pattern.length > PATTERN_CHARACTERS_MAX) {
    throw new PatternError(
      `the pattern has ${pattern.length} characters, at most ${PATTERN_CHARACTERS_MAX} are allowed`,
      PATTERN_CHARACTERS_MAX,
    );
  }
  if (!pattern.isWellFormed()) throw new PatternError('the pattern is not well-formed Unicode', 0);
  return new PatternReader(pattern, insetAt).read();
}

/** Reads one pattern from its beginning to its end. */
class PatternReader {
  #pattern: string;
  #insetAt: ((at: number) => Inset) | undefined;
  #at = 0;
  #source = '';
  #native = '';
  #skeleton = '';
  #hasNative = true;
  #levels: Level[] = [newLevel(0)];
  #level: Level = this.#levels[0];
  /** Literal characters that stand side by side outside groups, and such texts before them. */
  #run: string[] = [];
  readonly #literals: string[] = [];
  /** Literals of the inset that was read last, while a repeat may follow it. */
  #insetLiterals: readonly string[] = [];
  #hasLiteral = true;

  constructor(pattern: string, insetAt: ((at: number) => Inset) | undefined) {
    this.#pattern = pattern;
    this.#insetAt = insetAt;
  }

  read(): PatternText {
    while (this.#at < this.#pattern.length) this.#readOne();
    if (this.#levels.length > 1) {
      throw new PatternError('the group "(" is not closed', this.#level.at);
    }
    this.#endRun();
    const literals = this.#hasLiteral ? this.#literals : [];
    return {
      source: this.#source,
      native: this.#hasNative ? this.#native : undefined,
      skeleton: `(${this.#skeleton})`,
      size: this.#level.size,
      literal: longest(literals),
      literals,
      captures: this.#level.captures,
    };
  }

  #readOne(): void {
    const pattern = this.#pattern;
    const at = this.#at;
    const character = pattern[at];
    if (character === '%' && pattern[at + 1] === '{' && this.#insetAt !== undefined) {
      this.#readInset(this.#insetAt(at));
    } else if (character === '\\') this.#readEscape();
    else if (character === '[') this.#readClass();
    else if (character === '(') this.#openGroup();
    else if (character === ')') this.#closeGroup();
    else if (character === '|') this.#readAlternative();
    else if (character === '^' || character === '$')
      this.#addAtom(character, `(?:${character})`, 1);
    else if (character === '.') this.#addAtom('.', '.', 1);
    else if (this.#matchAt(REPEAT) !== null) this.#readRepeat();
    else this.#addLiteral(String.fromCodePoint(pattern.codePointAt(at) ?? 0));
  }

  /** Match of a sticky expression at the place that is being read. */
  #matchAt(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    return expression.exec(this.#pattern);
  }

  #addAtom(source: string, native: string | undefined, size: number, sourceLength = 1): void {
    this.#endRun();
    this.#emit(source, native);
    this.#grow(size, false);
    this.#at += sourceLength;
  }

  #addLiteral(character: string, sourceLength = character.length): void {
    const escaped = /^[A-Za-z0-9 ]$/.test(character)
      ? character
      : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
    this.#emit(this.#pattern.slice(this.#at, this.#at + sourceLength), escaped);
    this.#grow(1, false);
    if (this.#insetLiterals.length > 0) this.#endRun();
    if (this.#levels.length === 1) this.#run.push(character);
    this.#at += sourceLength;
  }

  #emit(source: string, native: string | undefined, skeleton = source): void {
    this.#source += source;
    this.#skeleton += skeleton;
    if (native === undefined) this.#hasNative = false;
    else this.#native += native;
    if (this.#source.length > SOURCE_CHARACTERS_MAX) {
      throw new PatternError(
        `the pattern has more than ${SOURCE_CHARACTERS_MAX} characters with its rules put in`,
        this.#at,
      );
    }
  }

  #grow(size: number, captures: boolean): void {
    const level = this.#level;
    level.atomSize = size;
    level.atomCaptures = captures;
    level.hasAtom = true;
    level.captures ||= captures;
    this.#growBy(size);
  }

  #growBy(size: number): void {
    this.#level.size += size;
    if (this.#level.size > PATTERN_SIZE_MAX) {
      throw new PatternError(
        `the pattern is too large here: its parts, repeats multiplied out, are more than ${PATTERN_SIZE_MAX}`,
        this.#at,
      );
    }
  }

  #endRun(): void {
    if (this.#run.length > 0) this.#literals.push(this.#run.join(''));
    this.#literals.push(...this.#insetLiterals);
    this.#run.length = 0;
    this.#insetLiterals = [];
  }

  #readInset(inset: Inset): void {
    this.#endRun();
    // The inset's own group keeps what stands behind it from binding to its last part alone.
    this.#emit(
      `(?:${inset.source})`,
      inset.native === undefined ? undefined : `(?:${inset.native})`,
      `(${inset.skeleton})`,
    );
    this.#grow(inset.size + 1, inset.captures);
    if (this.#levels.length === 1) this.#insetLiterals = inset.literals;
    this.#at = inset.end;
  }

  #readEscape(): void {
    const at = this.#at;
    const letter = this.#pattern[at + 1];
    if (letter === undefined) throw new PatternError('the pattern ends with "\\"', at);
    if (/[1-9]/.test(letter) || letter === 'k' || letter === 'g') {
      throw new PatternError(`back-reference \\${letter}${NOT_SUPPORTED}`, at);
    }
    const long = this.#matchAt(NUMERIC_ESCAPE) ?? this.#matchAt(PROPERTY_ESCAPE);
    if (letter === 'Q') this.#readQuoted();
    else if (long !== null) this.#addAtom(long[0], undefined, 1, long[0].length);
    else if (/[A-Za-z]/.test(letter)) {
      this.#addAtom(`\\${letter}`, nativeEscape(letter), 1, 2);
    } else {
      const character = String.fromCodePoint(this.#pattern.codePointAt(at + 1) ?? 0);
      this.#addLiteral(character, 1 + character.length);
    }
  }

  /** `\Q...\E`: everything between stands for itself. */
  #readQuoted(): void {
    this.#at += 2;
    const end = this.#pattern.indexOf('\\E', this.#at);
    const quoted = this.#pattern.slice(this.#at, end < 0 ? undefined : end);
    for (const character of quoted) {
      const source = /[A-Za-z0-9]/.test(character)
        ? character
        : `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
      this.#addAtom(source, undefined, 1, character.length);
    }
    this.#at = end < 0 ? this.#pattern.length : end + 2;
  }

  #readClass(): void {
    const pattern = this.#pattern;
    const start = this.#at;
    let at = start + 1;
    let native: string | undefined = '[';
    if (pattern[at] === '^') {
      native += '^';
      at++;
    }
    for (let isFirst = true; pattern[at] !== ']' || isFirst; isFirst = false) {
      if (at >= pattern.length) throw new PatternError('the class "[" is not closed', start);
      if (pattern.startsWith('[:', at)) {
        const end = pattern.indexOf(':]', at);
        if (end > 0) {
          native = undefined;
          at = end + 2;
          continue;
        }
      }
      const isEscape = pattern[at] === '\\';
      if (isEscape && at + 1 >= pattern.length) {
        throw new PatternError('the pattern ends with "\\"', at);
      }
      if (isEscape) at++;
      const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
      const part = nativeInClass(character, isEscape);
      native = native === undefined || part === undefined ? undefined : native + part;
      at += character.length;
    }
    const source = pattern.slice(start, at + 1);
    this.#addAtom(source, native === undefined ? undefined : `${native}]`, 1, source.length);
  }

  #openGroup(): void {
    const pattern = this.#pattern;
    const at = this.#at;
    for (const [opening, name] of REFUSED_GROUPS) {
      if (pattern.startsWith(opening, at)) {
        throw new PatternError(`${name}${NOT_SUPPORTED}`, at);
      }
    }
    if (pattern.startsWith('(?P<', at) || pattern.startsWith('(?<', at)) {
      throw new PatternError(`a named group is not supported: write %{regex("..."):name}`, at);
    }
    let opening = '(?:';
    let length = 1;
    if (pattern[at + 1] === '?') {
      const flags = this.#matchAt(FLAGS);
      if (flags === null && pattern[at + 2] !== ':') {
        throw new PatternError(`unknown group "${pattern.slice(at, at + 3)}"`, at);
      }
      opening = flags === null ? '(?:' : flags[0];
      length = opening.length;
      if (flags !== null) {
        this.#checkFlags(flags[1]);
        if (flags[2] === ')') {
          this.#emitFlags(opening);
          return;
        }
      }
    }
    if (this.#levels.length > DEPTH_MAX) {
      throw new PatternError(`groups stand more than ${DEPTH_MAX} deep`, at);
    }
    this.#endRun();
    this.#emit(opening, '(?:', '((');
    this.#level = newLevel(at);
    this.#levels.push(this.#level);
    this.#at += length;
  }

  #checkFlags(flags: string): void {
    if (!/^[imsU]*(?:-[imsU]+)?$/.test(flags)) {
      throw new PatternError(`unknown flags "${flags}": allowed are i, m, s and U`, this.#at);
    }
    // What a literal matches, and what "." and "^" mean, depends on flags.
    this.#hasNative = false;
    this.#hasLiteral = false;
  }

  #emitFlags(opening: string): void {
    this.#endRun();
    this.#emit(opening, undefined);
    this.#level.hasAtom = false;
    this.#at += opening.length;
  }

  #closeGroup(): void {
    const inner = this.#level;
    if (this.#levels.length === 1) {
      throw new PatternError('")" closes no group', this.#at);
    }
    this.#levels.pop();
    this.#level = this.#levels[this.#levels.length - 1];
    this.#emit(')', ')', '))');
    this.#grow(inner.size, inner.captures);
    this.#at++;
  }

  #readAlternative(): void {
    this.#endRun();
    if (this.#levels.length === 1) this.#hasLiteral = false;
    this.#emit('|', '|', ')|(');
    this.#growBy(1);
    this.#level.hasAtom = false;
    this.#at++;
  }

  #readRepeat(): void {
    const at = this.#at;
    const repeat = this.#matchAt(REPEAT);
    if (repeat === null) return;
    const level = this.#level;
    if (!level.hasAtom) {
      throw new PatternError(`"${repeat[0]}" repeats nothing`, at);
    }
    const isCounted = repeat[1] !== undefined;
    const least = isCounted ? Number(repeat[1]) : repeat[0] === '+' ? 1 : 0;
    const most = repeat[2] === undefined ? least : Number(repeat[3]);
    if (least > REPEAT_MAX || most > REPEAT_MAX || (repeat[3] !== '' && most < least)) {
      throw new PatternError(
        `"${repeat[0]}": counts go from the smaller to the larger, up to ${REPEAT_MAX}`,
        at,
      );
    }
    // A capture inside forgets its last round in ECMAScript, and keeps it in RE2.
    const repeatsCapture = level.atomCaptures && repeat[0] !== '?';
    const isLazy = this.#pattern[at + repeat[0].length] === '?';
    const text = isLazy ? `${repeat[0]}?` : repeat[0];
    if (least === 0) {
      this.#run.pop();
      this.#insetLiterals = [];
    }
    this.#endRun();
    this.#at += text.length;
    this.#emit(text, repeatsCapture ? undefined : text);
    this.#growBy(isCounted ? level.atomSize * (Math.max(least, most, 1) - 1) + 1 : 1);
    if (this.#matchAt(REPEAT) !== null) {
      throw new PatternError(`two repeats in a row, and possessive ones, are not supported`, at);
    }
    level.hasAtom = false;
  }
}

/** The meaning of `\letter` under the `u` flag; `undefined` when it has none, or another one there. */
function nativeEscape(letter: string): string | undefined {
  if (letter === 's') return `[${BLANKS}]`;
  if (letter === 'S') return `[^${BLANKS}]`;
  // Only in a group may an assertion be repeated there.
  if (letter === 'b' || letter === 'B') return `(?:\\${letter})`;
  return /[dDwWtnrfv]/.test(letter) ? `\\${letter}` : undefined;
}

/** The meaning of a character of a class under the `u` flag. */
function nativeInClass(character: string, isEscape: boolean): string | undefined {
  if (isEscape && /[A-Za-z0-9]/.test(character)) {
    if (character === 's') return BLANKS;
    return /[dwtnrf]/.test(character) ? `\\${character}` : undefined;
  }
  if (character === '-' && !isEscape) return '-';
  if (/[A-Za-z0-9]/.test(character)) return character;
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Reports whether `text` has each of `literals`, one behind the other. */
export function hasLiterals(text: string, literals: readonly string[]): boolean {
  let at = 0;
  for (const literal of literals) {
    const found = text.indexOf(literal, at);
    if (found < 0) return false;
    at = found + literal.length;
  }
  return true;
}

function longest(texts: readonly string[]): string {
  return texts.reduce((most, text) => (text.length > most.length ? text : most), '');
}
