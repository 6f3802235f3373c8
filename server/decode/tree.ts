import { assert, unreachable } from '../../engine/base/assert.ts';
import { ATTRIBUTES_MAX, NAME_BYTES_MAX } from '../../engine/base/limits.ts';
import { Kind } from '../../engine/column/kind.ts';
import { PATH_CUSTOM, PATH_MESSAGE, PATH_SYSLOG } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { AddedAttribute } from './added.ts';
import type { EntryLeaf, Leaf } from './branch.ts';
import { Branch } from './branch.ts';
import type { DecodeCounters } from './counters.ts';
import { ExcessWriter, jsonString } from './excess.ts';
import { compactJson } from './json.ts';
import type { KeyTable } from './key.ts';
import type { LeafReader } from './leaf.ts';
import { Role } from './leaf.ts';
import type { Member, PlainText } from './member.ts';
import { readMembers } from './member.ts';
import type { NameLimit } from './name-limit.ts';
import type { PathNames } from './path-names.ts';
import { CLOSE_BRACE, latin1, OPEN_BRACE, QUOTE } from './text.ts';

const EXCESS = '_excess';
const NO_PATH = -1;
const PLAIN_MEMBER = { start: 0, end: 0, isObject: false, members: undefined };

/**
 * Reads an event's JSON object into a tree, puts it in order by the rules, and adds its leaves to the rows: for the
 * events that ObjectReader refuses. It is complete where that one is fast. Source: INTERFACE.md 2.3 and 8.
 */
export class EventTree {
  readonly #rows: Rows;
  readonly #keys: KeyTable;
  readonly #leaves: LeafReader;
  readonly #counters: DecodeCounters;
  readonly #excessPath: number;
  readonly #nameRoom = Buffer.alloc(NAME_BYTES_MAX);
  readonly #excess = new ExcessWriter();
  #custom = new Branch('', undefined);
  #syslog: Branch | undefined;
  #message: Leaf | undefined;
  /** Set when the event has attributes that come from a row. */
  #hasEntries = false;
  /** Set when the event has a syslog header, which is the last to go to the excess. */
  #hasHeader = false;

  /** Attributes that were added to the row, but for `message` and the enrichment's. */
  #attributeCount = 0;
  #isTooWide = false;
  /** Names of the objects around what is being written. */
  readonly #around: string[] = [];

  constructor(rows: Rows, keys: KeyTable, leaves: LeafReader, counters: DecodeCounters) {
    this.#rows = rows;
    this.#keys = keys;
    this.#leaves = leaves;
    this.#counters = counters;
    this.#excessPath = keys.child(PATH_CUSTOM, Buffer.from(EXCESS), 0, EXCESS.length);
    assert(this.#excessPath >= 0, 'there is a path for the excess');
  }

  /** Reads the object at `at`; returns the offset behind it, -1 when it is not JSON. */
  read(at: number): number {
    this.begin();
    return this.readMore(at);
  }

  /** Reads as `read` does, for an event that was begun and may have attributes. */
  readMore(at: number): number {
    const reached = { at };
    const members = readMembers(this.#leaves, at, 0, reached);
    if (members === undefined) return -1;
    for (const member of members) this.#place(member);
    return reached.at;
  }

  /** Begins an event of nothing but a message, given as `start` and `length` of a row entry. */
  readText(start: number, length: number): void {
    this.begin();
    this.placeMessage(start, length);
  }

  /** Gives the event a message, as `start` and `length` of a row entry; one that is read later replaces it. */
  placeMessage(start: number, length: number): void {
    this.#message = { type: 'text', start, length };
  }

  /** Is set once the event has a message. */
  get hasMessage(): boolean {
    return this.#message !== undefined;
  }

  /** Gives the event an attribute of its syslog header. */
  placeSyslog(name: string, plain: PlainText): void {
    this.#hasHeader = true;
    this.#syslogObject().put(0, { ...PLAIN_MEMBER, name, plain });
  }

  /** Gives the event an element of structured data; its name's dots are no steps. */
  placeElement(name: string, members: Member[]): void {
    this.#syslogObject().set(0, name, { name, start: 0, end: 0, isObject: true, members });
  }

  /** Gives the event an attribute that was found in a text: it is under `custom`, whatever its name. */
  placePair(member: Member): void {
    this.#custom.put(0, member);
  }

  /** Adds the attributes of an enrichment. */
  enrich(attributes: readonly AddedAttribute[]): void {
    for (const attribute of attributes) {
      const { names, start, length } = attribute;
      const leaf: Leaf = { type: 'text', start, length };
      if (names.length === 1 && names[0] === 'message') this.#message = leaf;
      else if (names.length === 1 || names[0] !== 'syslog')
        addTo(this.#custom, names, attribute, leaf);
      else addTo(this.#syslogObject(), names.slice(1), attribute, leaf);
    }
  }

  /** Adds the leaves of the event to the row that is being written. */
  write(): void {
    const sideBytes = this.#rows.sideBytes;
    this.#writeAll(false);
    if (this.#excess.isUsed && this.#custom.child(EXCESS) !== undefined) {
      // The event has an attribute of that name: it joins the excess.
      this.#rows.dropRow();
      this.#rows.sideBytes = sideBytes;
      this.#writeAll(true);
    }
    if (this.#isTooWide) this.#counters.eventsTooWide++;
    if (!this.#excess.isUsed) return;
    const text = this.#excess.end();
    this.#rows.add(this.#excessPath, Kind.STRING, this.#rows.addSide(text), text.length, 0, 0);
  }

  /** Begins an event without attributes. */
  begin(): void {
    this.#custom = new Branch('', undefined);
    this.#syslog = undefined;
    this.#message = undefined;
    this.#hasHeader = false;
    this.#hasEntries = false;
  }

  /**
   * Gives the event, which was begun, all that a row has. Of that only names that `limit` does not keep are moved to
   * the excess.
   */
  placeRow(row: number, names: PathNames, limit?: NameLimit): void {
    const rows = this.#rows;
    this.#hasEntries = true;
    let parent = NO_PATH;
    let branch = this.#custom;
    for (let entry = rows.rowEntry[row]; entry < rows.rowEntry[row + 1]; entry++) {
      const path = rows.path[entry];
      if (path === PATH_MESSAGE) {
        this.placeMessage(rows.start[entry], rows.length[entry]);
      } else if (path === PATH_SYSLOG) {
        this.#syslogObject();
      } else {
        if (names.parent(path) !== parent) {
          parent = names.parent(path);
          branch = this.#objectAt(parent, names);
        }
        const isObject = rows.kind[entry] === Kind.OBJECT;
        const leaf = isObject ? undefined : entryLeaf(rows, entry);
        const child = branch.append(names.name(path), leaf);
        child.isAdded = true;
        child.isExplicit = isObject;
        child.path = path;
        child.parentPath = parent;
        if (limit !== undefined && !limit.keeps(path)) {
          child.isOverBudget = true;
          this.#counters.namesOverBudget++;
        }
      }
    }
  }

  /**
   * Puts an attribute under `syslog` or, otherwise, `custom`. When `keeps`, one that the event has wins; false when it
   * did.
   */
  put(isSyslog: boolean, member: Member, keeps: boolean): boolean {
    const object = isSyslog ? this.#syslogObject() : this.#custom;
    return object.put(0, member, keeps);
  }

  /** Takes out the attribute that has `path` as its names below `custom` or `syslog`, if there is one. */
  remove(isSyslog: boolean, path: string): void {
    (isSyslog ? this.#syslog : this.#custom)?.remove(path);
  }

  /** Takes the message out. */
  removeMessage(): void {
    this.#message = undefined;
  }

  /** The object at the path `path` of a row. */
  #objectAt(path: number, names: PathNames): Branch {
    if (path === PATH_CUSTOM) return this.#custom;
    if (path === PATH_SYSLOG) return this.#syslogObject();
    const parent = this.#objectAt(names.parent(path), names);
    const name = names.name(path);
    const object = parent.child(name) ?? parent.append(name, undefined);
    object.isAdded = true;
    return object;
  }

  #syslogObject(): Branch {
    this.#syslog ??= new Branch('syslog', undefined);
    return this.#syslog;
  }

  /**
   * Puts an attribute of the event under `message`, `syslog` or `custom`; only a header has `syslog` where there is
   * one.
   */
  #place(member: Member): void {
    const { name, start, end, members } = member;
    if (name === 'message' && this.#leaves.bytes[start] === QUOTE) {
      this.#message = { type: 'value', start, end };
    } else if (this.#hasHeader) {
      this.#custom.put(0, member);
    } else if (name === 'syslog' && members !== undefined) {
      for (const inner of members) this.#syslogObject().put(0, inner);
      this.#syslogObject();
    } else if (/^syslog(\.[^.]+)+$/s.test(name)) {
      this.#syslogObject().put(0, { ...member, name: name.slice('syslog.'.length) });
    } else {
      this.#custom.put(0, member);
    }
  }

  #writeAll(hidesExcess: boolean): void {
    this.#attributeCount = this.#hasEntries
      ? Math.min(entryCount(this.#custom) + entryCount(this.#syslog), ATTRIBUTES_MAX)
      : 0;
    this.#isTooWide = false;
    this.#around.length = 0;
    this.#excess.begin();
    const hidden = hidesExcess ? this.#custom.child(EXCESS) : undefined;
    if (this.#hasHeader) this.#writeSyslog();
    this.#writeChildren(this.#custom, PATH_CUSTOM, hidden);
    if (!this.#hasHeader) this.#writeSyslog();
    const message = this.#message;
    if (message?.type === 'text') this.#addText(PATH_MESSAGE, message.start, message.length);
    else if (message?.type === 'value') this.#leaves.read(PATH_MESSAGE, message.start);
  }

  #writeSyslog(): void {
    const syslog = this.#syslog;
    if (syslog === undefined) return;
    if (syslog.children.length === 0) {
      this.#rows.add(PATH_SYSLOG, Kind.OBJECT, 0, 0, 0, 0);
      return;
    }
    this.#around.push('syslog');
    this.#writeChildren(syslog, PATH_SYSLOG, undefined);
    this.#around.pop();
    this.#excess.closeTo(0);
  }

  /** Writes what is in the object `branch`, which has the path `path` or none. `hidden` goes to the excess. */
  #writeChildren(branch: Branch, path: number, hidden: Branch | undefined): void {
    for (const child of branch.children) {
      if (child.isSpread) this.#writeChildren(child, path, hidden);
      else if (child === hidden && this.#isObjectText(child.leaf))
        this.#excess.addAll(this.#bytesOf(child.leaf));
      else
        this.#writeBranch(
          child,
          path === NO_PATH || child === hidden || child.isOverBudget
            ? NO_PATH
            : this.#child(path, child),
        );
    }
  }

  /** The path of `branch` in the object `parent`. Names that are not wanted any more make no paths. */
  #child(parent: number, branch: Branch): number {
    if (this.#attributeCount === ATTRIBUTES_MAX && !branch.isAdded) {
      this.#isTooWide = true;
      return this.#leaves.rolePath(parent, branch.name);
    }
    if (branch.parentPath === parent) {
      this.#keys.note(parent, branch.path);
      return branch.path;
    }
    const { name } = branch;
    const isLong = name.length > NAME_BYTES_MAX;
    const room = this.#nameRoom;
    // Names are short: a loop is faster than a call of the runtime.
    if (!isLong) for (let at = 0; at < name.length; at++) room[at] = name.charCodeAt(at);
    const path = isLong ? NO_PATH : this.#keys.child(parent, room, 0, name.length);
    if (path === NO_PATH) {
      this.#counters.namesRefused++;
      return path;
    }
    branch.path = path;
    branch.parentPath = parent;
    return path;
  }

  #writeBranch(branch: Branch, path: number): void {
    const leaf = branch.leaf;
    if (leaf !== undefined || branch.children.length === 0) {
      this.#writeLeaf(branch.name, path, leaf ?? { type: 'empty' });
      return;
    }
    this.#around.push(branch.name);
    this.#writeChildren(branch, path, undefined);
    this.#around.pop();
    this.#excess.closeTo(this.#around.length);
  }

  #writeLeaf(name: string, path: number, leaf: Leaf): void {
    const rows = this.#rows;
    const entryCount = rows.entryCount;
    if (path !== NO_PATH) this.#addLeaf(path, leaf);
    if (rows.entryCount > entryCount) {
      if (leaf.type === 'text' || leaf.type === 'entry') return;
      if (this.#attributeCount < ATTRIBUTES_MAX) {
        this.#attributeCount++;
        return;
      }
      // It was read nevertheless: it may be the event's date.
      rows.entryCount = entryCount;
    } else if (path !== NO_PATH) {
      return;
    }
    this.#excess.add(this.#around, name, this.#jsonText(leaf));
  }

  /** Adds a leaf to the row, unless it is the write key, which the leaf reader takes. */
  #addLeaf(path: number, leaf: Leaf): void {
    const role = this.#leaves.roles[path];
    switch (leaf.type) {
      case 'value':
        // A text at the place of a `message` that is none was put there on purpose.
        if (role === Role.NONE || role === Role.MESSAGE) this.#leaves.read(path, leaf.start);
        else this.#leaves.readRole(path, role, leaf.start);
        return;
      case 'tooDeep':
        this.#leaves.addTooDeep(path, leaf.start, leaf.end);
        return;
      case 'empty':
        this.#rows.add(path, Kind.OBJECT, 0, 0, 0, 0);
        return;
      case 'plain':
        this.#leaves.addPlain(path, leaf.start, leaf.length, leaf.mayBeNumber);
        return;
      case 'text':
        this.#addText(path, leaf.start, leaf.length);
        return;
      case 'entry': {
        const { kind, start, length, value, detail } = leaf;
        this.#rows.add(path, kind, start, length, value, detail);
        return;
      }
    }
  }

  #addText(path: number, start: number, length: number): void {
    this.#rows.add(path, Kind.STRING, start, length, 0, 0);
  }

  /** The JSON text of a leaf, without blanks between its tokens; a view that is valid for the moment. */
  #jsonText(leaf: Leaf): Uint8Array {
    const rows = this.#rows;
    if (leaf.type === 'empty') return Buffer.from('{}');
    if (leaf.type === 'entry') return this.#entryJson(leaf);
    if (leaf.type === 'text' || leaf.type === 'plain') {
      const bytes = leaf.start < 0 ? rows.side : rows.source;
      const start = leaf.start < 0 ? ~leaf.start : leaf.start;
      if (
        leaf.type === 'plain' &&
        leaf.mayBeNumber &&
        this.#leaves.isNumber(leaf.start, leaf.length)
      )
        return bytes.subarray(start, start + leaf.length);
      return jsonString(latin1(bytes, start, start + leaf.length));
    }
    const at = rows.reserveSide(leaf.end - leaf.start);
    const behind = compactJson(this.#leaves.bytes, leaf.start, leaf.end, rows.side, at);
    rows.sideBytes = at;
    return rows.side.subarray(at, behind);
  }

  #entryJson(leaf: EntryLeaf): Uint8Array {
    const bytes = this.#bytesOf(leaf);
    switch (leaf.kind) {
      case Kind.NULL:
        return Buffer.from('null');
      case Kind.OBJECT:
        return Buffer.from('{}');
      case Kind.BOOLEAN:
        return Buffer.from(leaf.length === 1 ? 'true' : 'false');
      case Kind.STRING:
      case Kind.DATE:
        return jsonString(latin1(bytes, 0, bytes.length));
      case Kind.NUMBER:
      case Kind.ARRAY:
        return bytes;
      default:
        return unreachable(leaf.kind);
    }
  }

  #bytesOf({ start, length }: EntryLeaf): Uint8Array {
    const { source, side } = this.#rows;
    return start < 0
      ? side.subarray(~start, ~start + length)
      : source.subarray(start, start + length);
  }

  /** Recognises a leaf of a row that reads like excess written there. */
  #isObjectText(leaf: Leaf | undefined): leaf is EntryLeaf {
    if (leaf?.type !== 'entry' || leaf.kind !== Kind.STRING) return false;
    const bytes = this.#bytesOf(leaf);
    return bytes[0] === OPEN_BRACE && bytes.at(-1) === CLOSE_BRACE;
  }
}

/** Copies an entry of a row. */
function entryLeaf(rows: Rows, entry: number): EntryLeaf {
  return {
    type: 'entry',
    kind: rows.kind[entry] as Kind,
    start: rows.start[entry],
    length: rows.length[entry],
    value: rows.value[entry],
    detail: rows.detail[entry],
  };
}

/** Leaves in an object that come from a row. */
function entryCount(branch: Branch | undefined): number {
  let count = 0;
  for (const child of branch?.children ?? []) {
    count += child.leaf?.type === 'entry' ? 1 : entryCount(child);
  }
  return count;
}

/**
 * Adds an attribute of an enrichment to the object `branch`, at its place or, where an attribute is in the way, beside.
 */
function addTo(
  branch: Branch,
  names: readonly string[],
  attribute: AddedAttribute,
  leaf: Leaf,
): void {
  let into = branch;
  let step = 0;
  while (step < names.length - 1) {
    const next = into.child(names[step]) ?? into.append(names[step], undefined);
    if (next.leaf !== undefined) break;
    into = next;
    into.isAdded = true;
    step++;
  }
  const name = names.slice(step).join('.');
  const present = into.child(name);
  if (present !== undefined && !attribute.replaces) return;
  const added = present ?? into.append(name, undefined);
  added.become(leaf);
  added.isAdded = true;
}
