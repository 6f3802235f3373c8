import { PatternError } from '../../engine/base/pattern-text.ts';

/** A rule as somebody wrote it. */
export interface GrokRule {
  name: string;
  pattern: string;
  /** The text that it stands in, as its messages call it. */
  place: 'rules' | 'helper rules';
  /** Line in that text, from 1. */
  line: number;
}

/** An argument of a matcher or a filter: a quoted string, a number, or a filter of its own. */
export type GrokArgument =
  | { kind: 'string'; text: string; at: number }
  | { kind: 'number'; value: number; at: number }
  | { kind: 'call'; call: GrokCall; at: number };

/** A matcher or a filter with its arguments. */
export interface GrokCall {
  name: string;
  arguments: readonly GrokArgument[];
  /** Offset in the pattern. */
  at: number;
}

/** Parts of `%{matcher:name:filter}` in a pattern. */
export interface GrokReference {
  matcher: GrokCall;
  /** Attribute that the matched text goes to; empty when it is not kept, or the filter's attributes stand alone. */
  extract: string;
  filter: GrokCall | undefined;
  /** Offset behind the closing brace. */
  end: number;
}

/** The fault of a text of rules. Source: INTERFACE.md 11. */
export class GrokError extends Error {
  /** Line of the rules or the helper rules, from 1. */
  readonly line: number;
  /** Character of the rule's pattern, from 1. */
  readonly character: number;

  constructor(rule: GrokRule, message: string, at: number) {
    const character = at + 1;
    super(
      `rule "${rule.name}" (line ${rule.line} of the ${rule.place}), character ${character}: ${message}`,
    );
    this.name = 'GrokError';
    this.line = rule.line;
    this.character = character;
  }
}

const RULES_MAX = 100;
const RULES_CHARACTERS_MAX = 65_536;
const EXTRACT_BYTES_MAX = 256;
const ARGUMENTS_MAX = 8;
const CALL_DEPTH_MAX = 3;

const RULE_LINE = /^\s*(\S+)\s+(.*?)\s*$/su;
const RULE_NAME = /^[\w.-]{1,100}$/;
const CALL_NAME = /[A-Za-z_][\w.-]*/y;
const EXTRACT_NAME = /[^\s:{}()"',]*/uy;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const BLANKS = /\s*/y;

/**
 * Splits a text with a rule a line: a name, blanks, a pattern. Blank lines and those that begin with `#` are skipped.
 * Throws GrokError.
 */
export function splitRules(text: string, place: GrokRule['place']): GrokRule[] {
  const rules: GrokRule[] = [];
  const lines = text.split(/\r?\n/);
  for (const [index, written] of lines.entries()) {
    if (written.trim() === '' || written.trimStart().startsWith('#')) continue;
    const found = RULE_LINE.exec(written);
    const name = found?.[1] ?? written.trim();
    const rule: GrokRule = { name, pattern: found?.[2] ?? '', place, line: index + 1 };
    if (text.length > RULES_CHARACTERS_MAX) {
      const message = `the ${place} have ${text.length} characters, at most ${RULES_CHARACTERS_MAX} are allowed`;
      throw new GrokError({ ...rule, name: name.slice(0, 100) }, message, 0);
    }
    if (!RULE_NAME.test(name)) {
      throw new GrokError(
        { ...rule, name: name.slice(0, 100) },
        'a rule begins with its name: 1 to 100 letters, digits, "_", "." or "-", then a blank and its pattern',
        0,
      );
    }
    if (rule.pattern === '') {
      throw new GrokError(rule, 'a blank and a pattern are expected behind the name', 0);
    }
    if (rules.length === RULES_MAX) {
      throw new GrokError(rule, `at most ${RULES_MAX} ${place} are allowed`, 0);
    }
    rules.push(rule);
  }
  return rules;
}

/** Reads the `%{...}` that begins at `at` of `pattern`. Throws PatternError. */
export function readReference(pattern: string, at: number): GrokReference {
  return new ReferenceReader(pattern, at).read();
}

class ReferenceReader {
  #pattern: string;
  #start: number;
  #at: number;

  constructor(pattern: string, at: number) {
    this.#pattern = pattern;
    this.#start = at;
    this.#at = at + 2;
  }

  read(): GrokReference {
    const matcher = this.#readCall('a matcher or a rule', 0);
    let extract = '';
    let filter: GrokCall | undefined;
    if (this.#take(':')) {
      extract = this.#readExtract();
      if (this.#take(':')) filter = this.#readCall('a filter', 0);
    }
    if (!this.#take('}')) this.#expected('":" or "}"');
    if (matcher.name === '') this.#expected('a matcher');
    return { matcher, extract, filter, end: this.#at };
  }

  #readExtract(): string {
    const at = this.#at;
    const name = this.#takeMatch(EXTRACT_NAME);
    if (Buffer.byteLength(name) > EXTRACT_BYTES_MAX) {
      throw new PatternError(
        `the attribute's name has more than ${EXTRACT_BYTES_MAX} bytes: "${name.slice(0, 40)}..."`,
        at,
      );
    }
    if (name.split('.').includes('') && name !== '') {
      throw new PatternError(
        `the attribute's name "${name}" has an empty step between its dots`,
        at,
      );
    }
    return name;
  }

  #readCall(what: string, depth: number): GrokCall {
    this.#takeMatch(BLANKS);
    const at = this.#at;
    const name = this.#takeMatch(CALL_NAME);
    if (name === '') this.#expected(`the name of ${what}`);
    if (depth > CALL_DEPTH_MAX) {
      throw new PatternError(`filters stand more than ${CALL_DEPTH_MAX} deep in each other`, at);
    }
    const list: GrokArgument[] = [];
    if (!this.#take('(')) return { name, arguments: list, at };
    while (!this.#take(')')) {
      if (list.length > 0 && !this.#take(',')) this.#expected('"," or ")"');
      if (list.length === ARGUMENTS_MAX) {
        throw new PatternError(`${name} takes at most ${ARGUMENTS_MAX} arguments`, this.#at);
      }
      list.push(this.#readArgument(depth));
    }
    return { name, arguments: list, at };
  }

  #readArgument(depth: number): GrokArgument {
    this.#takeMatch(BLANKS);
    const at = this.#at;
    const first = this.#pattern[at];
    if (first === '"' || first === "'")
      return { kind: 'string', text: this.#readString(first), at };
    const number = this.#takeMatch(NUMBER);
    if (number !== '') return { kind: 'number', value: Number(number), at };
    return {
      kind: 'call',
      call: this.#readCall('a filter, a number or a quoted text', depth + 1),
      at,
    };
  }

  /**
   * Reads a quoted text. A backslash escapes its quote alone and stands unchanged elsewhere, since most such texts
   * are patterns.
   */
  #readString(quote: string): string {
    const start = this.#at;
    let text = '';
    for (let at = start + 1; at < this.#pattern.length; at++) {
      const character = this.#pattern[at];
      const next = this.#pattern[at + 1];
      if (character === quote) {
        this.#at = at + 1;
        return text;
      }
      if (character === '\\' && next !== undefined) {
        text += next === quote ? quote : character + next;
        at++;
      } else text += character;
    }
    throw new PatternError(`the text that begins with ${quote} is not closed`, start);
  }

  #take(character: string): boolean {
    this.#takeMatch(BLANKS);
    if (this.#pattern[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #takeMatch(expression: RegExp): string {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#pattern)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #expected(what: string): never {
    const found = this.#pattern[this.#at];
    const instead = found === undefined ? 'the pattern ends' : `"${found}" stands there`;
    const reference = this.#pattern.slice(this.#start, this.#start + 40);
    throw new PatternError(`${what} is expected in "${reference}", but ${instead}`, this.#at);
  }
}
