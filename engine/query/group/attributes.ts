import { entrySeed } from '../../column/entries.ts';
import type { MeasuredValues } from '../metric/attribute-measures.ts';
import type { Predicate } from '../model/predicate.ts';
import type {
  AttributeFacts,
  AttributesQuery,
  AttributesResult,
  Snapshot,
} from '../model/query.ts';
import type { BlockSource, Progress } from '../model/source.ts';
import { telling } from '../model/units.ts';
import { type Presence, PresenceCounter } from './attribute-presence.ts';
import { ValueCounter, type ValueLimits, ValueMeter } from './attribute-values.ts';
import { BlockScan } from './block-scan.ts';
import { WholeValues, wholeTaken } from './whole-values.ts';

/** Attributes whose values are counted in one pass, and whose values are only measured: each takes some memory. */
const PASS_ATTRIBUTES = 2;
const PASS_MEASURED = 8;
/** Attributes of few events that are looked at in one pass, and how many each has: there may be very many of them. */
const PASS_FEW = 64;
const FEW_EVENTS = 4_096;

const LIMITS: ValueLimits = { distinctMax: 50_000, memoryBytesMax: 8 * 1024 * 1024 };

/**
 * Finds the attributes of the selected events and, when `values` are asked for, what they hold. First the events that
 * have each are counted, a block a unit, of sealed blocks that are selected whole by their footers; then the values of
 * a few attributes a pass, of more that have few events. All is exact but the number of distinct values above 10,000,
 * which is within 1 %: the values of an attribute that has too many are left out. Damaged blocks are left out and
 * counted. Throws LIMIT when there are too many attributes, and what the source throws but CORRUPTION. Source:
 * INTERFACE.md 4.8.
 */
export function* attributesUnits(
  source: BlockSource,
  snapshot: Snapshot,
  query: AttributesQuery,
  limits: ValueLimits = LIMITS,
): Generator<Progress, AttributesResult> {
  const scan = new BlockScan(source, snapshot, { ...query, predicate: narrowed(query) });
  for (;;) {
    const attributes = yield* factsOf(source, scan, query, limits);
    if (attributes !== undefined) return { attributes, stats: scan.stats };
    // A block turned out damaged after other passes had read it: all begins again without it.
    scan.restart();
  }
}

/**
 * The predicate, for events alone that have one of the attributes when only some are asked for; all are not searched.
 */
function narrowed({ predicate, paths }: AttributesQuery): Predicate {
  if (paths === undefined || predicate.type === 'all') return predicate;
  return { type: 'and', children: [{ type: 'exists', paths: [...paths] }, predicate] };
}

/** Answers about each attribute; `undefined` when a block is damaged that was counted before. */
function* factsOf(
  source: BlockSource,
  scan: BlockScan,
  query: AttributesQuery,
  limits: ValueLimits,
): Generator<Progress, AttributeFacts[] | undefined> {
  const counter = new PresenceCounter(query);
  if ((yield* scan.run(counter)) === 'damaged') return undefined;
  const presences = counter.presences().slice(0, query.limit);
  const { values: valueLimit } = query;
  if (valueLimit === undefined) return presences;
  const facts: AttributeFacts[] = [];
  const size = valueLimit === 0 ? PASS_MEASURED : PASS_ATTRIBUTES;
  for (let from = 0; from < presences.length; ) {
    const some = presences.slice(from, from + sizeAt(presences[from], size));
    from += some.length;
    const paths = some.map(({ path }) => path);
    const measured = yield* valueLimit === 0
      ? measure(source, scan, paths, limits)
      : count(source, scan, paths, valueLimit, limits);
    if (measured === undefined) return undefined;
    for (const presence of some) {
      const values = measured.get(presence.path);
      facts.push(values === undefined ? presence : { ...presence, ...values });
    }
  }
  return facts;
}

/** Attributes of a pass that begins with this one: those behind it have no more events. */
function sizeAt({ eventCount }: Presence, size: number): number {
  return eventCount <= FEW_EVENTS ? PASS_FEW : size;
}

/** The values of some attributes, counted: of many in a share of the memory, the larger ones by themselves again. */
function* count(
  source: BlockSource,
  scan: BlockScan,
  paths: readonly string[],
  valueLimit: number,
  limits: ValueLimits,
): Generator<Progress, Map<string, MeasuredValues> | undefined> {
  const seed = entrySeed(source.secret);
  const whole = new WholeValues(source, scan, paths);
  const shares = Math.max(1, paths.length / PASS_ATTRIBUTES);
  const share = { ...limits, memoryBytesMax: limits.memoryBytesMax / shares };
  const counter = yield* wholeTaken(scan, () => new ValueCounter(paths, seed, share, whole));
  if ((yield* scan.run(counter)) === 'damaged') return undefined;
  const measured = yield* telling(() => scan.progress, counter.results(valueLimit));
  const full = counter.fullPaths();
  for (let from = 0; from < full.length; from += PASS_ATTRIBUTES) {
    const some = full.slice(from, from + PASS_ATTRIBUTES);
    const others = yield* shares > 1
      ? count(source, scan, some, valueLimit, limits)
      : measure(source, scan, some, limits);
    if (others === undefined) return undefined;
    for (const [path, known] of others) {
      measured.set(path, shares > 1 ? known : { ...known, values: null });
    }
  }
  return measured;
}

/** Facts about the values of some attributes that are known without counting each. */
function* measure(
  source: BlockSource,
  scan: BlockScan,
  paths: readonly string[],
  { distinctMax }: ValueLimits,
): Generator<Progress, Map<string, MeasuredValues> | undefined> {
  const whole = new WholeValues(source, scan, paths);
  const meter = yield* wholeTaken(scan, () => new ValueMeter(source, paths, whole));
  if ((yield* scan.run(meter)) === 'damaged') return undefined;
  return yield* telling(() => scan.progress, meter.results(distinctMax));
}
