import { patternText, valueText } from '../../language/written.ts';

/** A part of a search that is written in the way of another language. */
export interface Habit {
  /** Its terms: the place of the first, and their number. */
  from: number;
  count: number;
  reason: string;
  /** Replacement for them. */
  try: string;
}

/** Text of a term of a search; it is `vain` when it finds no event alone. */
interface WrittenTerm {
  text: string;
  vain: boolean;
}

/** Writes a text in the way of the search language; `undefined` when it seems to be meant as it is. */
type Rewrite = (text: string) => string | undefined;

const NAME = String.raw`([\p{L}_@][\p{L}\p{N}_.@-]*)`;
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"|'[^']*'`;
const COMPARISON = new RegExp(`^${NAME} ?(==?|!=|<>|[<>]=?) ?(${QUOTED}|[^\\s'"()]+)$`, 'u');
const LIKE = new RegExp(`^${NAME} (not )?i?like (${QUOTED})$`, 'iu');
const LIST = new RegExp(`^${NAME} (not )?in \\(([^()]+)\\)$`, 'iu');
const WILDCARDS = new RegExp(`^(?:${NAME}:)?("(?:[^"\\\\]|\\\\.)*[*?](?:[^"\\\\]|\\\\.)*")$`, 'u');
const CHOICE = new RegExp(`^(?:${NAME}:)?([^\\s():"'/\\\\]+\\|[^\\s():"'/\\\\]+)$`, 'u');
/** Terms of which a habit may consist. */
const TERMS_MAX = 8;

/** Habits of other languages, each with what is wrong with it. */
const HABITS: readonly [rewrite: Rewrite, reason: string][] = [
  [comparison, 'is no comparison here'],
  [like, 'is no pattern here'],
  [list, 'is no list here'],
  [operator, 'looks for words of the message'],
];
/** Habits of texts that may as well be meant as they are: they are told when such a text finds nothing. */
const VAIN_HABITS: typeof HABITS = [
  [wildcards, 'has no wildcards, as they stand in quotes'],
  [choice, 'has no choice: "|" is a character here'],
];

/** Habits of other languages in terms that have to hold together. */
export function habitsOf(terms: readonly WrittenTerm[]): Habit[] {
  const texts = terms.map(({ text }) => text);
  const pipe = texts.indexOf('|');
  const end = pipe < 0 ? terms.length : pipe;
  const habits: Habit[] = [];
  for (let from = 0; from < end; ) {
    const habit = habitAt(terms.slice(0, end), from);
    if (habit !== undefined) habits.push(habit);
    from += habit?.count ?? 1;
  }
  if (pipe <= 0) return habits;
  const before = texts.slice(0, pipe).join(' ');
  return [...habits, { from: 0, count: terms.length, reason: 'has a pipe', try: before }];
}

/** The habit of the most terms that begins at a term. */
function habitAt(terms: readonly WrittenTerm[], from: number): Habit | undefined {
  for (let count = Math.min(terms.length - from, TERMS_MAX); count > 0; count--) {
    const some = terms.slice(from, from + count);
    const text = some.map((term) => term.text).join(' ');
    const isVain = count === 1 && terms[from].vain;
    for (const [rewrite, reason] of isVain ? [...HABITS, ...VAIN_HABITS] : HABITS) {
      const written = rewrite(text);
      if (written !== undefined) return { from, count, reason, try: written };
    }
  }
  return undefined;
}

/** `and`, `&&`, `!x`. */
function operator(text: string): string | undefined {
  if (/^(?:and|or|not)$/i.test(text)) return text.toUpperCase();
  if (text === '&&' || text === '||') return text === '&&' ? 'AND' : 'OR';
  const [, negated] = /^!([^!\s=]\S*| \(.*\))$/.exec(text) ?? [];
  return negated === undefined ? undefined : `NOT ${negated.trim()}`;
}

/** `a = b`, `a!=b`, `status>=500`. */
function comparison(text: string): string | undefined {
  const [, name, operator, right] = COMPARISON.exec(text) ?? [];
  if (name === undefined) return undefined;
  const value = isQuoted(right) ? valueText(unquoted(right)) : right;
  if (operator.startsWith('=')) return `${name}:${value}`;
  return operator === '!=' || operator === '<>'
    ? `NOT ${name}:${value}`
    : `${name}:${operator}${value}`;
}

/** `a like '%x_'`. */
function like(text: string): string | undefined {
  const [, name, not, pattern] = LIKE.exec(text) ?? [];
  if (name === undefined) return undefined;
  const value = patternText(unquoted(pattern), { '%': '*', _: '?' });
  return `${not === undefined ? '' : 'NOT '}${name}:${value}`;
}

/** `a in (b, 'c')`. */
function list(text: string): string | undefined {
  const [, name, not, values] = LIST.exec(text) ?? [];
  if (name === undefined) return undefined;
  const parts = values.split(',').map((part) => valueText(unquoted(part.trim())));
  return `${not === undefined ? '' : 'NOT '}${name}:(${parts.join(' OR ')})`;
}

/** `a:"x*"`, `"x*"`. */
function wildcards(text: string): string | undefined {
  const [, name, quoted] = WILDCARDS.exec(text) ?? [];
  if (quoted === undefined) return undefined;
  const pattern = patternText(unquoted(quoted), { '*': '*', '?': '?' });
  return name === undefined ? pattern : `${name}:${pattern}`;
}

/** `a|b`, `level:a|b`. */
function choice(text: string): string | undefined {
  const [, name, values] = CHOICE.exec(text) ?? [];
  if (values === undefined) return undefined;
  const either = `(${values.split('|').filter(Boolean).join(' OR ')})`;
  return name === undefined ? either : `${name}:${either}`;
}

function isQuoted(text: string): boolean {
  return text.startsWith('"') || text.startsWith("'");
}

/** The text in quotes of either kind; one without quotes as it is. */
function unquoted(text: string): string {
  if (text.startsWith('"')) return text.slice(1, -1).replace(/\\(.)/g, '$1');
  return text.startsWith("'") ? text.slice(1, -1) : text;
}
