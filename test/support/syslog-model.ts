import { expectedEvent } from './event-model.ts';

/**
 * Syslog lines from their parts, and the events that they are to become, in their plainest form: a line is what a JSON
 * object with the same attributes would be, but for a text's `syslog`. Imports nothing of what it judges. Source:
 * INTERFACE.md 1.2.
 */

/** The parts of an RFC 5424 line. */
export interface SyslogParts {
  prival: number;
  version: 0 | 1;
  timestamp?: string;
  hostname?: string;
  appname?: string;
  procid?: string;
  msgid?: string;
  /** Structured data; names of elements have no dots here. */
  elements: [string, [string, string][]][];
  /** Bytes between the header and the text: blanks, a byte order mark. */
  before: string;
  /** The text; `undefined` for a line that ends with its header. */
  text?: SyslogText;
}

/** The text of a line: a JSON object with words before and behind, or words and pairs with what stands behind each. */
export type SyslogText =
  | { json: string; before: string; behind: string }
  | { pieces: ({ word: string } | SyslogPair)[]; separator: string };

/** A pair of a text. `quote` is the quotes of its value, none or two characters. */
export interface SyslogPair {
  name: string;
  /** True when the name stands in double quotes. */
  namedInQuotes?: boolean;
  value: string;
  quote: '' | '""' | "''" | '<>';
}

/** Writes a line. */
export function syslogLine(parts: SyslogParts): string {
  const { prival, version, timestamp, hostname, appname, procid, msgid, elements } = parts;
  const fields = [timestamp, hostname, appname, procid, msgid].map((field) => field ?? '-');
  const data = elements.map(([id, its]) => {
    const params = its.map(([name, value]) => ` ${name}="${value.replaceAll(/["\\\]]/g, '\\$&')}"`);
    return `[${id}${params.join('')}]`;
  });
  const header = `<${prival}>${version} ${fields.join(' ')} ${data.join('') || '-'}`;
  return parts.text === undefined ? header : `${header} ${parts.before}${textOf(parts.text)}`;
}

function textOf(text: SyslogText): string {
  if ('json' in text) return [text.before, text.json, text.behind].filter(Boolean).join(' ');
  return text.pieces
    .map((piece) => ('word' in piece ? piece.word : pairText(piece)))
    .join(text.separator);
}

function pairText({ name, namedInQuotes, value, quote }: SyslogPair): string {
  const inside = quote === '""' ? value.replaceAll(/["\\]/g, '\\$&') : value;
  return `${namedInQuotes === true ? `"${name}"` : name}=${quote.slice(0, 1)}${inside}${quote.slice(1)}`;
}

/** The event that the line is to become. */
export function syslogEvent(parts: SyslogParts): string {
  const members: string[] = [];
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined) members.push(`${JSON.stringify(name)}:${value}`);
  };
  const addText = (name: string, value: string | undefined): void =>
    add(name, value === undefined ? undefined : JSON.stringify(value));
  add('syslog.prival', String(parts.prival));
  add('syslog.severity', String(parts.prival % 8));
  add('syslog.facility', String(Math.floor(parts.prival / 8)));
  add('syslog.version', String(parts.version));
  addText('syslog.timestamp', parts.timestamp);
  addText('syslog.hostname', parts.hostname);
  addText('syslog.appname', parts.appname);
  addText('syslog.procid', parts.procid);
  addText('syslog.msgid', parts.msgid);
  for (const [id, its] of parts.elements) {
    const inside = its.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
    add(`syslog.${id}`, `{${inside.join(',')}}`);
  }
  const { text } = parts;
  if (text === undefined) return expectedEvent(`{${members.join(',')}}`);
  const whole = textOf(text);
  if ('json' in text) {
    const inside = text.json.trim().slice(1, -1).trim();
    if (inside !== '') members.push(inside.replaceAll(/"syslog(?=[".][^:]*:)/g, `"${OTHER}`));
    const event = eventOf(members);
    const { message } = JSON.parse(text.json);
    const isNamed = typeof message === 'string';
    if (text.before + text.behind === '') return isNamed ? event : withMessage(event, whole);
    const parts = [text.before, isNamed ? message : '', text.behind].filter(Boolean);
    return withMessage(event.replace(/,"message":"[^"]*"}$/, '}'), parts.join(' '));
  }
  for (const piece of text.pieces) {
    if ('word' in piece) continue;
    const { name, value, quote } = piece;
    const isNumber = quote === '' && /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(value);
    const its = name.replace(/^syslog(?=\.|$)/, OTHER);
    if (isNumber) add(its, value);
    else if (quote !== '' || (value !== '' && value !== 'null')) addText(its, value);
  }
  return withMessage(eventOf(members), whole);
}

/** Attributes named like it are written as `syslog` below `custom`, since only a header sets the event's `syslog`. */
const OTHER = 'zyslog';

function eventOf(members: readonly string[]): string {
  return expectedEvent(`{${members.join(',')}}`).replaceAll(`"${OTHER}`, '"syslog');
}

function withMessage(event: string, text: string): string {
  return text === '' ? event : `${event.slice(0, -1)},"message":${JSON.stringify(text)}}`;
}
