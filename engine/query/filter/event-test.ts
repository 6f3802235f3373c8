import { unreachable } from '../../base/assert.ts';
import { Kind } from '../../column/kind.ts';
import type { Predicate } from '../model/predicate.ts';
import { anElementPasses, type ValueTest } from './match.ts';
import { type Plan, planOf } from './plan.ts';
import { asciiText } from './text.ts';

const MESSAGE = 'message';

/** The values of one event, as a cursor over those at a path. Kinds without a column are no values. */
export interface EventValues {
  /** Kind of the value that `next` went to. */
  kind: Kind;
  /**
   * Its text, `bytes[start, end)`, WTF-8: of strings and dates what they are, of numbers as written, of arrays their
   * JSON without blanks, of a boolean one byte when it is true, else none.
   */
  bytes: Uint8Array;
  start: number;
  end: number;
  /** Turns to the values whose names joined by dots are `path`. */
  open(path: string): void;
  /** Turns to all values of the event. */
  openAll(): void;
  /** Goes to the next value; false when there is none. */
  next(): boolean;
  /** True when there is a value at `path` or in an object there. */
  has(path: string): boolean;
}

/**
 * A predicate that is asked of single events; it holds for those that a scan of their block finds. Used by one thread.
 */
export class EventTest {
  readonly #plan: Plan;

  /** `allowance` is asked before each comparison with a regular expression. */
  constructor(predicate: Predicate, allowance?: (steps: number) => boolean) {
    this.#plan = planOf(predicate, allowance);
  }

  /** Is set when it holds for every event. */
  get isAll(): boolean {
    return this.#plan.type === 'all';
  }

  /** True when it holds for the event. */
  holds(event: EventValues): boolean {
    return this.#plan.type === 'all' || holds(this.#plan, event);
  }
}

function holds(plan: Plan, event: EventValues): boolean {
  switch (plan.type) {
    case 'all':
      return true;
    case 'none':
      return false;
    case 'and':
      for (const child of plan.children) if (!holds(child, event)) return false;
      return true;
    case 'or':
      for (const child of plan.children) if (holds(child, event)) return true;
      return false;
    case 'not':
      return !holds(plan.child, event);
    case 'words':
      return hasWords(plan.test, event);
    case 'value':
      for (const path of plan.paths) if (hasValue(path, plan.test, event)) return true;
      return false;
    case 'anywhere':
      event.openAll();
      return somePasses(plan.test, event);
    case 'exists':
      for (const path of plan.paths) if (event.has(path)) return true;
      return false;
    default:
      return unreachable(plan);
  }
}

function hasValue(path: string, test: ValueTest, event: EventValues): boolean {
  event.open(path);
  return somePasses(test, event);
}

function somePasses(test: ValueTest, event: EventValues): boolean {
  while (event.next()) if (passes(test, event)) return true;
  return false;
}

function passes(test: ValueTest, { kind, bytes, start, end }: EventValues): boolean {
  switch (kind) {
    // A date's text names its form and its value, so that it stands for both.
    case Kind.STRING:
    case Kind.DATE:
      return test.text(bytes, start, end);
    case Kind.NUMBER:
      return test.numberText(asciiText(bytes, start, end));
    case Kind.BOOLEAN:
      return test.boolean(end > start);
    case Kind.ARRAY:
      return anElementPasses(test, bytes, start, end);
    default:
      return false;
  }
}

function hasWords(test: ValueTest, event: EventValues): boolean {
  event.open(MESSAGE);
  while (event.next()) {
    const { kind, bytes, start, end } = event;
    const isText = kind === Kind.STRING || kind === Kind.DATE;
    if (isText && test.text(bytes, start, end)) return true;
  }
  return false;
}
