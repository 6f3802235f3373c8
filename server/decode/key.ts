import { HASH_SEED, hashBytes, sameBytes } from '../../engine/base/hash.ts';
import { DEPTH_MAX, NAME_BYTES_MAX, PATHS_MAX } from '../../engine/base/limits.ts';
import type { PathTable } from '../../engine/column/path.ts';
import { PATH_CUSTOM, PATH_SYSLOG } from '../../engine/column/path.ts';
import { DOT, QUOTE, unescapeString } from './text.ts';

/** Keys that are remembered; others are resolved each time. One path has several keys (`a.b`, `b` inside `a`). */
const KEYS_MAX = 2 * PATHS_MAX;
/** Keys beyond which the table is emptied between two events. */
const KEYS_CROWD = PATHS_MAX;
/** Keys that are tried before one is looked up. */
const FOLLOWED_MAX = 8;
/** Bytes that are compared at once. */
const WORD_BYTES = 4;
/** Slots of the table of hints. */
const HINTS = 4096;
const HINT_SHIFT = 32 - Math.log2(HINTS);
const SYSLOG = Uint8Array.from(Buffer.from('syslog'));

/** Levels of paths below `syslog` are counted from here, so that the two trees share one table. */
export const SYSLOG_LEVEL = 32;

/**
 * Keys of JSON objects as they stand in events, each with the path that it means inside its container: a dotted
 * key stands for several names. Remembers what followed what, so that the next key is mostly a compare.
 * Source: INTERFACE.md 2.3.
 */
export class KeyTable {
  /** Names between the path and `custom`, or `syslog` plus SYSLOG_LEVEL, of each path this table has met. */
  readonly level = new Uint8Array(PATHS_MAX);
  /** The key from which the first one of the object at a path is looked for; -1 when there was none. */
  readonly first = new Int32Array(PATHS_MAX).fill(-1);
  /** The path of each key. */
  path = new Uint32Array(1024);
  /** The key that followed each key, and was not found by going on from the one before; -1 when none did. */
  next = new Int32Array(1024);

  readonly #paths: PathTable;
  #count = 0;
  /** Container of each key, plus PATHS_MAX when the key has escapes. */
  #place = new Uint32Array(1024);
  #hashes = new Int32Array(1024);
  #start = new Uint32Array(1025);
  #names = new Uint8Array(16_384);
  #namesView = new DataView(this.#names.buffer);
  #slots = new Int32Array(4096).fill(-1);
  /**
   * The key found last for a length, first and last word, so that its bytes need no hash when names come in any
   * order.
   */
  readonly #hints = new Int32Array(HINTS).fill(-1);

  constructor(paths: PathTable) {
    this.#paths = paths;
    this.level[PATH_SYSLOG] = SYSLOG_LEVEL;
  }

  /** Begins an event: only then the numbers of keys may change their meaning. */
  begin(): void {
    if (this.#count < KEYS_CROWD) return;
    this.#count = 0;
    this.#slots.fill(-1);
    this.#hints.fill(-1);
    this.first.fill(-1);
  }

  /**
   * The first of `key` and those that follow it that is the text of `view` from `at` on up to a quote; -1 when it is
   * none of some. So attributes that are left out now and then are passed over.
   */
  follow(key: number, view: DataView, at: number, end: number): number {
    let candidate = key;
    for (let step = 0; step < FOLLOWED_MAX && candidate >= 0; step++) {
      if (this.#isAt(candidate, view, at, end)) return candidate;
      candidate = this.next[candidate];
    }
    return -1;
  }

  /** Bytes of a key. */
  lengthOf(key: number): number {
    return this.#start[key + 1] - this.#start[key];
  }

  #isAt(key: number, view: DataView, at: number, end: number): boolean {
    const nameStart = this.#start[key];
    const length = this.#start[key + 1] - nameStart;
    if (at + length >= end || view.getUint8(at + length) !== QUOTE) return false;
    const names = this.#namesView;
    if (length < WORD_BYTES) {
      for (let index = 0; index < length; index++) {
        if (view.getUint8(at + index) !== names.getUint8(nameStart + index)) return false;
      }
      return true;
    }
    // The last word may overlap the one before. It comes first, because names begin alike.
    const last = length - WORD_BYTES;
    if (view.getInt32(at + last) !== names.getInt32(nameStart + last)) return false;
    for (let index = 0; index < last; index += WORD_BYTES) {
      if (view.getInt32(at + index) !== names.getInt32(nameStart + index)) return false;
    }
    return true;
  }

  /**
   * The key `bytes[start, end)`, a text without escapes, of the object at `container`; made when new. -1 when it is
   * not kept: the table is full, or the key has no path; `resolve` tells.
   */
  find(container: number, bytes: Uint8Array, start: number, end: number): number {
    return this.#find(container, bytes, start, end);
  }

  /** The same for the inside of a JSON string, with a quote behind it; `view` is over the same bytes. */
  findQuoted(
    container: number,
    { bytes, view }: { bytes: Uint8Array; view: DataView },
    start: number,
    end: number,
    isEscaped: boolean,
  ): number {
    const place = isEscaped ? container + PATHS_MAX : container;
    const length = end - start;
    if (length < WORD_BYTES) return this.#find(place, bytes, start, end);
    const words = view.getInt32(start) ^ Math.imul(view.getInt32(end - WORD_BYTES), 0x9e3779b1);
    const hint = Math.imul(words ^ (words >>> 15) ^ length ^ place, 0x85ebca6b) >>> HINT_SHIFT;
    const key = this.#hints[hint];
    if (key >= 0 && this.#place[key] === place && this.#isAt(key, view, start, end + 1)) return key;
    const found = this.#find(place, bytes, start, end);
    this.#hints[hint] = found;
    return found;
  }

  #find(place: number, bytes: Uint8Array, start: number, end: number): number {
    const hash = hashBytes(bytes, start, end, HASH_SEED ^ Math.imul(place, 0x9e3779b1));
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] >= 0) {
      const key = this.#slots[slot];
      if (
        this.#hashes[key] === hash &&
        this.#place[key] === place &&
        this.#start[key + 1] - this.#start[key] === end - start &&
        sameBytes(this.#names, this.#start[key], bytes, start, end - start)
      ) {
        return key;
      }
      slot = (slot + 1) & mask;
    }
    if (this.#count === KEYS_MAX) return -1;
    const path =
      place < PATHS_MAX
        ? this.resolve(place, bytes, start, end)
        : this.#resolveEscaped(place - PATHS_MAX, bytes, start, end);
    return path < 0 ? -1 : this.#add(place, hash, bytes, start, end, path);
  }

  /**
   * The path of the key `bytes[start, end)` of the object at `container`, its dots taken as steps; -1 when a name is
   * too long or new to a full path table. A key with an empty part is one name. Where a path would get deeper than
   * DEPTH_MAX the rest of the key is one name.
   */
  resolve(container: number, bytes: Uint8Array, start: number, end: number): number {
    if (hasEmptyPart(bytes, start, end)) return this.child(container, bytes, start, end);
    let parent = container;
    let partStart = start;
    for (let at = start; at < end; at++) {
      if (bytes[at] !== DOT) continue;
      if (parent === PATH_CUSTOM && partStart === start && isSyslog(bytes, start, at)) {
        parent = PATH_SYSLOG;
      } else {
        if (this.depth(parent) + 1 >= DEPTH_MAX) break;
        parent = this.child(parent, bytes, partStart, at);
        if (parent < 0) return -1;
      }
      partStart = at + 1;
    }
    return this.child(parent, bytes, partStart, end);
  }

  #resolveEscaped(container: number, bytes: Uint8Array, start: number, end: number): number {
    const text = new Uint8Array(end - start);
    return this.resolve(container, text, 0, unescapeString(bytes, start, end, text, 0));
  }

  /** The path of one name inside `parent`; -1 when it is too long or new to a full path table. */
  child(parent: number, bytes: Uint8Array, start: number, end: number): number {
    if (end - start > NAME_BYTES_MAX) return -1;
    const path = this.#paths.intern(parent, bytes, start, end);
    if (path >= 0) this.note(parent, path);
    return path;
  }

  /** Notes the level of `path`, a child of `parent` that was found elsewhere. */
  note(parent: number, path: number): void {
    this.level[path] = this.level[parent] + 1;
  }

  /** Names between `path` and `custom` or `syslog`. */
  depth(path: number): number {
    return this.level[path] & (SYSLOG_LEVEL - 1);
  }

  #add(
    place: number,
    hash: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    path: number,
  ): number {
    const key = this.#count++;
    if (this.#count > this.path.length) this.#grow();
    const nameStart = this.#start[key];
    const nameEnd = nameStart + end - start;
    if (nameEnd > this.#names.length) {
      const names = new Uint8Array(Math.max(nameEnd, this.#names.length * 2));
      names.set(this.#names);
      this.#names = names;
      this.#namesView = new DataView(names.buffer);
    }
    this.#names.set(bytes.subarray(start, end), nameStart);
    this.#start[key + 1] = nameEnd;
    this.#place[key] = place;
    this.#hashes[key] = hash;
    this.path[key] = path;
    this.next[key] = -1;
    this.#fillSlot(key);
    return key;
  }

  #fillSlot(key: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#hashes[key] & mask;
    while (this.#slots[slot] >= 0) slot = (slot + 1) & mask;
    this.#slots[slot] = key;
  }

  #grow(): void {
    const capacity = this.path.length * 2;
    const grow = <T extends Uint32Array | Int32Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    this.path = grow(this.path, new Uint32Array(capacity));
    this.next = grow(this.next, new Int32Array(capacity));
    this.#place = grow(this.#place, new Uint32Array(capacity));
    this.#hashes = grow(this.#hashes, new Int32Array(capacity));
    this.#start = grow(this.#start, new Uint32Array(capacity + 1));
    this.#slots = new Int32Array(capacity * 4).fill(-1);
    for (let key = 0; key < this.#count - 1; key++) this.#fillSlot(key);
  }
}

/** Reports whether a key has a dot at either end, or two in a row. The dots of such a key are no steps. */
function hasEmptyPart(bytes: Uint8Array, start: number, end: number): boolean {
  let wasDot = true;
  for (let at = start; at < end; at++) {
    const isDot = bytes[at] === DOT;
    if (isDot && wasDot) return true;
    wasDot = isDot;
  }
  return wasDot;
}

function isSyslog(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === SYSLOG.length && sameBytes(SYSLOG, 0, bytes, start, end - start);
}
