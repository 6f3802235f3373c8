/** A number whose digits no double has, as it was written. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return rawJson?.(this.text) ?? Number(this.text);
  }
}

/** A value of parsed JSON. */
export type Json =
  | null
  | boolean
  | number
  | string
  | ExactNumber
  | Json[]
  | { [name: string]: Json };

type Reviver = (name: string, value: unknown, context?: { source?: string }) => unknown;

// Not in the types of the platform yet.
const rawJson = (JSON as unknown as { rawJSON?: (text: string) => unknown }).rawJSON;
const MAYBE_INEXACT = /[\d.]{16}|\d[eE][+-]?\d|\d\.\d*0[,\]}\s]|-0[,\]}\s]/;

/** Parses JSON so that numbers keep the text that was sent where a double would print another one. */
export function parseExact(text: string): unknown {
  if (!MAYBE_INEXACT.test(text)) return JSON.parse(text);
  const revive: Reviver = (_name, value, context) => {
    const source = context?.source;
    return typeof value === 'number' && source !== undefined && String(value) !== source
      ? new ExactNumber(source)
      : value;
  };
  return JSON.parse(text, revive);
}

/** The text of a single value: strings as they are, all else as JSON. */
export function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (value === undefined) return '';
  return value instanceof ExactNumber ? value.text : printJson(value);
}

/** JSON text of a value, with the digits that were sent; `indent` blanks a level. */
export function printJson(value: Json, indent = 0, level = 0): string {
  if (value instanceof ExactNumber) return value.text;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const parts = Array.isArray(value)
    ? value.map((each) => printJson(each, indent, level + 1))
    : Object.entries(value).map(
        ([name, each]) =>
          `${JSON.stringify(name)}:${indent > 0 ? ' ' : ''}${printJson(each, indent, level + 1)}`,
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (parts.length === 0 || indent === 0) return `${open}${parts.join(',')}${close}`;
  const blanks = ' '.repeat(indent * (level + 1));
  return `${open}\n${blanks}${parts.join(`,\n${blanks}`)}\n${' '.repeat(indent * level)}${close}`;
}
