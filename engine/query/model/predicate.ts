/**
 * A filter as a tree. Made by the server from search text, field filters and security filters; the engine knows
 * rows and columns only. Plain data: it crosses threads.
 *
 * `paths` are dotted attribute paths (`custom.http.status_code`, `syslog.appname`, `message`), each an alternative:
 * a leaf holds when it holds for one of them. A path names all columns under it, whatever their kinds, and all
 * attributes whose names joined by dots are that text. Arrays match when an element does. NULL counts as missing.
 * Source: INTERFACE.md 4.3 and 10.
 */
export type Predicate =
  | { type: 'all' }
  | { type: 'none' }
  | { type: 'and'; children: Predicate[] }
  | { type: 'or'; children: Predicate[] }
  | { type: 'not'; child: Predicate }
  /** The words one after the other in `message`, whole words, case-insensitively (they come lower-cased). */
  | { type: 'words'; words: WordPattern[] }
  | { type: 'value'; paths: string[]; match: ValueMatch }
  /** A value of any attribute, or `message`. */
  | { type: 'anywhere'; match: ValueMatch }
  /** Something that is not null is there; an object with something in it is there too. */
  | { type: 'exists'; paths: string[] }
  | { type: 'range'; paths: string[]; from?: RangeEnd; to?: RangeEnd };

/**
 * A word as literal pieces between wildcards. A word is a maximal run of Unicode letters, digits and `_`.
 * Without wildcard: one piece.
 */
export type WordPattern = Pattern;

/** Literal text with wildcards: `*` any run (maybe empty), `?` exactly one character (code point). */
export type Pattern = ({ literal: string } | { wildcard: '*' | '?' })[];

/**
 * How a value is compared. `text`: with the value's text, case-sensitive; a number also when the text is a number
 * equal to it ("200" = 200 = 200.0), a boolean with `true` / `false`, a date with its text. `pattern`: with the text;
 * one that `ignoresCase` takes `A` to `Z` and `a` to `z` for the same. `words`: the text has them one after the other,
 * as those of `message`; the text of a number is as it was written. `regex`: the whole text is as a pattern says that
 * `readPattern` reads; with numbers as they were written.
 */
export type ValueMatch =
  | { type: 'text'; text: string }
  | { type: 'pattern'; pattern: Pattern; ignoresCase?: boolean }
  | { type: 'words'; words: WordPattern[] }
  | { type: 'regex'; source: string };

/**
 * An end of a range. Compared as numbers with numbers and numeric strings when `number` is given;
 * otherwise as text, by code points, with strings that are not numeric and dates.
 */
export interface RangeEnd {
  text: string;
  number?: number;
  inclusive: boolean;
}
