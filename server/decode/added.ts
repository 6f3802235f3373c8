import { DEPTH_MAX } from '../../engine/base/limits.ts';
import { PATH_CUSTOM, PATH_MESSAGE, PATH_SYSLOG } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { Enrichment } from './enrichment.ts';
import type { KeyTable } from './key.ts';

/** An attribute of an enrichment, ready to be added to the rows of one source. */
export interface AddedAttribute {
  /** Its place, one character a byte of its names, `message` and `syslog` at the top included. */
  names: string[];
  replaces: boolean;
  /** Its path; -1 when a name is too long or the path table is full. */
  path: number;
  /** Its text as `start` and `length` of a row entry. */
  start: number;
  length: number;
}

/** Puts the values of `enrichment` into the side buffer of `rows` and resolves its names. */
export function addedAttributes(
  enrichment: Enrichment | undefined,
  keys: KeyTable,
  rows: Rows,
): AddedAttribute[] {
  if (enrichment === undefined) return [];
  return enrichment.attributes.map(({ names: parts, value, replaces }) => {
    const names = [...parts.slice(0, DEPTH_MAX - 1)];
    if (parts.length >= DEPTH_MAX) names.push(parts.slice(DEPTH_MAX - 1).join('.'));
    const text = Buffer.from(value);
    return {
      names: names.map((name) => Buffer.from(name).toString('latin1')),
      replaces,
      path: pathOf(names, keys),
      start: rows.addSide(text),
      length: text.length,
    };
  });
}

function pathOf(names: readonly string[], keys: KeyTable): number {
  if (names.length === 1 && names[0] === 'message') return PATH_MESSAGE;
  const isSyslog = names.length > 1 && names[0] === 'syslog';
  let path: number = isSyslog ? PATH_SYSLOG : PATH_CUSTOM;
  for (const name of isSyslog ? names.slice(1) : names) {
    const bytes = Buffer.from(name);
    path = keys.child(path, bytes, 0, bytes.length);
    if (path < 0) return -1;
  }
  return path;
}
