import { assert } from '../../base/assert.ts';
import type { Units } from '../../base/pause.ts';
import { BlockScan, type BlockVisitor } from '../group/block-scan.ts';
import { Cube } from '../group/cube.ts';
import { EntryCounts } from '../group/entry/entry-counts.ts';
import { EntryMeasures } from '../group/entry/entry-measures.ts';
import { FieldLevel, levelOf, TimeLevel } from '../group/level.ts';
import type { PassStage } from '../group/nesting.ts';
import { Pass, type PassTable } from '../group/pass.ts';
import { dataOf, noBuckets, searchClaimed, shareClaims } from '../group/share-search.ts';
import {
  type JoinedPart,
  type Joining,
  type SharedScan,
  type SharesSpec,
  type StageSpec,
  type TableSpec,
  unpackRefs,
  type VisitorSpec,
} from '../group/shared-scan.ts';
import { LeastValues, ValueSketch } from '../group/value-sketch.ts';
import { MetricTable } from '../metric/metric-table.ts';
import { memoryOf } from '../model/budget.ts';
import { Claims, OWNER } from '../model/claims.ts';
import type { BlockSource, Progress } from '../model/source.ts';
import { TupleTable } from '../value/tuple-table.ts';
import { ValueTable } from '../value/value-table.ts';
import { FirstFinder } from './ordered-list.ts';
import { joinRebuilding } from './page-events.ts';
import { joinSearch } from './row-search.ts';
import { Counter } from './total.ts';

/** All who join in a scan may take together what its owner may, divided by this. */
const MEMORY_PART = 2;

/**
 * Joins in a scan that another thread has begun: visits the blocks that are left, as long as there are any, and gives
 * what it has found of them. Throws what the source throws but CORRUPTION, and LIMIT; the owner then visits those
 * blocks itself.
 */
export function* joinUnits(
  source: BlockSource,
  shared: SharedScan,
  joining: Joining,
): Units<JoinedPart> {
  const { refs, cells, reach, predicate, spec } = shared;
  if (spec.type === 'page') return yield* ignoring(joinSearch(source, shared, spec, joining));
  if (spec.type === 'shares') return yield* ignoring(joinShares(source, shared, spec, joining));
  const { member, count } = joining;
  const memoryPart = MEMORY_PART * count;
  if (spec.type === 'events') {
    return yield* ignoring(joinRebuilding(source, shared, spec, joining, memoryPart));
  }
  const blocks = unpackRefs(refs);
  const visitor = visitorOf(spec, source, memoryPart);
  const scan = new BlockScan(source, { blocks }, { ...reach, predicate });
  const read = yield* ignoring(scan.join(visitor, new Claims(blocks, member, cells)));
  const data = visitor.found?.();
  return { member, ...read, ...(data === undefined ? {} : { data }) };
}

/** Joins in the search of a level's buckets: searches the shares that are left. Throws as `joinUnits`. */
function* joinShares(
  source: BlockSource,
  { refs, cells, reach, predicate }: SharedScan,
  spec: SharesSpec,
  { member }: Joining,
): Generator<Progress, JoinedPart> {
  const { secret } = source;
  const { groupBy, place, metrics, after, count, seed } = spec;
  const scan = new BlockScan(source, { blocks: unpackRefs(refs) }, { ...reach, predicate });
  // Their memory is for so many.
  if (member > OWNER + spec.others) return { member, ...scan.joined };
  const task = { stages: stagesOf(spec.stages, source), groupBy, place, metrics, after, secret };
  const claims = shareClaims(count, member, cells);
  const level = new FieldLevel(groupBy.path, new ValueTable(seed));
  const found = noBuckets(groupBy, place, level, metrics.length > 0);
  const outcome = yield* searchClaimed(scan, task, spec, claims, claims.jump(), found);
  const part = { member, ...scan.joined };
  return outcome === 'done' ? { ...part, data: dataOf(found) } : part;
}

/** Units of which nothing is told. */
function* ignoring<T>(units: Generator<unknown, T>): Units<T> {
  for (;;) {
    const step = units.next();
    if (step.done === true) return step.value;
    yield;
  }
}

function visitorOf(spec: VisitorSpec, source: BlockSource, memoryPart: number): BlockVisitor {
  if (spec.type === 'total') return new Counter();
  if (spec.type === 'ordered') {
    const memoryBytesMax = Math.floor(memoryOf(source) / memoryPart);
    return new FirstFinder(source, spec, new Set(), { memoryBytesMax });
  }
  if (spec.type === 'sketch') {
    return new ValueSketch(stagesOf(spec.stages, source), spec.path, spec.seed, spec.bound);
  }
  if (spec.type === 'least') return new LeastValues(spec);
  const memoryBytesMax = Math.floor(spec.memoryBytesMax / memoryPart);
  if (spec.type === 'measures') return new EntryMeasures(source, { ...spec, memoryBytesMax });
  if (spec.type === 'cube') {
    const levels = spec.levels.map((level) => levelOf(level, source));
    return new Cube(levels, spec.cellsMax, memoryBytesMax);
  }
  const stages = stagesOf(spec.stages, source);
  if (spec.type === 'entries') {
    return new EntryCounts(source, stages, spec.path, spec.seed, memoryBytesMax);
  }
  const tables = spec.tables.map((table) => tableOf(table, source));
  return new Pass(stages, tables, { index: 0, count: 1 }, spec.final, memoryBytesMax);
}

function stagesOf(specs: readonly StageSpec[], source: BlockSource): PassStage[] {
  return specs.map(({ level, tuples, grows, total }) => ({
    level: levelOf(level, source),
    tuples: TupleTable.of(tuples),
    grows,
    total,
  }));
}

function tableOf({ metrics, steps }: TableSpec, source: BlockSource): PassTable {
  const level = steps === undefined ? undefined : levelOf(steps, source);
  assert(level === undefined || level instanceof TimeLevel, 'steps are of time');
  return { metrics: new MetricTable(metrics, source.secret), steps: level };
}
