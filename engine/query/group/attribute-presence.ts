import { EngineError } from '../../base/errors.ts';
import { Pace, type Units } from '../../base/pause.ts';
import { Kind } from '../../column/kind.ts';
import type { Block } from '../../segment/block/block.ts';
import type { BlockColumns } from '../../segment/column-outline.ts';
import { addRows, type Bitmap, countRows, isEmpty, keepRows, noRows } from '../model/bitmap.ts';
import type { AttributeKind } from '../model/query.ts';
import type { BlockVisitor } from './block-scan.ts';

/** Attributes that one query tells apart; the names come from strangers. */
const ATTRIBUTES_SEEN_MAX = 200_000;
/** Steps of a unit that it takes to count the rows of a column. */
const COLUMN_STEPS = 256;

/** Parts of an attribute's columns that have its own name, in the order in which they are told. */
const KIND_NAMES: readonly [Kind, AttributeKind][] = [
  [Kind.STRING, 'string'],
  [Kind.NUMBER, 'number'],
  [Kind.BOOLEAN, 'boolean'],
  [Kind.DATE, 'date'],
  [Kind.ARRAY, 'array'],
];

/** How many events have an attribute. */
export interface Presence {
  path: string;
  eventCount: number;
  kinds: AttributeKind[];
}

/** Which attributes are looked at: all when there are no `paths`, of those the ones that begin with `prefix`. */
export interface AttributeChoice {
  paths?: readonly string[];
  prefix?: string;
}

/** Counts that one block adds to an attribute. */
interface Found {
  eventCount: number;
  /** A bit for each kind. */
  kinds: number;
}

/** A pass over the blocks that counts the events that have each attribute. Owned by one thread. */
export class PresenceCounter implements BlockVisitor {
  readonly needsRows = true;
  readonly isFull = false;
  readonly #paths: ReadonlySet<string> | undefined;
  readonly #prefix: string;
  readonly #counts = new Map<string, Found>();

  constructor({ paths, prefix }: AttributeChoice) {
    this.#paths = paths === undefined ? undefined : new Set(paths);
    this.#prefix = prefix ?? '';
  }

  addCount(): void {}

  addColumns(columns: BlockColumns): boolean {
    const found = new Map<string, Found>();
    for (const { path, kind, presentCount } of columns((path) => this.#isWanted(path))) {
      // Which events have it in both columns is not known.
      if (found.has(path)) return false;
      found.set(path, { eventCount: presentCount, kinds: 1 << kind });
    }
    this.#take(found);
    return true;
  }

  *add(block: Block, rows: Bitmap): Units<void> {
    if (isEmpty(rows)) return;
    const byPath = new Map<string, number[]>();
    for (const [index, { path }] of block.columns.entries()) {
      if (!this.#isWanted(path)) continue;
      const columns = byPath.get(path);
      if (columns === undefined) byPath.set(path, [index]);
      else columns.push(index);
    }
    const selectedCount = countRows(rows);
    const found = new Map<string, Found>();
    const pace = new Pace();
    for (const [path, columns] of byPath) {
      found.set(path, countEvents(block, columns, rows, selectedCount));
      if (pace.isFull(COLUMN_STEPS)) yield;
    }
    this.#take(found);
  }

  /** The attributes that there are, the one that most events have first, then by path. */
  presences(): Presence[] {
    const all: Presence[] = [];
    for (const [path, { eventCount, kinds }] of this.#counts) {
      const names = KIND_NAMES.filter(([kind]) => (kinds & (1 << kind)) !== 0);
      all.push({ path, eventCount, kinds: names.map(([, name]) => name) });
    }
    return all.sort((a, b) => b.eventCount - a.eventCount || (a.path < b.path ? -1 : 1));
  }

  #isWanted(path: string): boolean {
    return path.startsWith(this.#prefix) && (this.#paths?.has(path) ?? true);
  }

  #take(found: ReadonlyMap<string, Found>): void {
    for (const [path, { eventCount, kinds }] of found) {
      if (eventCount === 0) continue;
      const known = this.#counts.get(path);
      if (known === undefined) {
        this.#counts.set(path, { eventCount, kinds });
        continue;
      }
      known.eventCount += eventCount;
      known.kinds |= kinds;
    }
    if (this.#counts.size <= ATTRIBUTES_SEEN_MAX) return;
    throw new EngineError(
      'LIMIT',
      `the events have more than ${ATTRIBUTES_SEEN_MAX} attributes; allowed: a prefix or a shorter time`,
    );
  }
}

/** The events among `rows`, of which there are `selectedCount`, that have a value in one of the columns. */
function countEvents(
  block: Block,
  columns: readonly number[],
  rows: Bitmap,
  selectedCount: number,
): Found {
  let kinds = 0;
  let eventCount = 0;
  const all = selectedCount === block.rowCount;
  const seen = columns.length > 1 ? noRows(block.rowCount) : undefined;
  for (const index of columns) {
    const { kind, presentCount } = block.info(index);
    let count = 0;
    if (presentCount === block.rowCount) count = selectedCount;
    else if (all && seen === undefined) count = presentCount;
    else count = countPresent(block.presentBits(index), rows, seen);
    if (count > 0) kinds |= 1 << kind;
    eventCount = Math.max(eventCount, count);
  }
  if (seen !== undefined && eventCount < selectedCount) eventCount = countRows(seen);
  return { eventCount, kinds };
}

/** How many of `present`, of all when there is none, are among `rows`; these are added to `seen`. */
function countPresent(present: Bitmap | undefined, rows: Bitmap, seen: Bitmap | undefined): number {
  const both = rows.slice();
  keepRows(both, present);
  if (seen !== undefined) addRows(seen, both);
  return countRows(both);
}
