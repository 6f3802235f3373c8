import { DEPTH_MAX, NAME_BYTES_MAX } from '../../engine/base/limits.ts';
import type { LeafReader } from './leaf.ts';
import {
  CLOSE_BRACE,
  COLON,
  COMMA,
  OPEN_BRACE,
  QUOTE,
  skipBlanks,
  stringEnd,
  unescapeString,
} from './text.ts';

/** Objects in objects that are read; colliding names and `syslog` may lift some above DEPTH_MAX. */
const LEVELS_MAX = 2 * DEPTH_MAX;

/** Text that is no JSON, as `start` and `length` of a row entry. */
export interface PlainText {
  start: number;
  length: number;
  /** Set when it counts as a number if it reads like one. */
  mayBeNumber: boolean;
}

/** A member of an object: its name, one character a byte, and where its value stands as JSON, unless it is `plain`. */
export interface Member {
  name: string;
  start: number;
  end: number;
  isObject: boolean;
  /** The value's members, when it is an object that is not too deep in the text to have a place of its own. */
  members: Member[] | undefined;
  plain?: PlainText;
}

/**
 * Reads the members of the object at `at`; a repeated name keeps its last value at its first position.
 * Returns undefined when it is not JSON (the leaf reader knows where). `level` counts the objects around it.
 * `reached` gets the offset behind the object.
 */
export function readMembers(
  leaves: LeafReader,
  at: number,
  level: number,
  reached: { at: number },
): Member[] | undefined {
  const { bytes, end } = leaves;
  const places = new Map<string, number>();
  const members: Member[] = [];
  let offset = skipBlanks(bytes, at + 1, end);
  if (offset < end && bytes[offset] === CLOSE_BRACE) {
    reached.at = offset + 1;
    return members;
  }
  for (;;) {
    const nameStart = offset + 1;
    const closing = offset < end && bytes[offset] === QUOTE ? stringEnd(bytes, nameStart, end) : -1;
    if (closing < 0) return broken(leaves, offset);
    const colon = skipBlanks(bytes, closing + 1, end);
    if (colon >= end || bytes[colon] !== COLON) return broken(leaves, colon);
    const start = skipBlanks(bytes, colon + 1, end);
    const member = readMember(leaves, nameOf(bytes, nameStart, closing), start, level, reached);
    if (member === undefined) return undefined;
    const place = places.get(member.name);
    if (place === undefined) places.set(member.name, members.push(member) - 1);
    else members[place] = member;
    offset = skipBlanks(bytes, member.end, end);
    const next = offset < end ? bytes[offset] : 0;
    if (next === CLOSE_BRACE) {
      reached.at = offset + 1;
      return members;
    }
    if (next !== COMMA) return broken(leaves, offset);
    offset = skipBlanks(bytes, offset + 1, end);
  }
}

function readMember(
  leaves: LeafReader,
  name: string,
  start: number,
  level: number,
  reached: { at: number },
): Member | undefined {
  const { bytes, end, scanner } = leaves;
  const isObject = start < end && bytes[start] === OPEN_BRACE;
  if (isObject && level < LEVELS_MAX) {
    const members = readMembers(leaves, start, level + 1, reached);
    return members === undefined ? undefined : { name, start, end: reached.at, isObject, members };
  }
  const behind = scanner.skip(bytes, start, end);
  if (behind < 0) return broken(leaves, scanner.errorAt);
  return { name, start, end: behind, isObject, members: undefined };
}

/** Room for names of the usual size, so that they need no buffer each. */
const nameRoom = Buffer.alloc(NAME_BYTES_MAX);

function nameOf(bytes: Uint8Array, start: number, end: number): string {
  const room = end - start <= NAME_BYTES_MAX ? nameRoom : Buffer.alloc(end - start);
  return room.toString('latin1', 0, unescapeString(bytes, start, end, room, 0));
}

function broken(leaves: LeafReader, at: number): undefined {
  leaves.errorAt = at;
  return undefined;
}
