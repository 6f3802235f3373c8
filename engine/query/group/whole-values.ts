import type { Units } from '../../base/pause.ts';
import type { CountedEntries } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import type { BlockRef } from '../../segment/frame.ts';
import { type BlockSource, isDamage, type Progress } from '../model/source.ts';
import { telling } from '../model/units.ts';
import { columnsOf, footerOf } from '../scan/prune.ts';
import type { BlockScan } from './block-scan.ts';

/** Where the dictionary is that has all values of an attribute in a segment. */
interface Place {
  ref: BlockRef;
  number: number;
}

/**
 * The segments of a scan whose dictionaries say what values some attributes have, and how often, so that no row of them
 * has to be read: all their events are selected, and an attribute has strings of one dictionary there, or nothing.
 */
export class WholeValues {
  /** Log blocks of the scan of which all events are selected. */
  readonly logBlocks: Set<BlockRef>;
  readonly #source: BlockSource;
  readonly #paths: ReadonlySet<string>;
  /** By path and segment; `undefined` where the attribute has nothing. */
  readonly #places = new Map<string, Map<number, Place | undefined>>();

  constructor(source: BlockSource, scan: BlockScan, paths: readonly string[]) {
    this.#source = source;
    this.logBlocks = new Set(scan.wholeBlocks.filter(({ sealed }) => !sealed));
    this.#paths = new Set(paths);
    for (const path of paths) this.#places.set(path, new Map());
    if (source.dictionary === undefined) return;
    for (const ref of scan.wholeSegments()) {
      const columns = footerOf(source, ref)?.columns;
      if (columns === undefined) continue;
      for (const [path, places] of this.#places) {
        const [form, ...others] = columns.forms(path);
        if (form === undefined) places.set(ref.segment, undefined);
        else if (others.length === 0 && form.kind === Kind.STRING && form.dictionary >= 0) {
          places.set(ref.segment, { ref, number: form.dictionary });
        }
      }
    }
  }

  /** Leaves a log block that turned out damaged to the scan. */
  leave(ref: BlockRef): void {
    this.logBlocks.delete(ref);
  }

  /** True when `take` gives the values that a block has at `path`. */
  has({ segment, sealed }: BlockRef, path: string): boolean {
    return sealed && this.#places.get(path)?.has(segment) === true;
  }

  /** True when it gives all that a block has of the attributes. */
  skips(ref: BlockRef): boolean {
    const left = columnsOf(
      this.#source,
      ref,
    )?.((path) => this.#paths.has(path) && !this.has(ref, path));
    return left?.length === 0;
  }

  /**
   * Gives `take` the dictionaries of `path`, in units; false when one turns out damaged: its segment has to be read by
   * rows from then on, and what was taken is of no use.
   */
  *take(path: string, take: (dictionary: CountedEntries) => Units<void>): Units<boolean> {
    const places = this.#places.get(path) ?? new Map<number, undefined>();
    for (const [segment, place] of places) {
      if (place === undefined) continue;
      try {
        const dictionary = this.#source.dictionary?.(place.ref, place.number);
        if (dictionary !== undefined) yield* take(dictionary);
      } catch (error) {
        if (!isDamage(error)) throw error;
        places.delete(segment);
        return false;
      }
    }
    return true;
  }
}

/** A visitor that has taken what is known without rows, made as often as a dictionary turns out damaged. */
export function* wholeTaken<Visitor extends { takeWhole(): Units<boolean> }>(
  scan: BlockScan,
  make: () => Visitor,
): Generator<Progress, Visitor> {
  for (;;) {
    const visitor = make();
    if (yield* telling(() => scan.progress, visitor.takeWhole())) return visitor;
  }
}
