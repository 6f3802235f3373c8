import { OPEN_BRACKET, ZERO } from '../../engine/base/ascii.ts';
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
import type { Findings } from './found/findings.ts';

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
  /** The entry of each path that is a leaf of the event. */
  readonly #entries = new Uint32Array(PATHS_MAX);
  /** `custom`, `syslog` or `message`, of each path that was asked for. */
  readonly #roots = new Uint8Array(PATHS_MAX);
  #row = 0;
  #first = 0;
  /** End of the row before all changes, and what they have overwritten. */
  #end = 0;
  readonly #before: Before[] = [];
  #beforeCount = 0;
  /** Set when `#used` has the row. */
  #isClaimed = false;
  /** The first entry that was taken out, or the end. */
  #firstGone = 0;
  /** Set when an entry that had been shown is another one, or gone. */
  #isMoved = false;
  /** Set when `#used` has the objects, too. */
  #hasObjects = false;
  /** Paths that names of the path table are in, as of its first `#knownPaths` paths. */
  readonly #parents = new Uint8Array(PATHS_MAX);
  #knownPaths = 0;
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
    this.#firstGone = this.#end;
    this.#beforeCount = 0;
    this.#isClaimed = false;
    this.#isMoved = false;
  }

  /** Puts an attribute under `syslog` or, otherwise, `custom`; when `keeps`, one that the event has wins: LEFT. */
  put(isSyslog: boolean, member: Member, keeps: boolean): Outcome {
    if (!this.#isClaimed && !this.#claimRow()) return DECLINED;
    return this.#put(isSyslog ? PATH_SYSLOG : PATH_CUSTOM, 0, member, keeps);
  }

  /** Gives the attribute at `path` a digit, whatever it was. */
  putDigit(path: number, digit: number): Outcome {
    if (!this.#isClaimed && !this.#claimRow()) return DECLINED;
    const rows = this.#rows;
    const entry = rows.entryCount;
    if (path < 0 || this.#leaves.roles[path] !== Role.NONE) return DECLINED;
    const isThere = this.#used[path] === this.#event;
    const hasRoom = entry - this.#first < ATTRIBUTES_MAX;
    if (!isThere && !(hasRoom && this.#claim(path, entry))) return DECLINED;
    const at = rows.reserveSide(1);
    rows.side[at] = ZERO + digit;
    rows.add(path, Kind.NUMBER, ~at, 1, digit, 0);
    if (isThere) this.#moveLast(this.#entries[path]);
    return PUT;
  }

  /** Adds what was found in a text; attributes that the event has win: LEFT when one that is not optional did. */
  putFound({ path: paths, kind, start, length, count, optional }: Findings): Outcome {
    if (!this.#isClaimed && !this.#claimRow()) return DECLINED;
    const rows = this.#rows;
    const leaves = this.#leaves;
    const first = rows.entryCount;
    let outcome: Outcome = PUT;
    for (let found = 0; found < count; found++) {
      const path = paths[found];
      const entry = rows.entryCount;
      if (path < 0) return DECLINED;
      if (this.#used[path] === this.#event) {
        // Names that repeat in the text are for the tree.
        if (this.#entries[path] >= first) return DECLINED;
        if (found >= optional) outcome = LEFT;
        continue;
      }
      const role = leaves.roles[path];
      const hasRoom = entry - this.#first < ATTRIBUTES_MAX;
      if (role === Role.WRITE_KEY || !hasRoom || !this.#claim(path, entry)) return DECLINED;
      const isNumber = kind[found] === Kind.NUMBER;
      if (isNumber || kind[found] === Kind.STRING) {
        leaves.addPlain(path, start[found], length[found], isNumber);
      } else {
        if (role !== Role.NONE) return DECLINED;
        rows.add(path, kind[found] as Kind, start[found], length[found], 0, 0);
      }
    }
    return outcome;
  }

  /** The path of a name, one character a byte, below `syslog` or `custom`; -1 when it is for the tree. */
  pathOf(isSyslog: boolean, name: string): number {
    return this.#pathOf(isSyslog ? PATH_SYSLOG : PATH_CUSTOM, 0, name);
  }

  /** Gives the event a message, as `start` and `length` of a row entry. */
  placeMessage(start: number, length: number): Outcome {
    if (!this.#isClaimed && !this.#claimRow()) return DECLINED;
    if (this.#used[PATH_MESSAGE] === this.#event) {
      const rows = this.#rows;
      const entry = this.#entries[PATH_MESSAGE];
      this.#note(entry);
      rows.kind[entry] = Kind.STRING;
      rows.start[entry] = start;
      rows.length[entry] = length;
      return PUT;
    }
    if (!this.#claim(PATH_MESSAGE, this.#rows.entryCount)) return DECLINED;
    this.#rows.add(PATH_MESSAGE, Kind.STRING, start, length, 0, 0);
    return PUT;
  }

  /** Is set when all entries of the row are shown. */
  get entriesShown(): boolean {
    return this.#rows.rowEntry[this.#row + 1] === this.#rows.entryCount;
  }

  /** Takes entry number `entry` of rows out; who has shown it is to forget it. */
  remove(entry: number): Outcome {
    const rows = this.#rows;
    const path = rows.path[entry];
    const parent = this.#paths.parent(path);
    const isTop = parent === PATH_CUSTOM || parent === PATH_SYSLOG || path === PATH_MESSAGE;
    // An object would keep its place; the date of an attribute that was added has been taken.
    if (!isTop || (entry >= this.#end && this.#leaves.roles[path] !== Role.NONE)) return DECLINED;
    this.#note(entry, false);
    rows.path[entry] = PATH_ROOT;
    rows.kind[entry] = Kind.NULL;
    this.#firstGone = Math.min(this.#firstGone, entry);
    this.#used[path] = 0;
    return PUT;
  }

  /** Shows the changes in the row, whose entries are not in order yet; reports whether they are more than new ones. */
  show(): boolean {
    this.#rows.rowEntry[this.#row + 1] = this.#rows.entryCount;
    const isMoved = this.#isMoved;
    this.#isMoved = false;
    return isMoved;
  }

  /** Puts the row in order: `custom`, `syslog`, `message`. */
  finish(): void {
    const rows = this.#rows;
    const end = rows.entryCount;
    let to = this.#end;
    while (to > this.#first && this.#rootOf(rows.path[to - 1]) !== PATH_CUSTOM) to--;
    to = Math.min(to, this.#firstGone);
    // What goes behind the attributes of `custom` is kept behind the row meanwhile.
    for (let entry = to; entry < end; ) {
      const run = this.#customEnd(entry, end) - entry;
      if (run > 0) {
        rows.moveEntries(entry, to, run);
        to += run;
        entry += run;
      } else {
        if (rows.path[entry] !== PATH_ROOT) rows.addCopy(entry);
        entry++;
      }
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

  /** The first entry from `entry` on that is no attribute of `custom`, or `end`. */
  #customEnd(entry: number, end: number): number {
    const { path } = this.#rows;
    let at = entry;
    while (at < end && path[at] !== PATH_ROOT && this.#rootOf(path[at]) === PATH_CUSTOM) at++;
    return at;
  }

  /** Takes all changes back. */
  undo(): void {
    const rows = this.#rows;
    while (this.#beforeCount > 0) {
      const before = this.#before[--this.#beforeCount];
      const { entry, path, kind, start, length, value, detail } = before;
      rows.path[entry] = path;
      rows.kind[entry] = kind;
      rows.start[entry] = start;
      rows.length[entry] = length;
      rows.value[entry] = value;
      rows.detail[entry] = detail;
    }
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
      const isNew = used < 0 && this.#claim(path, this.#rows.entryCount);
      return isNew ? this.#add(path, member) : DECLINED;
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
    const entry = this.#entries[path];
    if (this.#leaves.roles[path] !== Role.NONE || this.#add(path, member) !== PUT) return DECLINED;
    this.#moveLast(entry);
    return PUT;
  }

  /** Puts the last entry in the place of one at the same path. */
  #moveLast(entry: number): void {
    const rows = this.#rows;
    this.#note(entry);
    rows.copyEntry(--rows.entryCount, entry);
  }

  #note(entry: number, isMoved = true): void {
    this.#isMoved ||= isMoved;
    const { path, kind, start, length, value, detail } = this.#rows;
    this.#before[this.#beforeCount++] = {
      entry,
      path: path[entry],
      kind: kind[entry] as Kind,
      start: start[entry],
      length: length[entry],
      value: value[entry],
      detail: detail[entry],
    };
  }

  /** Claims the paths of the row; false when it is for the tree. */
  #claimRow(): boolean {
    this.#event += 2;
    if (this.#event >= 2 ** 32) {
      this.#used.fill(0);
      this.#event = 2;
    }
    this.#isClaimed = true;
    this.#hasObjects = false;
    this.#isMixed = false;
    const { path, entryCount } = this.#rows;
    for (let entry = this.#first; entry < entryCount; entry++) {
      const at = path[entry];
      if (at === PATH_ROOT) continue;
      if (at === PATH_SYSLOG || this.#used[at] === this.#event) return false;
      this.#used[at] = this.#event;
      this.#entries[at] = entry;
    }
    return true;
  }

  /** Claims the objects of the row; false when it is for the tree. */
  #claimObjects(): boolean {
    this.#hasObjects = true;
    this.#parent = PATH_ROOT;
    const { path, entryCount } = this.#rows;
    for (let entry = this.#first; entry < entryCount; entry++) {
      if (path[entry] !== PATH_ROOT && !this.#openAround(path[entry])) return false;
    }
    this.#isMixed = false;
    return true;
  }

  /** Makes `path` a leaf of the event, at `entry`; false when it is one or an object, or would be inside a leaf. */
  #claim(path: number, entry: number): boolean {
    const used = this.#used;
    if (used[path] >= this.#event) return false;
    const parent = this.#paths.parent(path);
    // Most attributes that are added are at the top, and no objects in any event.
    const isAtTop = parent <= PATH_SYSLOG && used[parent] !== this.#event && !this.#isParent(path);
    if (!isAtTop || this.#hasObjects) {
      if (!this.#hasObjects && !this.#claimObjects()) return false;
      if (used[path] >= this.#event || !this.#openAround(path)) return false;
    }
    used[path] = this.#event;
    this.#entries[path] = entry;
    return true;
  }

  /** Reports whether the path table has names in `path`. */
  #isParent(path: number): boolean {
    while (this.#knownPaths < this.#paths.count) {
      this.#parents[this.#paths.parent(this.#knownPaths++)] = 1;
    }
    return this.#parents[path] === 1;
  }

  /** Makes what `path` lies in objects of the event; false when one is a leaf. */
  #openAround(path: number): boolean {
    const parent = this.#paths.parent(path);
    if (parent !== this.#parent && !this.#open(parent)) return false;
    this.#parent = parent;
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
