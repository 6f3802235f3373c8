import { assert, must } from '../../engine/base/assert.ts';
import { DEPTH_MAX } from '../../engine/base/limits.ts';
import type { Kind } from '../../engine/column/kind.ts';
import type { Member, PlainText } from './member.ts';

/** A leaf as a row has it. */
export interface EntryLeaf {
  type: 'entry';
  kind: Kind;
  start: number;
  length: number;
  value: number;
  detail: number;
}

/** Place of a leaf's text: a JSON value, an object too deep for a place of its own, or text that is no JSON. */
export type Leaf =
  | { type: 'value' | 'tooDeep'; start: number; end: number }
  | { type: 'empty' }
  | ({ type: 'plain' } & PlainText)
  /** Text of an enrichment. */
  | { type: 'text'; start: number; length: number }
  | EntryLeaf;

/**
 * An attribute or an object of an event that is being put in order. Names have one character a byte.
 * An object has children and no leaf; an attribute has a leaf and no children.
 */
export class Branch {
  name: string;
  leaf: Leaf | undefined;
  /** Set when the event has it as an object, and not just by the dots of a name. */
  isExplicit = false;
  /**
   * Set when an attribute of its own name took its place. Its children then belong to the enclosing object, under
   * names with dots.
   */
  isSpread = false;
  /**
   * Set when it is, or contains, an attribute of an enrichment or of a row, which keeps its place whatever the
   * limits.
   */
  isAdded = false;
  /** Set when its write key may not bring this name any more, so that the attribute goes to the excess. */
  isOverBudget = false;
  /** Its path in the object whose path is `parentPath`, which is -1 until it is looked up. */
  path = -1;
  parentPath = -1;
  /** Children in order and by name, once there are some. */
  #children: Branch[] | undefined;
  #index: Map<string, Branch> | undefined;

  constructor(name: string, leaf: Leaf | undefined) {
    this.name = name;
    this.leaf = leaf;
  }

  get children(): readonly Branch[] {
    return this.#children ?? NONE;
  }

  /** The child of a name, undefined when there is none. */
  child(name: string): Branch | undefined {
    return this.#index?.get(name);
  }

  /**
   * Puts a member in its place below this object, which is `level` names below the top; dots are steps. When `keeps`,
   * attributes that are there stay what they are; false when one did.
   */
  put(level: number, member: Member, keeps = false): boolean {
    const names = splitName(member.name, DEPTH_MAX - level);
    let into: Branch = this;
    for (let step = 0; step < names.length - 1; step++) {
      const name = names[step];
      const next = into.child(name) ?? into.append(name, undefined);
      if (next.leaf !== undefined) {
        return into.set(level + step, names.slice(step).join('.'), member, keeps);
      }
      into = next;
    }
    return into.set(level + names.length - 1, names[names.length - 1], member, keeps);
  }

  /**
   * Gives the child `name` a member's value. Where one of the two is an object and the other is not, both stay: what
   * is in the object becomes children of this one, under names with dots. When `keeps`, an attribute stays; false when
   * one did.
   */
  set(level: number, name: string, member: Member, keeps = false): boolean {
    const members =
      level + 1 < DEPTH_MAX || member.members?.length === 0 ? member.members : undefined;
    const present = this.child(name);
    if (members === undefined) {
      const isFree = present === undefined || present.children.length > 0;
      if (keeps && !isFree) return false;
      this.#setLeaf(name, present, leafOf(member));
      return true;
    }
    if (present !== undefined && present.leaf !== undefined && members.length === 0) {
      if (!keeps) present.leaf = { type: 'empty' };
      return !keeps;
    }
    const leaf = present?.leaf;
    const object = leaf === undefined ? (present ?? this.append(name, undefined)) : undefined;
    if (object !== undefined) object.isExplicit = true;
    let isWhole = true;
    for (const inner of members) {
      const isPut =
        object?.put(level + 1, inner, keeps) ??
        this.set(level, `${name}.${inner.name}`, inner, keeps);
      isWhole &&= isPut;
    }
    return isWhole;
  }

  /** Adds a child behind the others. There must be none of its name. */
  append(name: string, leaf: Leaf | undefined): Branch {
    const child = new Branch(name, leaf);
    this.#children ??= [];
    this.#index ??= new Map();
    assert(this.leaf === undefined && !this.#index.has(name), 'a child is new to an object');
    this.#children.push(child);
    this.#index.set(name, child);
    return child;
  }

  /** Takes out the attributes whose names joined by dots are `path`; objects with something in them stay. */
  remove(path: string): void {
    const child = this.child(path);
    if (child !== undefined && child.children.length === 0) {
      this.#index?.delete(path);
      child.drop();
    }
    for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
      this.child(path.slice(0, dot))?.remove(path.slice(dot + 1));
    }
  }

  /** Makes an attribute of this object or attribute, whatever it was. */
  become(leaf: Leaf): void {
    this.leaf = leaf;
    this.#children = undefined;
    this.#index = undefined;
  }

  #setLeaf(name: string, present: Branch | undefined, leaf: Leaf): void {
    if (present === undefined) {
      this.append(name, leaf);
    } else if (present.leaf !== undefined || present.children.length === 0) {
      present.become(leaf);
    } else {
      const index = must(this.#index, 'the index of an object with children');
      index.delete(name);
      present.isSpread = true;
      adopt(index, present.children, `${name}.`);
      this.append(name, leaf);
    }
  }

  /** Takes this branch out of the event. */
  drop(): void {
    this.leaf = undefined;
    this.#children = undefined;
    this.#index = undefined;
    this.isSpread = true;
  }
}

const NONE: readonly Branch[] = [];

/** Takes the children of a spread object, which stay where they stand in the order, into the index of another. */
function adopt(index: Map<string, Branch>, children: readonly Branch[], prefix: string): void {
  for (const child of children) {
    if (child.isSpread) {
      adopt(index, child.children, prefix);
    } else if (child.leaf === undefined && !child.isExplicit) {
      child.isSpread = true;
      adopt(index, child.children, `${prefix}${child.name}.`);
    } else {
      child.name = prefix + child.name;
      child.parentPath = -1;
      if (index.has(child.name)) child.drop();
      else index.set(child.name, child);
    }
  }
}

function leafOf(member: Member): Leaf {
  if (member.members?.length === 0) return { type: 'empty' };
  if (member.plain !== undefined) return { type: 'plain', ...member.plain };
  return { type: member.isObject ? 'tooDeep' : 'value', start: member.start, end: member.end };
}

/**
 * The names that a key stands for: its parts between dots, at most `count`, where the last keeps its dots; or the key
 * itself when a part is empty.
 */
export function splitName(key: string, count: number): string[] {
  if (!key.includes('.')) return [key];
  const parts = key.split('.');
  if (parts.includes('')) return [key];
  return parts.length <= count
    ? parts
    : [...parts.slice(0, count - 1), parts.slice(count - 1).join('.')];
}
