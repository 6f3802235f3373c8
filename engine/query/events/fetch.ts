import type { Units } from '../../base/pause.ts';
import type { Block } from '../../segment/block/block.ts';
import type { BlockRef } from '../../segment/frame.ts';
import { type Plan, planOf } from '../filter/plan.ts';
import { addRow, hasRow, noRows } from '../model/bitmap.ts';
import type { EventKey } from '../model/event-id.ts';
import type { Predicate } from '../model/predicate.ts';
import type { FetchQuery, ListedEvent, Snapshot } from '../model/query.ts';
import { type BlockSource, firstAt, isDamage, type Progress } from '../model/source.ts';
import { telling } from '../model/units.ts';
import { rowsWhere } from '../scan/scan.ts';
import { EventBuilder } from './event.ts';

/** True when a block may have the event of this key. */
function covers(ref: BlockRef, key: EventKey): boolean {
  if (key.timeMs < ref.minTimeMs || key.timeMs > ref.maxTimeMs) return false;
  return (
    ref.sealed ||
    (ref.writer === key.writer &&
      key.sequence >= ref.firstSequence &&
      key.sequence < ref.endSequence)
  );
}

/** The row of an event in a block that covers its key; -1 when it is not there. Throws CORRUPTION. */
function rowOf(block: Block, key: EventKey): number {
  const times = block.timeMs();
  const { writers, sequences } = block.keys();
  if (!block.ref.sealed) {
    const row = sequences.indexOf(key.sequence);
    return times[row] === key.timeMs ? row : -1;
  }
  for (let row = firstAt(times, key.timeMs); times[row] === key.timeMs; row++) {
    if (writers[row] === key.writer && sequences[row] === key.sequence) return row;
  }
  return -1;
}

/**
 * Fetches one event, a block a unit. A malformed, an unknown and a hidden id are the same: no event.
 * Throws CORRUPTION when it may be in a damaged block and is in no other, and what the source throws.
 */
export function* fetchUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: FetchQuery,
): Generator<Progress, ListedEvent | undefined> {
  const key = source.ids.decode(query.id);
  if (key === undefined) return undefined;
  const plan = planOf(query.predicate);
  return yield* firstFound(snapshot, key, (ref) => fetchFrom(source, ref, key, plan, query));
}

/**
 * The first that `find` finds in the blocks that cover a key, a block a unit. Throws CORRUPTION when a block is damaged
 * and nothing is found in others, and what `find` throws besides.
 */
function* firstFound<T>(
  { blocks }: Snapshot,
  key: EventKey,
  find: (ref: BlockRef) => Units<T | undefined>,
): Generator<Progress, T | undefined> {
  const refs = blocks.filter((ref) => covers(ref, key));
  let damage: unknown;
  for (const [unitsDone, ref] of refs.entries()) {
    const progress = { unitsDone, unitsTotal: refs.length };
    try {
      const found = yield* telling(() => progress, find(ref));
      if (found !== undefined) return found;
    } catch (error) {
      if (!isDamage(error)) throw error;
      damage = error;
    }
    yield { unitsDone: unitsDone + 1, unitsTotal: refs.length };
  }
  if (damage !== undefined) throw damage;
  return undefined;
}

function* fetchFrom(
  source: BlockSource,
  ref: BlockRef,
  key: EventKey,
  plan: Plan,
  query: FetchQuery,
): Units<ListedEvent | undefined> {
  const found = yield* rowFrom(source, ref, key, plan);
  if (found === undefined) return undefined;
  const { block, row } = found;
  return (yield* EventBuilder.open(block, source.ids, query, [row])).build(row);
}

/** Where an event is. */
export interface EventPlace {
  block: Block;
  row: number;
}

/**
 * The place of an event in a block that covers its key; `undefined` when it is not there, or hidden. Throws CORRUPTION.
 */
function* rowFrom(
  source: BlockSource,
  ref: BlockRef,
  key: EventKey,
  plan: Plan,
): Units<EventPlace | undefined> {
  const block = source.open(ref);
  const row = rowOf(block, key);
  if (row < 0) return undefined;
  const wanted = noRows(block.rowCount);
  addRow(wanted, row);
  return hasRow(yield* rowsWhere(plan, block, wanted), row) ? { block, row } : undefined;
}

/** Finds the place of an event for which `predicate` holds, a block a unit. Throws as `fetchUnits`. */
export function* placeUnits(
  source: BlockSource,
  snapshot: Snapshot,
  key: EventKey,
  predicate: Predicate,
): Generator<Progress, EventPlace | undefined> {
  const plan = planOf(predicate);
  return yield* firstFound(snapshot, key, (ref) => rowFrom(source, ref, key, plan));
}
