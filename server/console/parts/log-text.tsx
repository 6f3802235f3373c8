import type { ComponentChildren } from 'preact';
import type { ListedEvent } from '../api/contract.ts';
import { ExactNumber, type Json, textOf } from '../api/exact.ts';

/** Texts of events on the screen. They are never markup: each piece is a text node. */

/** Characters of a text in a row; what is open shows more. */
export const ROW_CHARACTERS = 2_000;
const BRIEF_CHARACTERS = 200;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const ANSI = /\u001b\[([\d;]*)m/g;
// Characters that would change how those around them are shown, and those that show nothing.
const HIDDEN = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

interface Styled {
  readonly text: string;
  readonly style: string;
}

/** A text with the matches of words marked, and with the colours that terminals would show. */
export function LogText({ text, words, max = ROW_CHARACTERS }: LogTextProps) {
  const cut = text.length > max ? text.slice(0, max) : text;
  const pieces = cut.includes('\u001b[') ? styledPieces(cut) : [{ text: cut, style: '' }];
  const pattern = patternOf(words);
  return (
    <>
      {pieces.map((piece) =>
        piece.style === '' ? (
          marked(piece.text, pattern)
        ) : (
          <span class={piece.style}>{marked(piece.text, pattern)}</span>
        ),
      )}
    </>
  );
}

interface LogTextProps {
  text: string;
  words: readonly string[];
  max?: number;
}

let lastWords: readonly string[] = [];
let lastPattern: RegExp | undefined;

function patternOf(words: readonly string[]): RegExp | undefined {
  if (words === lastWords) return lastPattern;
  lastWords = words;
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  lastPattern = escaped.length === 0 ? undefined : new RegExp(escaped.join('|'), 'giu');
  return lastPattern;
}

function marked(text: string, pattern: RegExp | undefined): ComponentChildren {
  if (pattern === undefined) return visible(text);
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > from) parts.push(visible(text.slice(from, match.index)));
    parts.push(<mark>{visible(match[0])}</mark>);
    from = match.index + match[0].length;
  }
  parts.push(visible(text.slice(from)));
  return parts;
}

/** A text in which characters that show nothing, or turn others around, are told by their numbers. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    if (character === '\n' || character === '\t') return character;
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

/** The begin of a text for a place that has room for a few words. */
export function brief(text: string): string {
  return text.length <= BRIEF_CHARACTERS
    ? visible(text)
    : `${visible(text.slice(0, BRIEF_CHARACTERS))}…`;
}

/** The name of an attribute as it is shown: without `custom.`. */
export function shownName(path: string): string {
  return visible(path.replace(/^custom\./, '')) || '""';
}

function styledPieces(text: string): Styled[] {
  const pieces: Styled[] = [];
  let style = '';
  let from = 0;
  for (const match of text.matchAll(ANSI)) {
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), style });
    style = styleAfter(style, match[1] ?? '');
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), style });
  return pieces;
}

/** The classes behind a sequence that sets colours. Source: ECMA-48, SGR. */
function styleAfter(style: string, codes: string): string {
  let classes = style === '' ? [] : style.split(' ');
  for (const code of codes.split(';').map(Number)) {
    const colour = COLOURS[code >= 90 ? code - 90 : code - 30];
    if (code === 0) classes = [];
    else if (code === 1) classes.push('ansi-bold');
    else if (code === 39) classes = classes.filter((name) => !isColour(name));
    else if (code === 22) classes = classes.filter((name) => name !== 'ansi-bold');
    else if (((code >= 30 && code < 38) || (code >= 90 && code < 98)) && colour !== undefined) {
      classes = [...classes.filter((name) => !isColour(name)), `ansi-${colour}`];
    }
  }
  return classes.join(' ');
}

function isColour(name: string): boolean {
  return COLOURS.some((colour) => name === `ansi-${colour}`);
}

/** The line of an event without a message: its attributes, one after the other. */
export function summaryOf(event: Json | undefined): string {
  const parts: string[] = [];
  let length = 0;
  for (const { path, value } of leavesOf(event)) {
    const part = `${path.replace(/^custom\./, '')}=${textOf(value)}`;
    parts.push(part);
    length += part.length;
    if (length > 600) break;
  }
  return parts.join('  ');
}

/** An attribute that is no object. */
export interface Leaf {
  readonly path: string;
  readonly value: Json;
}

/** The attributes of an event, in its order; arrays of plain values are one. */
export function* leavesOf(value: Json | undefined, path = ''): Generator<Leaf> {
  const isInner =
    value !== null &&
    typeof value === 'object' &&
    !(value instanceof ExactNumber) &&
    !Array.isArray(value);
  if (!isInner) {
    if (value !== undefined && path !== '') yield { path, value };
    return;
  }
  const members = Object.entries(value);
  if (members.length === 0 && path.includes('.')) yield { path, value };
  for (const [name, member] of members) {
    yield* leavesOf(member, path === '' ? name : `${path}.${name}`);
  }
}

/** The value at a path of an event. */
export function valueAt(event: Json | undefined, path: string): Json | undefined {
  for (const leaf of leavesOf(event)) if (leaf.path === path) return leaf.value;
  return undefined;
}

/** The line that stands for an event. */
export function lineOf({ event }: ListedEvent): string {
  const json = event as Json | undefined;
  const message = valueAt(json, 'message');
  return typeof message === 'string' && message !== '' ? message : summaryOf(json);
}
