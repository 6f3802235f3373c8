import type { OpenedCatalog } from '../store/catalog.ts';

/** The visible part of a log segment to which its writer may append. */
export interface OpenSegment {
  segment: number;
  /** Bytes of the file up to the last visible group. */
  bytes: number;
  /** Above the sequences of all rows in them. */
  sequence: number;
}

/** A store at one moment, for another process that reads its folder. Plain data. */
export interface StoreMoment {
  /** Records of the manifest. */
  recordCount: number;
  /** The segments that are not closed and have visible groups. */
  open: OpenSegment[];
}

/**
 * The present moment of a store. It stands still for whoever keeps the files of all segments from being unlinked: see
 * `RetiredFiles.pin`.
 */
export function momentOf({
  manifest,
  catalog,
}: Pick<OpenedCatalog, 'manifest' | 'catalog'>): StoreMoment {
  const open: OpenSegment[] = [];
  for (const [segment, { closed }] of manifest.segments) {
    const bytes = catalog.visibleBytes(segment);
    if (closed !== undefined || bytes === 0) continue;
    const ends = [...catalog.blocksOf(segment)].map(({ endSequence }) => endSequence);
    open.push({ segment, bytes, sequence: Math.max(0, ...ends) });
  }
  return { recordCount: manifest.recordCount, open };
}
