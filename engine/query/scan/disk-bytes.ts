import { EngineError } from '../../base/errors.ts';
import { type BlockRef, isHole } from '../../segment/frame.ts';
import type { DiskBytesResult, Snapshot } from '../model/query.ts';
import { type BlockSource, isDamage, noStats, type Progress } from '../model/source.ts';

/** Attributes that are told apart; the names come from strangers. */
const ATTRIBUTES_MAX = 200_000;

/**
 * Sums up what attributes take on the disk, a block a unit: their values in blocks, and in sealed segments their
 * dictionaries and words too. Lists of rows that attributes of a block share are nobody's. Only heads and footers are
 * read. Damaged blocks are left out and counted. Throws LIMIT, and what the source throws but CORRUPTION.
 */
export function* diskBytesUnits(
  source: BlockSource,
  { blocks }: Snapshot,
): Generator<Progress, DiskBytesResult> {
  const stats = noStats(blocks.length);
  const sums = new Map<string, number>();
  const segments = new Set<number>();
  let bytes = 0;
  const add = (path: string, count: number): void => {
    sums.set(path, (sums.get(path) ?? 0) + count);
  };
  for (const [at, ref] of blocks.entries()) {
    try {
      if (isHole(ref)) stats.blocksDamaged++;
      else {
        const block = source.open(ref);
        for (const column of block.columnBytes()) add(column.path, column.bytes);
        stats.blocksOpened++;
        bytes += block.bytes;
        if (ref.sealed && !segments.has(ref.segment)) {
          bytes += addShared(source, ref, add);
          segments.add(ref.segment);
        }
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      stats.blocksDamaged++;
    }
    if (sums.size > ATTRIBUTES_MAX) {
      throw new EngineError('LIMIT', `there are more than ${ATTRIBUTES_MAX} attributes`);
    }
    yield { unitsDone: at + 1, unitsTotal: blocks.length };
  }
  const attributes = [...sums].map(([path, count]) => ({ path, bytes: count }));
  attributes.sort((a, b) => b.bytes - a.bytes || (a.path < b.path ? -1 : 1));
  return { attributes, bytes, stats };
}

/** Adds the dictionaries and words of a segment; their bytes, of which some may be of no column that is known. */
function addShared(
  source: BlockSource,
  ref: BlockRef,
  add: (path: string, bytes: number) => void,
): number {
  const footer = source.footer?.(ref);
  if (footer === undefined) return 0;
  const { dictionaries, words, columns } = footer;
  const all = columns?.all() ?? [];
  const owners: string[] = [];
  for (const { path, dictionary } of all) if (dictionary >= 0) owners[dictionary] ??= path;
  for (const [at, { bytes }] of dictionaries.entries()) if (at in owners) add(owners[at], bytes);
  for (const { column, bytes } of words) if (column < all.length) add(all[column].path, bytes);
  return [...dictionaries, ...words].reduce((sum, { bytes }) => sum + bytes, 0);
}
