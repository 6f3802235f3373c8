import { must } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { listUnits } from '../../engine/query/events/list.ts';
import { totalUnits } from '../../engine/query/events/total.ts';
import { aggregateUnits } from '../../engine/query/group/aggregate.ts';
import { attributesUnits } from '../../engine/query/group/attributes.ts';
import { facetsUnits } from '../../engine/query/group/facets.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type { GroupBy, QueryStats } from '../../engine/query/model/query.ts';
import type { Progress } from '../../engine/query/model/source.ts';
import { Reader } from '../../engine/query/reader.ts';
import { verifyBlock } from '../../engine/segment/block/verify-block.ts';
import { HashLanes } from '../../engine/segment/sum/row-hash.ts';
import { RowSum } from '../../engine/segment/sum/row-sum.ts';
import { checkSealed } from '../../engine/store/check.ts';
import { run } from '../query/blocks.ts';
import { FOLDER_ID } from '../segment/shelf.ts';
import type { SmallSegment } from './segments.ts';

/** A question, and its answer as text; `undefined` when it says that it is partial. */
type Question = (reader: Reader, segment: SmallSegment) => string | undefined;

const SECRET = new Uint8Array(32);
const EVER = { fromMs: -1e15, toMs: 1e15, columns: [], predicate: { type: 'all' as const } };
const LIMITS = { distinctMax: 10_000, memoryBytesMax: 1e9 };

/** An answer that comes with what was read for it. */
function answer<T extends { stats: QueryStats }>(
  units: Generator<Progress, T>,
): string | undefined {
  const { stats, ...rest } = run(units);
  return stats.blocksDamaged > 0 ? undefined : JSON.stringify(rest);
}

function selects(predicate: Predicate): Question {
  return (reader, { refs }) => {
    const query = { ...EVER, predicate, order: 'desc' as const, limit: 5, event: true };
    return answer(listUnits(reader, { blocks: refs }, query));
  };
}

function counts(predicate: Predicate): Question {
  return (reader, { refs }) => answer(totalUnits(reader, { blocks: refs }, { ...EVER, predicate }));
}

function groups(path: string): Question {
  const order = { by: { type: 'core' as const }, direction: 'desc' as const };
  const groupBys: GroupBy[] = [{ type: 'field', path, limit: 4, order, total: true }];
  return (reader, { refs }) => {
    const computes = [{ type: 'metric' as const, metric: { type: 'core' as const } }];
    return answer(aggregateUnits(reader, { blocks: refs }, { ...EVER, computes, groupBys }));
  };
}

const word = (literal: string): Predicate => ({ type: 'words', words: [[{ literal }]] });
const value = (path: string, text: string): Predicate => ({
  ...{ type: 'value', paths: [path], match: { type: 'text', text } },
});

const QUESTIONS: readonly Question[] = [
  (reader, { refs }) =>
    answer(listUnits(reader, { blocks: refs }, { ...EVER, order: 'asc', limit: 150, event: true })),
  (reader, { refs }) =>
    answer(attributesUnits(reader, { blocks: refs }, { ...EVER, limit: 99, values: 5 }, LIMITS)),
  (reader, { refs }) => {
    const paths = ['custom.verb', 'custom.key', 'custom.gaps', 'custom.code'];
    return answer(facetsUnits(reader, { blocks: refs }, { ...EVER, paths, limit: 3 }));
  },
  selects(value('custom.key', 'k7')),
  selects(value('custom.id', 'i77')),
  selects({ type: 'anywhere', match: { type: 'text', text: 'h3' } }),
  selects({
    ...{ type: 'range', paths: ['custom.patched'] },
    from: { text: '5', number: 5, inclusive: true },
  }),
  counts(word('seventh')),
  counts(word('12345')),
  counts({
    type: 'value',
    paths: ['custom.twin'],
    match: { type: 'words', words: [[{ literal: 'b' }]] },
  }),
  groups('custom.key'),
  groups('custom.code'),
];

/** The rows of a segment as sealing reads them; `undefined` when some are damaged. */
function sumOf({ disk, refs }: SmallSegment, key: HashLanes): RowSum | undefined {
  const reader = new Reader(disk, SECRET);
  const sum = new RowSum(key);
  try {
    for (const ref of refs) sum.add(reader.open(ref));
    return sum;
  } catch (error) {
    if (error instanceof EngineError && error.code === 'CORRUPTION') return undefined;
    throw error;
  }
}

/** All that is read of a segment, compared with what was read of it when it was whole. */
export class Reading {
  /** Reads, by number: those of queries, then that of sealing. */
  readonly count = QUESTIONS.length + 1;
  readonly #segment: SmallSegment;
  readonly #answers: string[];
  readonly #key = new HashLanes(1);
  readonly #sum: RowSum;

  constructor(segment: SmallSegment) {
    this.#segment = segment;
    this.#answers = QUESTIONS.map((ask) => must(this.#ask(ask), 'an answer'));
    this.#sum = must(sumOf(segment, this.#key), 'a sum');
  }

  /** Tells that a read says it is partial. Throws when it is wrong instead. */
  isPartial(number: number): boolean {
    if (number === QUESTIONS.length) {
      const sum = sumOf(this.#segment, this.#key);
      if (sum?.equals(this.#sum) === false) throw new Error('sealing reads other rows');
      return sum === undefined;
    }
    const answer = this.#ask(QUESTIONS[number]);
    const isRight = answer === undefined || answer === this.#answers[number];
    if (!isRight) throw new Error(`question ${number} is answered by ${answer}`);
    return answer === undefined;
  }

  /** Tells that a check finds the segment whole. */
  isFoundWhole(): boolean {
    const { disk, segment, refs, bytes } = this.#segment;
    if (!refs[0].sealed) return verifyBlock(bytes);
    const facts = { bytes: bytes.length, blocks: [...refs] };
    return checkSealed(disk, FOLDER_ID, segment, facts).damaged.length === 0;
  }

  #ask(ask: Question): string | undefined {
    return ask(new Reader(this.#segment.disk, SECRET), this.#segment);
  }
}

/** Outcome of flips. */
export interface Flips {
  /** Bytes whose change a check does not find. */
  unused: number;
  /** Reads that said that they were partial. */
  partial: number;
}

/**
 * Flips each byte of a segment and checks it; then reads of it what `reads` numbers, and one read in turn of what a
 * check finds whole. Throws when a read is wrong, fails, or is partial although the check finds all to be whole; also
 * when the check finds nothing although it is no padding.
 */
export function flipEach(
  segment: SmallSegment,
  reads: (at: number, count: number) => readonly number[],
): Flips {
  const { bytes, name } = segment;
  const reading = new Reading(segment);
  const flips = { unused: 0, partial: 0 };
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    bytes[at] ^= 1 + (at % 255);
    try {
      const isWhole = reading.isFoundWhole();
      if (isWhole && byte !== 0) throw new Error('a check finds nothing');
      if (isWhole) flips.unused++;
      const numbers = isWhole ? [at % reading.count] : [];
      for (const number of new Set([...numbers, ...reads(at, reading.count)])) {
        if (!reading.isPartial(number)) continue;
        if (isWhole) throw new Error('a check finds padding alone');
        flips.partial++;
      }
    } catch (cause) {
      throw new Error(`byte ${at} of ${name}: ${cause}`, { cause });
    }
    bytes[at] = byte;
  }
  return flips;
}
