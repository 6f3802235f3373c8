import { Kind } from '../../column/kind.ts';

const LONE_SURROGATE = /\p{Surrogate}/gu;
/** First byte of all surrogates in WTF-8; the next one is at least SURROGATE_SECOND_MIN. */
const SURROGATE_FIRST = 0xed;
const SURROGATE_SECOND_MIN = 0xa0;

/** Bytes that are looked at one by one in less time than a call and its view take. */
const SHORT_BYTES_MAX = 64;
const { latin1Slice } = Buffer.prototype;

/** Text of WTF-8 bytes; lone surrogates stay what they are. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  if (isShortAscii(bytes, start, end)) return latin1Slice.call(bytes, start, end);
  const view = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  let text = '';
  let from = 0;
  for (
    let at = view.indexOf(SURROGATE_FIRST);
    at >= 0;
    at = view.indexOf(SURROGATE_FIRST, at + 1)
  ) {
    if (at + 2 >= view.length || view[at + 1] < SURROGATE_SECOND_MIN) continue;
    text += view.toString('utf8', from, at);
    text += String.fromCharCode(0xd000 | ((view[at + 1] & 0x3f) << 6) | (view[at + 2] & 0x3f));
    from = at + 3;
  }
  return from === 0 ? view.toString('utf8') : text + view.toString('utf8', from);
}

function isShortAscii(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > SHORT_BYTES_MAX) return false;
  for (let at = start; at < end; at++) if (bytes[at] > 0x7f) return false;
  return true;
}

/** JSON text that may hold lone surrogates, with those as escapes, so that it can be sent as UTF-8. */
export function escapeSurrogates(text: string): string {
  return text.replace(LONE_SURROGATE, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}

/** A leaf of an event: where it is, and what. */
export interface Leaf {
  /** Names from the root; the first is `custom`, `syslog` or `message`. */
  names: readonly string[];
  kind: Kind;
  /** Number of its column, for kinds that have one. */
  column: number;
}

/**
 * How the events of a shape are printed: `texts[i]`, then the value of `columns[i]`, and so on; there is one more
 * text than columns.
 */
export interface Template {
  texts: string[];
  columns: number[];
}

/** Collects a template from the leaves of an object, which come in order. */
class TemplateWriter {
  readonly template: Template = { texts: [], columns: [] };
  #text = '';

  literal(text: string): void {
    this.#text += text;
  }

  value(leaf: Leaf): void {
    if (leaf.kind === Kind.NULL) this.#text += 'null';
    else if (leaf.kind === Kind.OBJECT) this.#text += '{}';
    else {
      this.template.texts.push(this.#text);
      this.template.columns.push(leaf.column);
      this.#text = '';
    }
  }

  end(): Template {
    this.template.texts.push(this.#text);
    return this.template;
  }
}

/** Writes the object whose leaves are `leaves`, all with the same `depth` names before their own. */
function writeObject(writer: TemplateWriter, leaves: readonly Leaf[], depth: number): void {
  writer.literal('{');
  for (let at = 0; at < leaves.length; ) {
    const leaf = leaves[at];
    const name = leaf.names[depth];
    writer.literal(`${at === 0 ? '' : ','}${JSON.stringify(name)}:`);
    if (leaf.names.length === depth + 1) {
      writer.value(leaf);
      at++;
      continue;
    }
    let end = at + 1;
    while (
      end < leaves.length &&
      leaves[end].names[depth] === name &&
      leaves[end].names.length > depth + 1
    ) {
      end++;
    }
    writeObject(writer, leaves.slice(at, end), depth + 1);
    at = end;
  }
  writer.literal('}');
}

/**
 * The template of events with these leaves: `custom` always, `syslog` and `message` when there are leaves of them,
 * in this order; below, the leaves' order. An OBJECT at `custom` or `syslog` is that object, empty.
 */
export function templateOf(leaves: readonly Leaf[]): Template {
  const of = (root: string): Leaf[] => leaves.filter((leaf) => leaf.names[0] === root);
  const inside = (leaf: Leaf): boolean => leaf.names.length > 1;
  const writer = new TemplateWriter();
  writer.literal('{"custom":');
  writeObject(writer, of('custom').filter(inside), 1);
  const syslog = of('syslog');
  if (syslog.length > 0) {
    writer.literal(',"syslog":');
    writeObject(writer, syslog.filter(inside), 1);
  }
  for (const message of of('message')) {
    writer.literal(',"message":');
    writer.value(message);
  }
  writer.literal('}');
  return writer.end();
}
