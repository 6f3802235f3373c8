import { BLANK } from '../../engine/base/ascii.ts';
import { ATTRIBUTES_MAX, DEPTH_MAX, PATHS_MAX } from '../../engine/base/limits.ts';
import { Kind } from '../../engine/column/kind.ts';
import type { PathTable } from '../../engine/column/path.ts';
import { PATH_CUSTOM, PATH_MESSAGE, PATH_ROOT, PATH_SYSLOG } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { AddedAttribute } from './added.ts';
import { Collisions } from './collision.ts';
import type { KeyTable } from './key.ts';
import { SYSLOG_LEVEL } from './key.ts';
import type { LeafReader } from './leaf.ts';
import { Role } from './leaf.ts';
import { LeafOrder, type RowLeaves } from './leaf-order.ts';
import {
  CLOSE_BRACE,
  COLON,
  COMMA,
  OPEN_BRACE,
  plainEndOf,
  QUOTE,
  skipBlanks,
  stringEnd,
  unescapeString,
} from './text.ts';

/** The object is not JSON; the leaf reader knows where. */
export const BROKEN = -1;
/** The object is for the tree: names that collide, objects that repeat, or limits. What was added is to be dropped. */
export const NEEDS_TREE = -2;

/**
 * Reads an event's JSON object and adds its leaves to the rows while it reads. Names with dots may come back to an
 * object that others lie behind: then the leaves are put in order at the end. That is watched by two stamps: the row in
 * which a path was last a leaf or an object, and the objects that the last leaf lies in, the open ones. An attribute
 * that repeats replaces the one before. Anything else is refused with NEEDS_TREE, whether it would have been wrong or
 * not. Source: INTERFACE.md 2.3.
 */
export class ObjectReader {
  readonly #paths: PathTable;
  readonly #rows: Rows;
  readonly #keys: KeyTable;
  readonly #leaves: LeafReader;
  /** Path of a `syslog` that is a string, or another value that is no object. */
  readonly #customSyslog: number;
  readonly #customMessage: number;

  readonly #order: LeafOrder;
  readonly #collisions: Collisions;
  /** The row in which a path was last used: `#row` for a leaf, one more for an object. Rows count by two. */
  readonly #used = new Uint32Array(PATHS_MAX);
  #row = 0;
  /** Set when an object has leaves that lie apart. */
  #isMixed = false;
  /** Set when the object stands in the text behind a header, whose attributes it cannot set. */
  #isInText = false;
  /** Set when the event has objects that more than dots in names make. */
  #hasObjects = false;
  /** The open objects by level: of `custom` from 0, of `syslog` from SYSLOG_LEVEL. */
  readonly #open = new Uint32Array(2 * SYSLOG_LEVEL);
  #customTop = 0;
  #syslogTop = 0;
  /** Parent of the last leaf. */
  #lastParent = -1;

  constructor(paths: PathTable, rows: Rows, keys: KeyTable, leaves: LeafReader) {
    this.#paths = paths;
    this.#rows = rows;
    this.#keys = keys;
    this.#leaves = leaves;
    this.#order = new LeafOrder(paths);
    this.#collisions = new Collisions(paths, keys);
    this.#open[0] = PATH_CUSTOM;
    this.#customSyslog = keys.child(PATH_CUSTOM, Buffer.from('syslog'), 0, 6);
    this.#customMessage = keys.child(PATH_CUSTOM, Buffer.from('message'), 0, 7);
  }

  /** Begins an event: nothing of it is there yet. */
  begin(): void {
    this.#row += 2;
    if (this.#row === 2 ** 32) {
      this.#used.fill(0);
      this.#row = 2;
    }
    this.#isInText = false;
    this.#isMixed = false;
    this.#hasObjects = false;
    this.#keys.begin();
    this.#customTop = 0;
    this.#syslogTop = SYSLOG_LEVEL - 1;
    this.#lastParent = -1;
  }

  /** Reads the object at `at`; returns the offset behind it, BROKEN or NEEDS_TREE. */
  read(at: number): number {
    this.begin();
    return this.#read(at);
  }

  /** Reads as `read` does, for an object in the text behind a header whose attributes were added. */
  readText(at: number): number {
    this.#isInText = true;
    return this.#read(at);
  }

  #read(at: number): number {
    const { bytes, end } = this.#leaves;
    const inside = skipBlanks(bytes, at + 1, end);
    if (inside < end && bytes[inside] === CLOSE_BRACE) return inside + 1;
    const behind = this.#members(inside, PATH_CUSTOM);
    return behind >= 0 && this.isWide() ? NEEDS_TREE : behind;
  }

  /** Adds the attributes of an enrichment behind those of the event; false when that is for the tree. */
  enrich(attributes: readonly AddedAttribute[]): boolean {
    for (const { path, replaces, start, length } of attributes) {
      if (path < 0) return false;
      if (path === PATH_MESSAGE && this.isUsed(this.#customMessage)) return false;
      if (path === this.#customSyslog && this.isUsed(PATH_SYSLOG)) return false;
      if (this.isUsed(path) && !replaces) continue;
      if (!this.claim(path)) return false;
      this.#rows.add(path, Kind.STRING, start, length, 0, 0);
    }
    return true;
  }

  /** Reports whether a path is a leaf or an object of the event. */
  isUsed(path: number): boolean {
    return this.#used[path] >= this.#row;
  }

  /** Puts the leaves of the event in order, at its end. */
  putInOrder(): void {
    if (this.#isMixed) this.#rows.reorderRow(this.#order.of(this.#rows));
  }

  /** Reports whether a path belongs to a header: it lies in `syslog`, or below an attribute of that name. */
  isOfHeader(path: number): boolean {
    return this.#keys.level[path] >= SYSLOG_LEVEL || this.#leaves.roles[path] === Role.SYSLOG;
  }

  /** Reports whether the event has more attributes than it may have, not counting `message`. */
  isWide(): boolean {
    const entryCount = this.#rows.entryCount - this.#rows.rowEntry[this.#rows.rowCount];
    return (
      entryCount > ATTRIBUTES_MAX && (entryCount > ATTRIBUTES_MAX + 1 || !this.isUsed(PATH_MESSAGE))
    );
  }

  /** Makes `path` the next leaf of the event; false when it is a leaf or an object of it, or would be inside a leaf. */
  claim(path: number): boolean {
    if (this.#used[path] >= this.#row) return false;
    const parent = this.#paths.parent(path);
    if (parent !== this.#lastParent && !this.#openObject(parent)) return false;
    this.#used[path] = this.#row;
    return true;
  }

  /**
   * Makes `path` the next leaf of an event whose members were read elsewhere, as `read` would have; false when that is
   * for another reader.
   */
  claimLeaf(path: number): boolean {
    if (path === PATH_MESSAGE) return !this.isUsed(this.#customMessage) && this.claim(path);
    const role = this.#leaves.roles[path];
    return (role === Role.NONE || this.#isNew(path, role)) && this.claim(path);
  }

  /** The number of the leaf at each place of a row; `undefined` when they are in order. Good until the next call. */
  orderOf(row: RowLeaves): Uint32Array | undefined {
    return this.#isMixed ? this.#order.of(row) : undefined;
  }

  /** Makes `parent` the innermost open object of its tree, closing others; false when it is inside a leaf. */
  #openObject(parent: number): boolean {
    this.#lastParent = parent;
    if (parent === PATH_ROOT) return true;
    this.#lastParent = -1;
    const level = this.#keys.level;
    const isCustom = level[parent] < SYSLOG_LEVEL;
    const top = isCustom ? this.#customTop : this.#syslogTop;
    let path = parent;
    while (path !== PATH_ROOT) {
      const place = level[path];
      if (place <= top && this.#open[place] === path) break;
      if (this.#used[path] === this.#row) return false;
      if (this.#used[path] > this.#row) this.#isMixed = true;
      this.#used[path] = this.#row + 1;
      this.#open[place] = path;
      path = this.#paths.parent(path);
    }
    this.#lastParent = parent;
    if (isCustom) this.#customTop = level[parent];
    else this.#syslogTop = level[parent];
    return true;
  }

  /** Reads the members of the object at the path `container`, from the first on, and its closing brace. */
  #members(start: number, container: number): number {
    const { bytes, view, end } = this.#leaves;
    const keys = this.#keys;
    let previous = -1;
    let predicted = keys.first[container];
    let at = start;
    for (;;) {
      if (at >= end || bytes[at] !== QUOTE) return this.#broken(at);
      const nameStart = at + 1;
      let path = -1;
      const found = keys.follow(predicted, view, nameStart, end);
      if (found >= 0) {
        predicted = found;
        path = keys.path[found];
        at = nameStart + keys.lengthOf(found) + 1;
      } else {
        const stop = plainEndOf(view, nameStart, end);
        const isPlain = stop < end && bytes[stop] === QUOTE;
        const closing = isPlain ? stop : stringEnd(bytes, stop, end);
        if (closing < 0) return this.#broken(stop);
        predicted = keys.findQuoted(container, this.#leaves, nameStart, closing, !isPlain);
        path =
          predicted >= 0 ? keys.path[predicted] : this.#unusualPath(container, nameStart, closing);
        if (path < 0 || this.isWide()) return NEEDS_TREE;
        at = closing + 1;
        if (previous >= 0) keys.next[previous] = predicted;
        else keys.first[container] = predicted;
      }
      if (at >= end || bytes[at] !== COLON) {
        at = skipBlanks(bytes, at, end);
        if (at >= end || bytes[at] !== COLON) return this.#broken(at);
      }
      at = this.#value(path, skipBlanks(bytes, at + 1, end));
      if (at < 0) return at;
      if (at < end && bytes[at] <= BLANK) at = skipBlanks(bytes, at, end);
      if (at >= end) return this.#broken(at);
      if (bytes[at] === CLOSE_BRACE) return at + 1;
      if (bytes[at] !== COMMA) return this.#broken(at);
      at = skipBlanks(bytes, at + 1, end);
      previous = predicted;
      predicted = previous < 0 ? -1 : keys.next[previous];
    }
  }

  /** The path of a key that the key table does not keep; -1 when it has none. */
  #unusualPath(container: number, start: number, end: number): number {
    const rows = this.#rows;
    const at = rows.reserveSide(end - start);
    const behind = unescapeString(this.#leaves.bytes, start, end, rows.side, at);
    rows.sideBytes = at;
    return this.#keys.resolve(container, rows.side, at, behind);
  }

  #value(path: number, at: number): number {
    const { bytes, end } = this.#leaves;
    const role = this.#leaves.roles[path];
    if (this.#isInText && this.isOfHeader(path)) return NEEDS_TREE;
    if (at < end && bytes[at] === OPEN_BRACE) return this.#object(path, role, at);
    if (role === Role.NONE) {
      if (this.claim(path)) return this.#leaves.read(path, at);
      if (this.#used[path] === this.#row) return this.#repeated(path, at);
      const place = this.#collided(path);
      return place < 0 ? NEEDS_TREE : this.#leaves.read(place, at);
    }
    if (!this.#isNew(path, role)) return NEEDS_TREE;
    const isMessage = role === Role.MESSAGE && at < end && bytes[at] === QUOTE;
    if (!this.claim(isMessage ? PATH_MESSAGE : path)) return NEEDS_TREE;
    return this.#leaves.readRole(path, role, at);
  }

  /** Reads the value of an attribute that has one already: the last one counts. */
  #repeated(path: number, at: number): number {
    const behind = this.#leaves.read(path, at);
    if (behind >= 0) this.#rows.replaceSame();
    return behind;
  }

  /**
   * Claims the place of an attribute that is an object too, or lies inside an attribute; -1 when that is for the tree.
   */
  #collided(path: number): number {
    if (this.#hasObjects) return -1;
    let place = path;
    if (this.isUsed(path)) {
      if (!this.#spread(path)) return -1;
    } else {
      place = this.#collisions.pathOf(this.#attributeAround(path), path);
    }
    return place >= 0 && this.claim(place) ? place : -1;
  }

  /** The outermost attribute of the event that the attribute at `path` would be inside of. */
  #attributeAround(path: number): number {
    let around = path;
    for (let at = this.#paths.parent(path); at !== PATH_ROOT; at = this.#paths.parent(at)) {
      if (this.#used[at] === this.#row) around = at;
    }
    return around;
  }

  /** Moves what the object at `object` has to the object around it; false when that is for the tree. */
  #spread(object: number): boolean {
    const rows = this.#rows;
    this.putInOrder();
    this.#isMixed = false;
    for (let entry = rows.rowEntry[rows.rowCount]; entry < rows.entryCount; entry++) {
      const path = rows.path[entry];
      if (!this.#isInside(path, object)) continue;
      const place = this.#collisions.pathOf(object, path);
      if (place < 0 || this.isUsed(place)) return false;
      this.#used[path] = 0;
      this.#used[place] = this.#row;
      rows.path[entry] = place;
    }
    this.#used[object] = 0;
    // Objects inside it are open no more.
    this.#customTop = 0;
    this.#syslogTop = SYSLOG_LEVEL - 1;
    this.#lastParent = -1;
    return true;
  }

  #isInside(path: number, object: number): boolean {
    let at = path;
    while (at !== PATH_ROOT && at !== object) at = this.#paths.parent(at);
    return at === object;
  }

  #object(path: number, role: number, at: number): number {
    const { bytes, end } = this.#leaves;
    if (!this.#isNew(path, role)) return NEEDS_TREE;
    this.#hasObjects = true;
    const container = role === Role.SYSLOG ? PATH_SYSLOG : path;
    const inside = skipBlanks(bytes, at + 1, end);
    if (inside < end && bytes[inside] === CLOSE_BRACE) {
      if (!this.claim(container)) return NEEDS_TREE;
      this.#rows.add(container, Kind.OBJECT, 0, 0, 0, 0);
      return inside + 1;
    }
    if (this.#keys.depth(container) >= DEPTH_MAX) return NEEDS_TREE;
    return this.#members(inside, container);
  }

  /** Reports whether neither a path nor the other place that its name may mean is used in this row. */
  #isNew(path: number, role: number): boolean {
    if (this.isUsed(path)) return false;
    if (role === Role.MESSAGE) return !this.isUsed(PATH_MESSAGE);
    return role !== Role.SYSLOG || !this.isUsed(PATH_SYSLOG);
  }

  #broken(at: number): number {
    this.#leaves.errorAt = at;
    return BROKEN;
  }
}
