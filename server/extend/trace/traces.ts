import { ZERO } from '../../../engine/base/ascii.ts';
import { EVENT_BYTES_MAX } from '../../../engine/base/limits.ts';
import { Kind } from '../../../engine/column/kind.ts';
import { PATH_MESSAGE, PATH_ROOT } from '../../../engine/column/path.ts';
import type { Rows } from '../../../engine/column/rows.ts';
import type { Draft } from '../draft.ts';
import { NOTHING, UNSURE } from '../found/findings.ts';
import type { PatternBudget } from '../pattern-budget.ts';
import type { RowValues } from '../row-values.ts';
import type { Severities } from '../severity.ts';
import { Overwritten } from './overwritten.ts';
import { Recorder } from './recorder.ts';
import { Shapes, type TracedShape } from './shapes.ts';
import {
  type DateNode,
  type EndNode,
  type FindNode,
  type FoundList,
  type GroupNode,
  type LevelNode,
  type MoveNode,
  type Moves,
  NEW,
  type Slot,
  type TestNode,
  UNCHANGED,
} from './trace.ts';
import { SEVERAL, TraceValues } from './trace-values.ts';

/** Parts of an extender that traces work with. */
export interface TracedParts {
  rows: Rows;
  /** Has begun with the row. */
  draft: Draft;
  budget: PatternBudget;
  severities: Severities;
}

/** The side buffer of a run of events beyond which no event of it is extended any more: it has to fit in 31 bits. */
export const SIDE_BYTES_MAX = 1_073_741_824;

/** Rows of a shape that are recorded, and one more for so many that need not be. */
const RECORDS_MIN = 32;
const HITS_A_RECORD = 8;

/**
 * Does with rows of known shapes what the steps of an extender did with earlier ones: which steps run, and where what
 * they find goes, depends on the shape and on the answers that its trace asks for. Everything else is left to the steps
 * themselves, the plain form. Made for one path table, owned by one thread.
 */
export class Traces {
  /** Rows that were done. */
  rowCount = 0;
  readonly #parts: TracedParts;
  readonly #shapes = new Shapes();
  readonly #values: TraceValues;
  readonly #recorder: Recorder;
  readonly #overwritten: Overwritten;
  #first = 0;
  /** The shape of the row that is to be recorded. */
  #shape: TracedShape | undefined;
  #timeMs = Number.NaN;

  constructor(parts: TracedParts) {
    this.#parts = parts;
    this.#values = new TraceValues(parts.draft.values);
    this.#recorder = new Recorder(parts.rows, this.#values);
    this.#overwritten = new Overwritten(parts.rows);
  }

  /** Notes what is done with a row that `take` has left. `undefined` when nobody wants to know. */
  record(): Recorder | undefined {
    if (this.#shape === undefined) return undefined;
    this.#recorder.begin(this.#shape.root);
    return this.#recorder;
  }

  /** Ends what `record` has begun. */
  endRecord(): void {
    if (this.#shape === undefined) return;
    this.#shapes.grew(this.#shape, this.#recorder.nodeCount);
    this.#shape = undefined;
  }

  /**
   * Extends the last row, which has begun and has a date of its own when `hasDate`; false when that is for the steps:
   * then it is as it was.
   */
  take(hasDate: boolean): boolean {
    const { rows, draft, budget } = this.#parts;
    const shape = this.#shapes.of(rows);
    this.#shape = undefined;
    if (shape === undefined) return false;
    const row = rows.rowCount - 1;
    const sideBytes = rows.sideBytes;
    this.#first = rows.rowEntry[row];
    this.#timeMs = Number.NaN;
    this.#overwritten.begin();
    draft.beginLeaves();
    let end: EndNode | undefined;
    try {
      end = this.#follow(shape);
    } catch {
      // The steps will tell.
      end = undefined;
    }
    const addedBytes = rows.sideBytes - sideBytes;
    const isFull = addedBytes > EVENT_BYTES_MAX || rows.sideBytes > SIDE_BYTES_MAX;
    if (end === undefined || isFull || budget.refused) {
      this.#overwritten.undo();
      rows.entryCount = rows.rowEntry[row + 1];
      rows.sideBytes = sideBytes;
      budget.undoEvent();
      budget.beginEvent();
      return false;
    }
    if (!Number.isNaN(this.#timeMs)) draft.setTime(this.#timeMs);
    if (end.moves !== undefined) {
      this.#putInOrder(end.moves, row);
      draft.settle(hasDate);
    }
    shape.hits++;
    this.rowCount++;
    return true;
  }

  /** Goes through the trace of a shape to its end; `undefined` when the row is for the steps. */
  #follow(shape: TracedShape): EndNode | undefined {
    let slot: Slot | undefined = shape.root;
    while (slot !== undefined) {
      const { node }: Slot = slot;
      if (node === undefined) break;
      switch (node.type) {
        case 'test':
          slot = this.#test(node);
          break;
        case 'group':
          slot = this.#group(node);
          break;
        case 'may': {
          const { signs, firstByte } = this.#turnTo(node.entry);
          slot = node.extractor.mayFind?.(signs, firstByte) === false ? node.passes : node.finds;
          break;
        }
        case 'find':
          slot = this.#find(node);
          break;
        case 'level':
          slot = this.#level(node);
          break;
        case 'date':
          slot = this.#date(node);
          break;
        case 'move':
          slot = this.#move(node);
          break;
        case 'end':
          return node;
        default:
          shape.misses++;
          return undefined;
      }
    }
    shape.misses++;
    if (shape.misses <= RECORDS_MIN + shape.hits / HITS_A_RECORD) this.#shape = shape;
    return undefined;
  }

  #turnTo(entry: number): RowValues {
    const { values } = this.#parts.draft;
    values.turnToEntry(this.#first + entry);
    return values;
  }

  #test(node: TestNode): Slot | undefined {
    const { rows, budget } = this.#parts;
    const known = node.known.of(rows, this.#first);
    if (known !== undefined) return known ? node.holds : node.fails;
    const values = this.#values;
    const { leftSteps } = budget;
    values.begin(node, this.#first, false);
    const holds = node.test.holds(values);
    if (values.isLost) return undefined;
    // An answer that takes of the budget has to do so each time.
    const isFree = budget.leftSteps === leftSteps && !budget.refused;
    if (isFree && values.only !== SEVERAL) node.known.add(rows, this.#first, values.only, holds);
    return holds ? node.holds : node.fails;
  }

  #group({ entry, group, masks, slots }: GroupNode): Slot | undefined {
    const mask = group.mayFind(this.#turnTo(entry));
    for (let place = 0; place < masks.length; place++)
      if (masks[place] === mask) return slots[place];
    return undefined;
  }

  #find({ entry, finding, extractor, nothing, extracted, lists }: FindNode): Slot | undefined {
    const values = this.#turnTo(entry);
    const { finder, found } = finding;
    found.begin();
    const answer = values.isPlain ? finder.find(values) : UNSURE;
    if (answer === UNSURE) {
      const { budget } = this.#parts;
      const isNothing = extractor.extract(values.text, budget, values.signs) === undefined;
      return isNothing ? nothing : extracted;
    }
    if (answer === NOTHING) return nothing;
    for (const list of lists) {
      if (!list.is(found)) continue;
      if (list.next.node?.type !== 'plain') this.#add(list, finding.found);
      return list.next;
    }
    return undefined;
  }

  /** Adds what was found, as RowEdit does. */
  #add({ isPut, message }: FoundList, found: FindNode['finding']['found']): void {
    const {
      rows,
      draft: { leaves },
    } = this.#parts;
    const { path, kind, start, length, count } = found;
    for (let at = 0; at < count; at++) {
      if (isPut[at] === 0) continue;
      const isNumber = kind[at] === Kind.NUMBER;
      if (isNumber || kind[at] === Kind.STRING) {
        leaves.addPlain(path[at], start[at], length[at], isNumber);
      } else rows.add(path[at], kind[at] as Kind, start[at], length[at], 0, 0);
    }
    if (message !== UNCHANGED) this.#placeMessage(message, found.messageStart, found.messageLength);
  }

  #placeMessage(to: number, start: number, length: number): void {
    const { rows } = this.#parts;
    if (to === NEW) {
      rows.add(PATH_MESSAGE, Kind.STRING, start, length, 0, 0);
      return;
    }
    const entry = this.#first + to;
    this.#overwritten.save(entry);
    rows.kind[entry] = Kind.STRING;
    rows.start[entry] = start;
    rows.length[entry] = length;
  }

  #level({ entry, none, some, path, to }: LevelNode): Slot | undefined {
    const level = this.#parts.severities.of(this.#turnTo(entry));
    if (level === undefined) return none;
    if (path === PATH_ROOT) return some.node === undefined ? undefined : some;
    const { rows } = this.#parts;
    const at = rows.reserveSide(1);
    rows.side[at] = ZERO + level;
    rows.add(path, Kind.NUMBER, ~at, 1, level, 0);
    if (to === NEW) return some;
    this.#overwritten.save(this.#first + to);
    rows.copyEntry(--rows.entryCount, this.#first + to);
    return some;
  }

  #date({ entry, reader, none, some }: DateNode): Slot {
    const ms = reader.dateOf(this.#turnTo(entry), this.#parts.rows.receivedMs);
    if (ms === undefined) return none;
    this.#timeMs = ms;
    return some;
  }

  #move({ from, to, keeps, next }: MoveNode): Slot | undefined {
    const { rows } = this.#parts;
    const entry = this.#first + from;
    const kind = rows.kind[entry];
    if (kind !== Kind.STRING && kind !== Kind.DATE) return undefined;
    const start = rows.start[entry];
    const length = rows.length[entry];
    if (!keeps) {
      this.#overwritten.save(entry);
      rows.path[entry] = PATH_ROOT;
      rows.kind[entry] = Kind.NULL;
    }
    this.#placeMessage(to, start, length);
    return next;
  }

  /** Puts the entries in the order in which they were put before. */
  #putInOrder(moves: Moves, row: number): void {
    const { rows } = this.#parts;
    const first = this.#first;
    const { from, to, saved } = moves;
    for (let save = 0; save < saved; save++) rows.addCopy(first + from[save]);
    const { path, kind, start, length, value, detail } = rows;
    for (let move = saved; move < from.length; move++) {
      const source = first + from[move];
      const target = first + to[move];
      path[target] = path[source];
      kind[target] = kind[source];
      start[target] = start[source];
      length[target] = length[source];
      value[target] = value[source];
      detail[target] = detail[source];
    }
    rows.entryCount = first + moves.count;
    rows.rowEntry[row + 1] = rows.entryCount;
  }
}
