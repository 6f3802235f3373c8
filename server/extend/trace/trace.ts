import type { EventTest } from '../../../engine/query/filter/event-test.ts';
import type { EventDateReader } from '../event-date.ts';
import type { Extractor } from '../extraction.ts';
import type { Findings } from '../found/findings.ts';
import type { Finding, StepGroup } from '../step-group.ts';
import type { KnownAnswers } from './known-answers.ts';

/** Numbers of an entry that is new, and of a message that is not changed. */
export const NEW = -1;
export const UNCHANGED = -2;

/** A place of a node, which is empty until a row has come there. */
export class Slot {
  node: TraceNode | undefined;
}

/** Values of a row that a filter asked for: numbers of their entries by dotted path, and the paths that have some. */
export interface Asked {
  places: Map<string, readonly number[]>;
  presence: Map<string, boolean>;
}

/** A filter whose answer depends on values, and its answers for short texts of the only value that it has read. */
export interface TestNode extends Asked {
  readonly type: 'test';
  readonly known: KnownAnswers;
  readonly test: EventTest;
  readonly holds: Slot;
  readonly fails: Slot;
}

/** Steps of a group that may find something in the text of an entry, as bits: a slot for each answer that came. */
export interface GroupNode {
  readonly type: 'group';
  readonly entry: number;
  readonly group: StepGroup;
  readonly masks: number[];
  readonly slots: Slot[];
}

/** Asks whether an extractor may find something in the text of an entry. */
export interface MayNode {
  readonly type: 'may';
  readonly entry: number;
  readonly extractor: Extractor;
  readonly finds: Slot;
  readonly passes: Slot;
}

/**
 * Has a finder look at the text of an entry, and where that is unsure, an extractor: a slot for each list of paths that
 * the finder found. What extractors find is for the steps.
 */
export interface FindNode {
  readonly type: 'find';
  readonly entry: number;
  readonly finding: Finding;
  readonly extractor: Extractor;
  readonly nothing: Slot;
  readonly extracted: Slot;
  readonly lists: FoundList[];
}

/** Gives an attribute the level that the text of an entry means. */
export interface LevelNode {
  readonly type: 'level';
  readonly entry: number;
  readonly none: Slot;
  readonly some: Slot;
  /** Path of the attribute, and its entry, or NEW. */
  path: number;
  to: number;
}

/** Gives the event the date that the text of an entry says. */
export interface DateNode {
  readonly type: 'date';
  readonly entry: number;
  readonly reader: EventDateReader;
  readonly none: Slot;
  readonly some: Slot;
}

/** Makes the text of an entry the message, whose entry is `to`, or NEW. */
export interface MoveNode {
  readonly type: 'move';
  readonly from: number;
  readonly to: number;
  readonly keeps: boolean;
  readonly next: Slot;
}

/** Ends the event. Without `moves` nothing was written. */
export interface EndNode {
  readonly type: 'end';
  readonly moves: Moves | undefined;
}

/** Rows that come here are for the steps themselves. */
export interface PlainNode {
  readonly type: 'plain';
}

/** A piece of what steps do with rows of one shape. Entries are counted from the first one of the row. */
export type TraceNode =
  | TestNode
  | GroupNode
  | MayNode
  | FindNode
  | LevelNode
  | DateNode
  | MoveNode
  | EndNode
  | PlainNode;

/** Rows that come here are for the steps themselves. */
export const PLAIN: PlainNode = { type: 'plain' };

/** Paths that a finder found, which of them the event took, and what follows. */
export class FoundList {
  readonly paths: Int32Array;
  readonly kinds: Uint8Array;
  readonly optional: number;
  /** Set when the finder has a text for the message. */
  readonly hasMessage: boolean;
  /** 1 for each one that became an attribute. */
  readonly isPut: Uint8Array;
  /** Entry of the message that a text was put into, or NEW; UNCHANGED when none was. */
  message = UNCHANGED;
  readonly next = new Slot();

  constructor({ path, kind, count, optional, messageLength }: Findings) {
    this.paths = path.slice(0, count);
    this.kinds = kind.slice(0, count);
    this.optional = optional;
    this.hasMessage = messageLength >= 0;
    this.isPut = new Uint8Array(count);
  }

  /** Recognises its paths in what was found. */
  is({ path, kind, count, optional, messageLength }: Findings): boolean {
    const { paths, kinds } = this;
    if (count !== paths.length || optional !== this.optional) return false;
    if (messageLength >= 0 !== this.hasMessage) return false;
    for (let found = 0; found < count; found++) {
      if (path[found] !== paths[found] || kind[found] !== kinds[found]) return false;
    }
    return true;
  }
}

/** Copies of entries that put a row in order, one after the other, and the entries that it has then. */
export interface Moves {
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Copies that go behind the row. */
  readonly saved: number;
  readonly count: number;
}

/** The copies that make entry `order[i]` of `count` entries entry i. */
export function movesOf(order: readonly number[], count: number): Moves {
  const from: number[] = [];
  const to: number[] = [];
  // What goes up would be overwritten before it is copied.
  const ups = order.filter((entry, place) => entry < place);
  for (const [number, entry] of ups.entries()) {
    from.push(entry);
    to.push(count + number);
  }
  for (const [place, entry] of order.entries()) {
    if (entry === place) continue;
    from.push(entry < place ? count + ups.indexOf(entry) : entry);
    to.push(place);
  }
  return {
    from: Int32Array.from(from),
    to: Int32Array.from(to),
    saved: ups.length,
    count: order.length,
  };
}
