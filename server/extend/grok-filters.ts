import { PatternError } from '../../engine/base/pattern-text.ts';
import { EmbeddedJsonExtractor } from './embedded-json.ts';
import type { Attributes, ExtractedValue, Extractor } from './extraction.ts';
import { NumberText } from './extraction.ts';
import { datePatternOf, matcherOf, stringsOf, toNumber } from './grok-matchers.ts';
import { PairFilter } from './grok-pairs.ts';
import type { GrokCall } from './grok-rule.ts';
import { KeyValueExtractor } from './keyvalue.ts';
import { QueryStringExtractor } from './query-string.ts';
import { UrlExtractor } from './url.ts';
import { UserAgentExtractor } from './user-agent.ts';

/**
 * Makes another value of one that was matched as `text`; `undefined` for none. A value that it cannot be applied to
 * comes back as it is, so that nothing of a text is lost. Never throws.
 */
export type Filter = (
  value: ExtractedValue,
  text: string,
  nowMs: number,
) => ExtractedValue | undefined;

/** Items of an array or columns of a line, at most: those behind stay in the last one. */
const ITEMS_MAX = 1_000;

const FILTERS: ReadonlyMap<string, (call: GrokCall) => Filter> = new Map([
  ['number', plain((value, text) => (value === text ? toNumber(text) : value))],
  ['integer', plain((value, text) => (/^[+-]?\d+$/.test(text) ? toNumber(text) : value))],
  ['boolean', booleanFilter],
  ['json', (call) => extracting(call, new EmbeddedJsonExtractor())],
  ['keyvalue', keyvalueFilter],
  ['lowercase', plain((_value, text) => text.toLowerCase())],
  ['uppercase', plain((_value, text) => text.toUpperCase())],
  ['scale', scaleFilter],
  ['nullIf', nullIfFilter],
  ['querystring', (call) => extracting(call, new QueryStringExtractor())],
  ['url', (call) => extracting(call, new UrlExtractor())],
  ['useragent', (call) => extracting(call, new UserAgentExtractor())],
  ['date', dateFilter],
  ['array', arrayFilter],
  ['decodeuricomponent', plain(decoded)],
  ['csv', csvFilter],
]);

/** Filters of other products that this one has not, with what is said about them. */
const MISSING: ReadonlyMap<string, string> = new Map([
  ['xml', 'filter xml is not supported: extract what is needed by rules'],
  ['rubyhash', 'filter rubyhash is not supported: keyvalue("=>") reads most such texts'],
  ['geoip', 'filter geoip is not supported: there is no database of addresses'],
]);

/** Filters whose attributes can stand alone, without a name. */
const OF_ATTRIBUTES = new Set(['json', 'keyvalue', 'querystring', 'url', 'useragent', 'csv']);

/** Names of all filters. */
export const FILTER_NAMES: readonly string[] = [...FILTERS.keys()];

/** The filter that `call` names; `undefined` when there is none of that name. Throws PatternError. */
export function filterOf(call: GrokCall): Filter | undefined {
  const missing = MISSING.get(call.name);
  if (missing !== undefined) throw new PatternError(missing, call.at);
  return FILTERS.get(call.name)?.(call);
}

/** Reports whether a filter gives attributes, which need no name to stand under. */
export function givesAttributes(name: string): boolean {
  return OF_ATTRIBUTES.has(name);
}

function plain(filter: Filter): (call: GrokCall) => Filter {
  return (call) => {
    stringsOf(call, 0, 0);
    return filter;
  };
}

function extracting(call: GrokCall, extractor: Extractor): Filter {
  stringsOf(call, 0, 0);
  return (value, text) => extractor.extract(text)?.attributes ?? value;
}

function booleanFilter(call: GrokCall): Filter {
  const matcher = matcherOf(call);
  const convert = matcher?.convert;
  const isEither = /^(?:true|false)$/i;
  const hasArguments = call.arguments.length > 0;
  return (value, text, nowMs) =>
    convert !== undefined && (hasArguments || isEither.test(text)) ? convert(text, nowMs) : value;
}

function keyvalueFilter(call: GrokCall): Filter {
  const [separator, characters = '', quotes = '', delimiters = ''] = stringsOf(call, 0, 4);
  if (separator === undefined) return extracting(call, new KeyValueExtractor());
  if (separator === '') {
    throw new PatternError('the separator of keyvalue is empty', call.at);
  }
  if (quotes.length % 2 !== 0) {
    throw new PatternError(
      `the quotes of keyvalue are pairs of characters, such as "<>", not "${quotes}"`,
      call.at,
    );
  }
  const pairs = new PairFilter(unescaped(separator), characters, quotes, unescaped(delimiters));
  return (value, text) => {
    const found = pairs.read(text);
    return found.size === 0 ? value : found;
  };
}

function scaleFilter(call: GrokCall): Filter {
  const [factor] = call.arguments;
  if (factor?.kind !== 'number' || call.arguments.length !== 1) {
    throw new PatternError('scale takes one number, such as scale(0.001)', call.at);
  }
  return (value, text) => {
    if (!(toNumber(text) instanceof NumberText)) return value;
    // 15 digits are what a double keeps: 0.003 * 1000 is 3 by them.
    const scaled = Number((Number(text) * factor.value).toPrecision(15));
    return Number.isFinite(scaled) ? scaled : value;
  };
}

function nullIfFilter(call: GrokCall): Filter {
  const [none] = stringsOf(call, 1, 1);
  return (value, text) => (text === none ? undefined : value);
}

function dateFilter(call: GrokCall): Filter {
  const dates = datePatternOf(call);
  return (value, text, nowMs) => dates.parse(text, nowMs) ?? value;
}

function decoded(value: ExtractedValue, text: string): ExtractedValue {
  try {
    return decodeURIComponent(text);
  } catch {
    return value;
  }
}

/** `array()`, `array(sep)`, `array(openclose, sep)`, each with a filter for the items behind. */
function arrayFilter(call: GrokCall): Filter {
  const list = [...call.arguments];
  const last = list.at(-1);
  let itemFilter: Filter | undefined;
  if (last?.kind === 'call') {
    list.pop();
    itemFilter = filterOf(last.call);
    if (itemFilter === undefined) {
      throw new PatternError(`unknown filter "${last.call.name}"`, last.at);
    }
  }
  const strings = stringsOf({ ...call, arguments: list }, 0, 2);
  const separator = unescaped(strings.at(-1) ?? ',');
  const brackets = strings.length === 1 ? '' : (strings[0] ?? '[]');
  if (separator === '') throw new PatternError('the separator of array is empty', call.at);
  if (brackets.length % 2 !== 0) {
    throw new PatternError(
      `the brackets of array are an opening and a closing text of one length, such as "[]", not "${brackets}"`,
      call.at,
    );
  }
  const opening = brackets.slice(0, brackets.length / 2);
  const closing = brackets.slice(brackets.length / 2);
  return (value, text, nowMs) => {
    if (text.length < brackets.length || !text.startsWith(opening) || !text.endsWith(closing)) {
      return value;
    }
    const inner = text.slice(opening.length, text.length - closing.length);
    if (inner.trim() === '') return [];
    const items: ExtractedValue[] = [];
    for (const item of splitUpTo(inner, separator, ITEMS_MAX)) {
      const trimmed = item.trim();
      const filtered = itemFilter === undefined ? trimmed : itemFilter(trimmed, trimmed, nowMs);
      if (filtered !== undefined) items.push(filtered);
    }
    return items;
  };
}

/** `csv("first,second")`: columns by their names, in quotes when they have the separator in them. Source: RFC 4180. */
function csvFilter(call: GrokCall): Filter {
  const [headers, separatorText = ','] = stringsOf(call, 1, 2);
  const separator = unescaped(separatorText);
  const names = headers.split(',').map((name) => name.trim());
  if (separator.length !== 1 || separator === '"') {
    throw new PatternError(
      `the separator of csv is one character, not a quote: "${separatorText}"`,
      call.at,
    );
  }
  if (names.includes('') || new Set(names).size !== names.length || names.length > ITEMS_MAX) {
    throw new PatternError(
      `the names of csv are up to ${ITEMS_MAX} different ones between commas, not "${headers}"`,
      call.at,
    );
  }
  return (_value, text) => {
    const attributes: Attributes = new Map();
    for (const [index, column] of columnsOf(text, separator, names.length).entries()) {
      if (column !== '') attributes.set(names[index], column);
    }
    return attributes;
  };
}

function columnsOf(text: string, separator: string, columnsMax: number): string[] {
  const columns: string[] = [];
  let at = 0;
  while (columns.length < columnsMax && at <= text.length) {
    if (text[at] === '"') {
      let end = at + 1;
      while (end < text.length && (text[end] !== '"' || text[end + 1] === '"')) {
        end += text[end] === '"' ? 2 : 1;
      }
      columns.push(text.slice(at + 1, end).replaceAll('""', '"'));
      at = end + 1;
      if (text[at] !== separator) at = text.length;
    } else {
      const end = text.indexOf(separator, at);
      columns.push(text.slice(at, end < 0 ? undefined : end).trim());
      at = end < 0 ? text.length : end;
    }
    if (at >= text.length) break;
    at++;
  }
  return columns;
}

/** Like `split`, with what is behind the last item left in it. */
function splitUpTo(text: string, separator: string, itemsMax: number): string[] {
  const items: string[] = [];
  let at = 0;
  while (items.length < itemsMax - 1) {
    const end = text.indexOf(separator, at);
    if (end < 0) break;
    items.push(text.slice(at, end));
    at = end + separator.length;
  }
  items.push(text.slice(at));
  return items;
}

/** A separator as it is meant: a tab and a line end cannot stand in a rule as they are. */
function unescaped(text: string): string {
  return text.replace(/\\([tnr\\])/g, (_escape, letter: string) =>
    letter === 't' ? '\t' : letter === 'n' ? '\n' : letter === 'r' ? '\r' : '\\',
  );
}
