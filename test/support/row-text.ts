import { Kind } from '../../engine/column/kind.ts';
import type { PathTable } from '../../engine/column/path.ts';
import { PATH_CUSTOM, PATH_MESSAGE, PATH_ROOT } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';

/**
 * Rebuilds events from row records, slowly and without the engine: the JSON text `{"custom":{...},...}` of row `row`.
 * Throws when a path comes twice, when an object is not contiguous or when a leaf has another leaf above it.
 */
export function rowText(rows: Rows, row: number, paths: PathTable): string {
  const trees = new Map<number, Level>([[PATH_CUSTOM, new Level()]]);
  let message: string | undefined;
  for (let entry = rows.rowEntry[row]; entry < rows.rowEntry[row + 1]; entry++) {
    const path = rows.path[entry];
    if (path === PATH_MESSAGE) {
      if (message !== undefined) throw new Error('two messages');
      message = valueText(rows, entry);
      continue;
    }
    const names: number[] = [];
    for (let at = path; at !== PATH_ROOT; at = paths.parent(at)) names.unshift(at);
    const tree = names.shift() ?? PATH_ROOT;
    if (!trees.has(tree)) trees.set(tree, new Level());
    trees.get(tree)?.add(names, valueText(rows, entry));
  }
  const parts: string[] = [];
  for (const [tree, level] of [...trees].sort((a, b) => a[0] - b[0])) {
    parts.push(`${JSON.stringify(wtf8(paths.name(tree)))}:${level.text(paths)}`);
  }
  if (message !== undefined) parts.push(`"message":${message}`);
  return `{${parts.join(',')}}`;
}

/** The JSON text of a row entry. */
export function valueText(rows: Rows, entry: number): string {
  const text = rows.text(entry);
  switch (rows.kind[entry]) {
    case Kind.NULL:
      return 'null';
    case Kind.OBJECT:
      return '{}';
    case Kind.BOOLEAN:
      return rows.length[entry] === 1 ? 'true' : 'false';
    case Kind.STRING:
    case Kind.DATE:
      return JSON.stringify(wtf8(text));
    default:
      return wtf8(text);
  }
}

/** Bytes as a string, lone surrogates as they are. */
export function wtf8(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at];
    const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    let point = length === 1 ? first : first & (0xff >> (length + 1));
    for (let next = 1; next < length; next++) point = (point << 6) | (bytes[at + next] & 0x3f);
    text += String.fromCodePoint(point);
    at += length;
  }
  return text;
}

class Level {
  readonly #members: [number, Level | string][] = [];
  readonly #seen = new Set<number>();

  add(names: readonly number[], value: string): void {
    const [name, ...rest] = names;
    if (name === undefined) return;
    const last = this.#members.at(-1);
    if (last?.[0] === name && last[1] instanceof Level && rest.length > 0) {
      last[1].add(rest, value);
      return;
    }
    if (this.#seen.has(name)) throw new Error(`path ${name} comes back`);
    this.#seen.add(name);
    const level = new Level();
    level.add(rest, value);
    this.#members.push([name, rest.length > 0 ? level : value]);
  }

  text(paths: PathTable): string {
    const members = this.#members.map(
      ([name, value]) =>
        `${JSON.stringify(wtf8(paths.name(name)))}:${typeof value === 'string' ? value : value.text(paths)}`,
    );
    return `{${members.join(',')}}`;
  }
}
