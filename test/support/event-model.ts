/**
 * The rules of INTERFACE.md 2.3 and 8 in their plainest form, over lists and strings: what comes back for a JSON
 * object that was sent. Imports nothing of what it judges.
 *
 * A key with dots is a list of names unless one of them would be empty. A key that an object has twice has its last
 * value at its first place. Where an attribute and an object meet under one name, the attribute has the name and
 * what is in the object stands beside it under longer names, where the object began.
 */

const DEPTH_MAX = 20;
const ATTRIBUTES_MAX = 1000;
const NAME_BYTES_MAX = 256;
const EXCESS = '_excess';

interface JsonValue {
  /** Without blanks between tokens. */
  text: string;
  /** How many arrays and objects are around the innermost value. */
  depth: number;
  members?: [string, JsonValue][];
  string?: string;
}

interface Node {
  name: string;
  /** Of an attribute. */
  value?: JsonValue;
  /** Of an object. */
  children?: Node[];
  /** True when it was written as an object. */
  explicit?: boolean;
}

/**
 * The event as it comes back: `{"custom":{...},"syslog":{...},"message":"..."}`, `custom` always, the others if any.
 */
export function expectedEvent(jsonText: string): string {
  const members = unrepeated(new Parser(jsonText).whole().members ?? []);
  const custom: Node = { name: '', children: [] };
  let syslog: Node | undefined;
  let message: string | undefined;
  for (const [key, value] of members) {
    const names = namesOf(key, Number.POSITIVE_INFINITY);
    if (key === 'message' && value.string !== undefined) {
      message = value.string;
    } else if (key === 'syslog' && value.members !== undefined) {
      syslog ??= { name: '', children: [] };
      for (const [inner, its] of unrepeated(value.members)) put(syslog, 0, inner, its);
    } else if (names.length > 1 && names[0] === 'syslog') {
      syslog ??= { name: '', children: [] };
      put(syslog, 0, key.slice('syslog.'.length), value);
    } else {
      put(custom, 0, key, value);
    }
  }
  let parts = write(custom, syslog, false);
  if (parts.excess.length > 0 && custom.children?.some((child) => child.name === EXCESS)) {
    parts = write(custom, syslog, true);
  }
  if (parts.excess.length > 0) {
    parts.custom.push(`"${EXCESS}":${JSON.stringify(`{${parts.excess.join(',')}}`)}`);
  }
  const event = [`"custom":{${parts.custom.join(',')}}`];
  if (parts.syslog !== undefined) event.push(`"syslog":{${parts.syslog.join(',')}}`);
  if (message !== undefined) event.push(`"message":${JSON.stringify(message)}`);
  return `{${event.join(',')}}`;
}

function unrepeated(members: [string, JsonValue][]): [string, JsonValue][] {
  return [...new Map(members)];
}

function namesOf(key: string, most: number): string[] {
  const parts = key.split('.');
  if (parts.some((part) => part === '')) return [key];
  if (parts.length <= most) return parts;
  return [...parts.slice(0, most - 1), parts.slice(most - 1).join('.')];
}

function find(node: Node, name: string): Node | undefined {
  return node.children?.find((child) => child.name === name);
}

function put(node: Node, level: number, key: string, value: JsonValue): void {
  const names = namesOf(key, DEPTH_MAX - level);
  let into = node;
  for (let step = 0; step < names.length - 1; step++) {
    let next = find(into, names[step]);
    if (next === undefined) {
      next = { name: names[step], children: [] };
      into.children?.push(next);
    }
    if (next.value !== undefined) {
      give(into, level + step, names.slice(step).join('.'), value);
      return;
    }
    into = next;
  }
  give(into, level + names.length - 1, names[names.length - 1], value);
}

function give(node: Node, level: number, name: string, value: JsonValue): void {
  const siblings = node.children ?? [];
  const present = find(node, name);
  const isObject =
    value.members !== undefined && (value.members.length === 0 || level + 1 < DEPTH_MAX);
  if (present === undefined) {
    if (!isObject) {
      siblings.push({ name, value });
      return;
    }
    const object: Node = { name, children: [], explicit: true };
    siblings.push(object);
    for (const [key, inner] of unrepeated(value.members ?? [])) put(object, level + 1, key, inner);
  } else if (isObject && present.value === undefined) {
    present.explicit = true;
    for (const [key, inner] of unrepeated(value.members ?? [])) put(present, level + 1, key, inner);
  } else if (isObject && value.members?.length !== 0) {
    for (const [key, inner] of unrepeated(value.members ?? [])) {
      give(node, level, `${name}.${key}`, inner);
    }
  } else if (present.value !== undefined || present.children?.length === 0) {
    present.value = value;
    delete present.children;
  } else {
    const beside = withLongerNames(present, '').filter(({ name: longer }) => !find(node, longer));
    siblings.splice(siblings.indexOf(present), 1, ...beside);
    siblings.push({ name, value });
  }
}

/** Members of an object that only dots made, each under its whole name. */
function withLongerNames(node: Node, prefix: string): Node[] {
  return (node.children ?? []).flatMap((child) =>
    child.children !== undefined && !child.explicit
      ? withLongerNames(child, `${prefix}${node.name}.`)
      : [{ ...child, name: `${prefix}${node.name}.${child.name}` }],
  );
}

interface Parts {
  custom: string[];
  syslog: string[] | undefined;
  excess: string[];
}

function write(custom: Node, syslog: Node | undefined, hidesExcess: boolean): Parts {
  let attributes = 0;
  const excess: string[] = [];

  /** Gives the members of the object that have a place; those that have none are added to `over`. */
  const members = (node: Node, level: number, placed: boolean, over: string[]): string[] =>
    (node.children ?? []).flatMap((child) => {
      const { name, value, children } = child;
      const hidden = hidesExcess && node === custom && name === EXCESS;
      const hasPlace = placed && !hidden && Buffer.byteLength(name) <= NAME_BYTES_MAX;
      if (value === undefined && children?.length !== 0) {
        const inner: string[] = [];
        const kept = members(child, level + 1, hasPlace, inner);
        if (inner.length > 0) over.push(`${plainString(name)}:{${inner.join(',')}}`);
        return kept.length > 0 ? [`${JSON.stringify(name)}:{${kept.join(',')}}`] : [];
      }
      if (hasPlace && attributes < ATTRIBUTES_MAX) {
        attributes++;
        return [
          `${JSON.stringify(name)}:${value === undefined ? '{}' : leafText(value, level + 1)}`,
        ];
      }
      over.push(`${plainString(name)}:${value?.text ?? '{}'}`);
      return [];
    });

  const customParts = members(custom, 0, true, excess);
  if (syslog === undefined) return { custom: customParts, syslog, excess };
  const over: string[] = [];
  const syslogParts = members(syslog, 0, true, over);
  if (over.length > 0) excess.push(`"syslog":{${over.join(',')}}`);
  const isThere = syslogParts.length > 0 || syslog.children?.length === 0;
  return { custom: customParts, syslog: isThere ? syslogParts : undefined, excess };
}

function leafText(value: JsonValue, level: number): string {
  if (value.string !== undefined) return JSON.stringify(value.string);
  if (value.members !== undefined) {
    return value.members.length === 0 ? '{}' : JSON.stringify(value.text);
  }
  const isTooDeep = value.depth > 1 && level + value.depth - 1 > DEPTH_MAX;
  return isTooDeep ? JSON.stringify(value.text) : value.text;
}

/** A JSON string in which only what must be escaped is. */
function plainString(text: string): string {
  const escaped = [...text].map((character) => {
    if (character === '"' || character === '\\') return `\\${character}`;
    return character < ' '
      ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
      : character;
  });
  return `"${escaped.join('')}"`;
}

/** Reads JSON that is known to be valid, keeping the texts of numbers, the order of names and what is repeated. */
class Parser {
  #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): JsonValue {
    const value = this.#value();
    this.#token('');
    if (this.#at !== this.#text.length) throw new Error(`JSON goes on at ${this.#at}`);
    return value;
  }

  /** Skips blanks, and `token` behind them when it is there. */
  #token(token: string): boolean {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? '')) this.#at++;
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) throw new Error(`malformed JSON at ${this.#at}`);
    this.#at += found[0].length;
    return found[0];
  }

  #string(): string {
    this.#token('');
    return this.#take(/"(?:[^"\\]|\\.)*"/sy);
  }

  #value(): JsonValue {
    if (this.#token('{')) return this.#object();
    if (this.#token('[')) return this.#array();
    if (this.#text[this.#at] === '"') {
      const text = this.#string();
      return { text, depth: 0, string: JSON.parse(text) };
    }
    return { text: this.#take(/-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y), depth: 0 };
  }

  #object(): JsonValue {
    const members: [string, JsonValue][] = [];
    const texts: string[] = [];
    let depth = 0;
    for (let closed = this.#token('}'); !closed; closed = !this.#token(',') && this.#token('}')) {
      const name = this.#string();
      if (!this.#token(':')) throw new Error(`no : at ${this.#at}`);
      const value = this.#value();
      members.push([JSON.parse(name), value]);
      texts.push(`${name}:${value.text}`);
      depth = Math.max(depth, value.depth);
    }
    return { text: `{${texts.join(',')}}`, depth: depth + 1, members };
  }

  #array(): JsonValue {
    const texts: string[] = [];
    let depth = 0;
    for (let closed = this.#token(']'); !closed; closed = !this.#token(',') && this.#token(']')) {
      const value = this.#value();
      texts.push(value.text);
      depth = Math.max(depth, value.depth);
    }
    return { text: `[${texts.join(',')}]`, depth: depth + 1 };
  }
}
