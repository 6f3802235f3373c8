import { Pattern } from '../../engine/base/pattern.ts';
import type { PatternText } from '../../engine/base/pattern-text.ts';
import { PatternError, readPattern } from '../../engine/base/pattern-text.ts';
import { DatePattern, DatePatternError } from './date-pattern.ts';
import type { ExtractedValue } from './extraction.ts';
import { NumberText } from './extraction.ts';
import type { GrokArgument, GrokCall } from './grok-rule.ts';

/** A value that was extracted from `text`, at `nowMs`; the text itself when it means no value of the kind. */
export type Conversion = (text: string, nowMs: number) => ExtractedValue;

/** Pattern of a `%{matcher}` and the value that it gives an attribute. */
export interface Matcher {
  read: PatternText;
  /** `undefined`: the text as it is. */
  convert: Conversion | undefined;
}

type PlainMatcher = readonly [string, (Conversion | undefined)?, string?];

/** 0 to 255, written so that each digit leaves one way to go on. */
const OCTET = '(?:0|1(?:[0-9][0-9]?)?|2(?:[0-4][0-9]?|5[0-5]?|[6-9])?|[3-9][0-9]?)';
const IPV4 = `${OCTET}(?:\\.${OCTET}){3}`;
const HEX = '[0-9A-Fa-f]{1,4}';
/** Source: RFC 4291 section 2.2. How many groups stand on both sides of `::` is not counted. */
const IPV6_FORMS = [
  `(?:${HEX}:){7}${HEX}`,
  `(?:${HEX}(?::${HEX}){0,6})?::(?:${HEX}(?::${HEX}){0,6})?`,
  `(?:(?:${HEX}:){6}|(?:${HEX}(?::${HEX}){0,4})?::(?:${HEX}:){0,5})${IPV4}`,
];
/** IPv6 addresses, with the zone of RFC 4007. */
const IPV6 = `(?:${IPV6_FORMS.join('|')})(?:%[0-9A-Za-z._~\\-]+)?`;
/** Names of the domain system, and of containers, which have underscores. Source: RFC 1123 section 2.1. */
const HOSTNAME = '[A-Za-z0-9_][A-Za-z0-9_.\\-]*';
const DOUBLE_QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
const SINGLE_QUOTED = "'(?:[^'\\\\]|\\\\.)*'";
const NUMBER = '[+\\-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)';
const INTEGER = '[+\\-]?[0-9]+';
const EXPONENT = '(?:[eE][+\\-]?[0-9]+)?';

/**
 * Outlines (PatternText) of addresses. They hold as such because there is one way at most to read a text as an address,
 * and but for a name it has a bounded length, so that what goes back within an address does so a bounded number of
 * times.
 */
const IPV6_OUTLINE = '[0-9A-Fa-f:.]+(?:%[0-9A-Za-z._~\\-]+)?';
const HOST_OUTLINE = '[0-9A-Za-z_:.\\-]+(?:%[0-9A-Za-z._~\\-]+)?';

/** Matchers without arguments: their pattern, conversion and skeleton. */
const PLAIN_MATCHERS: readonly (readonly [string, PlainMatcher])[] = [
  ['data', ['.*']],
  ['word', ['\\w+']],
  ['notSpace', ['\\S+']],
  ['number', [NUMBER, toNumber]],
  ['numberStr', [NUMBER]],
  ['numberExt', [`${NUMBER}${EXPONENT}`, toNumber]],
  ['numberExtStr', [`${NUMBER}${EXPONENT}`]],
  ['integer', [INTEGER, toNumber]],
  ['integerStr', [INTEGER]],
  ['integerExt', [`${INTEGER}${EXPONENT}`, toNumber]],
  ['integerExtStr', [`${INTEGER}${EXPONENT}`]],
  ['ip', [`${IPV4}|${IPV6}`, undefined, IPV6_OUTLINE]],
  ['ipv4', [IPV4]],
  ['ipv6', [IPV6, undefined, IPV6_OUTLINE]],
  ['hostname', [HOSTNAME]],
  // An IPv4 address is a name too, by its characters; one with a colon is not.
  ['ipOrHost', [`${HOSTNAME}|${IPV6}`, undefined, HOST_OUTLINE]],
  ['port', ['[0-9]{1,5}', toNumber]],
  ['mac', ['[0-9A-Fa-f]{2}(?:(?:[:\\-][0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(?:\\.[0-9A-Fa-f]{4}){2})']],
  ['uuid', ['[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}']],
  ['quotedString', [`${DOUBLE_QUOTED}|${SINGLE_QUOTED}`, unquoted]],
  ['doubleQuotedString', [DOUBLE_QUOTED, unquoted]],
  ['singleQuotedString', [SINGLE_QUOTED, unquoted]],
];
const PLAIN = new Map(PLAIN_MATCHERS);

/** Names of all matchers. */
export const MATCHER_NAMES: readonly string[] = [...PLAIN.keys(), 'boolean', 'date', 'regex'];

/** Patterns of matchers without arguments, read once. */
const plainTexts = new Map<string, PatternText>();

/** The matcher that `call` names; `undefined` when there is none of that name. Throws PatternError. */
export function matcherOf(call: GrokCall): Matcher | undefined {
  const plain = PLAIN.get(call.name);
  if (plain !== undefined) {
    stringsOf(call, 0, 0);
    let read = plainTexts.get(call.name);
    if (read === undefined) {
      const [pattern, , skeleton] = plain;
      read = readPattern(pattern);
      if (skeleton !== undefined) read = { ...read, skeleton };
      plainTexts.set(call.name, read);
    }
    return { read, convert: plain[1] };
  }
  if (call.name === 'boolean') return booleanMatcher(call);
  if (call.name === 'regex') {
    const [pattern] = stringsOf(call, 1, 1);
    return { read: readAt(pattern, call.arguments[0]), convert: undefined };
  }
  if (call.name !== 'date') return undefined;
  const dates = datePatternOf(call);
  const convert: Conversion = (text, nowMs) => dates.parse(text, nowMs) ?? text;
  return { read: readAt(dates.source, call.arguments[0]), convert };
}

/** The date pattern of `date("pattern", "zone", "locale")`. Throws PatternError. */
export function datePatternOf(call: GrokCall): DatePattern {
  const [pattern, timezone, locale] = stringsOf(call, 1, 3);
  try {
    return new DatePattern(pattern, timezone, locale);
  } catch (cause) {
    if (cause instanceof DatePatternError) throw new PatternError(cause.message, call.at);
    throw cause;
  }
}

/** The quoted arguments of `call`, which takes from `least` to `most` of them. Throws PatternError. */
export function stringsOf(call: GrokCall, least: number, most: number): string[] {
  const list = call.arguments;
  if (list.length < least || list.length > most) {
    const allowed = least === most ? `${least}` : `${least} to ${most}`;
    throw new PatternError(`${call.name} takes ${allowed} arguments, not ${list.length}`, call.at);
  }
  return list.map((argument) => {
    if (argument.kind === 'string') return argument.text;
    throw new PatternError(`an argument of ${call.name} is a quoted text`, argument.at);
  });
}

/** `text` as a number that shows as it is written, but for what JSON does not write; the text when it is none. */
export function toNumber(text: string): ExtractedValue {
  const found = /^([+-]?)(\d*)(?:\.(\d*))?([eE][+-]?\d+)?$/.exec(text);
  if (found === null) return text;
  const [, sign, written, fraction = '', exponent = ''] = found;
  if (written === '' && fraction === '') return text;
  const whole = written.replace(/^0+(?=\d)/, '') || '0';
  const behindPoint = fraction === '' ? '' : `.${fraction}`;
  return new NumberText(`${sign === '-' ? '-' : ''}${whole}${behindPoint}${exponent}`);
}

function unquoted(text: string): string {
  return text.slice(1, -1);
}

function booleanMatcher(call: GrokCall): Matcher {
  const [whenTrue = '[Tt][Rr][Uu][Ee]', whenFalse = '[Ff][Aa][Ll][Ss][Ee]'] = stringsOf(call, 0, 2);
  const trueText = readAt(whenTrue, call.arguments[0]);
  readAt(whenFalse, call.arguments[1]);
  const pattern = new Pattern(trueText);
  return {
    read: readAt(`(?:${whenTrue})|(?:${whenFalse})`, call.arguments[0]),
    convert: (text) => {
      const isTrue = pattern.match(text);
      pattern.forget();
      return isTrue;
    },
  };
}

/** Reads the pattern of an argument; its errors are at the argument. */
function readAt(pattern: string, argument: GrokArgument | undefined): PatternText {
  try {
    return readPattern(pattern);
  } catch (cause) {
    if (!(cause instanceof PatternError) || argument === undefined) throw cause;
    throw new PatternError(cause.message, argument.at + 1 + cause.at);
  }
}
