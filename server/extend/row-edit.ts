import { OPEN_BRACKET } from '../../engine/base/ascii.ts';
import { ATTRIBUTES_MAX, DEPTH_MAX, PATHS_MAX } from '../../engine/base/limits.ts';
import { Kind } from '../../engine/column/kind.ts';
import {
  PATH_CUSTOM,
  PATH_MESSAGE,
  PATH_ROOT,
  PATH_SYSLOG,
  type PathTable,
} from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import { splitName } from '../decode/branch.ts';
import type { KeyTable } from '../decode/key.ts';
import { type LeafReader, Role } from '../decode/leaf.ts';
import { LeafOrder } from '../decode/leaf-order.ts';
import type { Member } from '../decode/member.ts';

/** Outcomes of a change. A row of which one is DECLINED is for the tree, all changes of it. */
export const PUT = 1;
export const LEFT = 0;
export const DECLINED = -1;
/** One of the outcomes. */
export type Outcome = typeof PUT | typeof LEFT | typeof DECLINED;

/** Names whose paths are remembered. */
const NAMES_MAX = 4_096;

/** An entry of the row as it was before a change. */
interface Before {
  entry: number;
  path: number;
  kind: Kind;
  start: number;
  length: number;
  value: number;
  detail: number;
}

/**
 * Changes the last row of rows as EventTree does, without a tree: leaves are replaced where they are, taken out, or
 * added behind the others, and put in order at the end. It declines what that does not suffice for: names that collide,
 * objects that lose a leaf, limits, empty objects, write keys. Owned by one thread. Source: INTERFACE.md 2.3 and 8.
 */
export class RowEdit {
  readonly #paths: PathTable;
  readonly #rows: Rows;
  readonly #keys: KeyTable;
  readonly #leaves: LeafReader;
  readonly #order: LeafOrder;
  /** The paths of names in objects, by the objects' paths. */
  readonly #names = new Map<number, Map<string, number>>();
  #nameCount = 0;
  /** The event in which a path was last used: `#event` for a leaf, one more for an object. Events count by two. */
  readonly #used = new Uint32Array(PATHS_MAX);
  #event = 0;
  /** `custom`, `syslog` or `message`, of each path that was asked for. */
  readonly #roots = new Uint8Array(PATHS_MAX);
  #row = 0;
  #first = 0;
  /** End of the row before all changes, and what they have overwritten. */
  #end = 0;
  readonly #before: Before[] = [];
  /** Set when `#used` has the row. */
  #isClaimed = false;
  /** Set when an object may have leaves that lie apart. */
  #isMixed = false;
  /** Parent of the last leaf that was claimed. */
  #parent = PATH_ROOT;

  /** `leaves` read what was written into the rows' side buffer; their event has to be begun. */
  constructor(paths: PathTable, rows: Rows, keys: KeyTable, leaves: LeafReader) {
    this.#paths = paths;
    this.#rows = rows;
    this.#keys = keys;
    this.#leaves = leaves;
    this.#order = new LeafOrder(paths);
  }

  /** Turns to the last row. */
  begin(): void {
    const rows = this.#rows;
    this.#row = rows.rowCount - 1;
    this.#first = rows.rowEntry[this.#row];
    this.#end = rows.rowEntry[rows.rowCount];
    this.#before.length = 0;
    this.#isClaimed = false;
  }

  /** Puts an attribute under `syslog` or, otherwise, `custom`; when `keeps`, one that the event has wins: LEFT. */
  put(isSyslog: boolean, member: Member, keeps: boolean): Outcome {
    if (!this.#isClaimed && !this.#claimRow()) return DECLINED;
    return this.#put(isSyslog ? PATH_SYSLOG : PATH_CUSTOM, 0, member, keeps);
  }

  /** Gives the event a message, as `start` and `length` of a row entry. */
  placeMessage(start: number, length: number): Outcome {
    const entry = this.#entryOf(PATH_MESSAGE);
    if (entry >= 0) {
      this.#note(entry);
      const rows = this.#rows;
      rows.kind[entry] = Kind.STRING;
      rows.start[entry] = start;
      rows.length[entry] = length;
      return PUT;
    }
    if (!this.#isClaimed && !this.#claimRow()) return DECLINED;
    if (!this.#claim(PATH_MESSAGE)) return DECLINED;
    this.#rows.add(PATH_MESSAGE, Kind.STRING, start, length, 0, 0);
    return PUT;
  }

  /** Takes entry number `entry` of rows out. */
  remove(entry: number): Outcome {
    const rows = this.#rows;
    const path = rows.path[entry];
    const parent = this.#paths.parent(path);
    const isTop = parent === PATH_CUSTOM || parent === PATH_SYSLOG || path === PATH_MESSAGE;
    // An object would keep its place; the date of an attribute that was added has been taken.
    if (!isTop || (entry >= this.#end && this.#leaves.roles[path] !== Role.NONE)) return DECLINED;
    this.#note(entry);
    rows.path[entry] = PATH_ROOT;
    rows.kind[entry] = Kind.NULL;
    this.#used[path] = 0;
    return PUT;
  }

  /** Shows the changes in the row, whose entries are not in order yet. */
  show(): void {
    this.#rows.rowEntry[this.#row + 1] = this.#rows.entryCount;
  }

  /** Puts the row in order: `custom`, `syslog`, `message`. */
  finish(): void {
    const rows = this.#rows;
    const end = rows.entryCount;
    // What goes behind the attributes of `custom` is kept behind the row meanwhile.
    let to = this.#first;
    for (let entry = to; entry < end; entry++) {
      const path = rows.path[entry];
      if (path === PATH_ROOT) continue;
      const root = this.#rootOf(path);
      if (root !== PATH_CUSTOM) rows.addCopy(entry);
      else if (to === entry) to++;
      else rows.copyEntry(entry, to++);
    }
    const kept = rows.entryCount;
    let message = -1;
    for (let entry = end; entry < kept; entry++) {
      if (rows.path[entry] === PATH_MESSAGE) message = entry;
      else rows.copyEntry(entry, to++);
    }
    if (message >= 0) rows.copyEntry(message, to++);
    rows.entryCount = to;
    rows.rowEntry[this.#row + 1] = to;
    if (!this.#isClaimed || !this.#isMixed) return;
    const { path, rowEntry, entryCount } = rows;
    rows.reorderRow(this.#order.of({ path, rowEntry, rowCount: this.#row, entryCount }), this.#row);
  }

  /** Takes all changes back. */
  undo(): void {
    const rows = this.#rows;
    for (const { entry, path, kind, start, length, value, detail } of this.#before.reverse()) {
      rows.path[entry] = path;
      rows.kind[entry] = kind;
      rows.start[entry] = start;
      rows.length[entry] = length;
      rows.value[entry] = value;
      rows.detail[entry] = detail;
    }
    this.#before.length = 0;
    rows.entryCount = this.#end;
    rows.rowEntry[this.#row + 1] = this.#end;
  }

  /** Puts a member into the object at `container`, which is `depth` names below the top. */
  #put(container: number, depth: number, member: Member, keeps: boolean): Outcome {
    const { members, isObject } = member;
    const path = this.#pathOf(container, depth, member.name);
    if (path < 0) return DECLINED;
    const used = this.#used[path] - this.#event;
    if (!isObject) {
      if (used === 0) return keeps ? LEFT : this.#replace(path, member);
      return used < 0 && this.#claim(path) ? this.#add(path, member) : DECLINED;
    }
    const inside = this.#keys.depth(path);
    if (members === undefined || members.length === 0 || inside >= DEPTH_MAX || used === 0)
      return DECLINED;
    let isWhole = true;
    for (const inner of members) {
      const outcome = this.#put(path, inside, inner, keeps);
      if (outcome === DECLINED) return DECLINED;
      isWhole &&= outcome === PUT;
    }
    return isWhole ? PUT : LEFT;
  }

  /** Adds the leaf of a member behind the others. */
  #add(path: number, { start, plain }: Member): Outcome {
    const rows = this.#rows;
    const leaves = this.#leaves;
    const role = leaves.roles[path];
    const entry = rows.entryCount;
    if (role === Role.WRITE_KEY || entry - this.#first >= ATTRIBUTES_MAX) return DECLINED;
    leaves.turnTo(rows.side, rows.sideBytes, true);
    const isArray = plain === undefined && leaves.bytes[start] === OPEN_BRACKET;
    if (plain !== undefined) leaves.addPlain(path, plain.start, plain.length, plain.mayBeNumber);
    // A text at the place of a `message` that is none was put there on purpose.
    else if (role === Role.NONE || role === Role.MESSAGE) leaves.read(path, start);
    else leaves.readRole(path, role, start);
    // An array that is too deep is text.
    return isArray && rows.kind[entry] !== Kind.ARRAY ? DECLINED : PUT;
  }

  /** Puts the leaf of a member in the place of the one at `path`. */
  #replace(path: number, member: Member): Outcome {
    const rows = this.#rows;
    const entry = this.#entryOf(path);
    if (this.#leaves.roles[path] !== Role.NONE || this.#add(path, member) !== PUT) return DECLINED;
    this.#note(entry);
    rows.copyEntry(--rows.entryCount, entry);
    return PUT;
  }

  /** The entry at a path; -1 when there is none. */
  #entryOf(path: number): number {
    const { path: paths, entryCount } = this.#rows;
    for (let entry = this.#first; entry < entryCount; entry++) {
      if (paths[entry] === path) return entry;
    }
    return -1;
  }

  #note(entry: number): void {
    const { path, kind, start, length, value, detail } = this.#rows;
    this.#before.push({
      entry,
      path: path[entry],
      kind: kind[entry] as Kind,
      start: start[entry],
      length: length[entry],
      value: value[entry],
      detail: detail[entry],
    });
  }

  /** Claims the paths of the row; false when it is for the tree. */
  #claimRow(): boolean {
    this.#event += 2;
    if (this.#event >= 2 ** 32) {
      this.#used.fill(0);
      this.#event = 2;
    }
    this.#isClaimed = true;
    this.#parent = PATH_ROOT;
    const { path, entryCount } = this.#rows;
    for (let entry = this.#first; entry < entryCount; entry++) {
      const isGone = path[entry] === PATH_ROOT;
      if (path[entry] === PATH_SYSLOG || (!isGone && !this.#claim(path[entry]))) return false;
    }
    this.#isMixed = false;
    return true;
  }

  /** Makes `path` a leaf of the event; false when it is one or an object, or would be inside a leaf. */
  #claim(path: number): boolean {
    if (this.#used[path] >= this.#event) return false;
    const parent = this.#paths.parent(path);
    if (parent !== this.#parent && !this.#open(parent)) return false;
    this.#parent = parent;
    this.#used[path] = this.#event;
    return true;
  }

  /** Makes `path` and what it lies in objects of the event; false when one is a leaf. */
  #open(path: number): boolean {
    const used = this.#used;
    for (let at = path; at !== PATH_ROOT; at = this.#paths.parent(at)) {
      if (used[at] === this.#event) return false;
      if (used[at] > this.#event) {
        if (at !== PATH_CUSTOM && at !== PATH_SYSLOG) this.#isMixed = true;
        return true;
      }
      used[at] = this.#event + 1;
    }
    return true;
  }

  /** `custom`, `syslog` or `message`. */
  #rootOf(path: number): number {
    const known = this.#roots[path];
    if (known !== PATH_ROOT) return known;
    let at = path;
    while (at > PATH_MESSAGE) at = this.#paths.parent(at);
    this.#roots[path] = at;
    return at;
  }

  /** The path of a name, one character a byte, in an object `depth` names below the top; -1 when it is for the tree. */
  #pathOf(container: number, depth: number, name: string): number {
    if (this.#nameCount >= NAMES_MAX) {
      this.#names.clear();
      this.#nameCount = 0;
    }
    let known = this.#names.get(container);
    if (known === undefined) {
      known = new Map();
      this.#names.set(container, known);
    }
    const found = known.get(name);
    if (found !== undefined) return found;
    const parts = splitName(name, Number.POSITIVE_INFINITY);
    if (depth + parts.length > DEPTH_MAX) return -1;
    let path = container;
    for (const part of parts) {
      const bytes = Buffer.from(part, 'latin1');
      path = this.#keys.child(path, bytes, 0, bytes.length);
      if (path < 0) return -1;
    }
    known.set(name, path);
    this.#nameCount++;
    return path;
  }
}
