import { EntryCounts, EntryMerger, type EntryRanks, type SourceStrings } from './entry-merger.ts';

/** Names the dictionary that the ids of a source's column count: that of its segment, or its own. */
export function dictionaryName(source: number, segment: number, dictionary: number): string {
  return dictionary < 0 ? `block ${source}` : `segment ${segment} ${dictionary}`;
}

/** A column whose values are entries of a dictionary of the new segment, which is written and not in memory. */
export class SharedColumn {
  /** Number of the dictionary in the segment. */
  readonly dictionary: number;
  readonly entryCount: number;
  readonly #maps: ReadonlyMap<string, Uint32Array>;

  /** `maps`: by the name of a source's dictionary, the id in the segment of each id there. */
  constructor(dictionary: number, entryCount: number, maps: ReadonlyMap<string, Uint32Array>) {
    this.dictionary = dictionary;
    this.entryCount = entryCount;
    this.#maps = maps;
  }

  /** Puts the ids of a source's values at `targets`. */
  put(name: string, ids: Uint32Array, targets: Uint32Array, into: Uint32Array): void {
    const map = this.#maps.get(name) ?? new Uint32Array(0);
    for (let index = 0; index < ids.length; index++) into[targets[index]] = map[ids[index]];
  }
}

/** Finds out the dictionary of a column whose values are not kept meanwhile. */
export class SharedColumnBuilder {
  readonly merger = new EntryMerger();
  readonly #counts = new EntryCounts();

  /** Counts the values of a source of which `isIn` says so; false when the column is to have no dictionary. */
  take(name: string, strings: SourceStrings, isIn: (value: number) => boolean): boolean {
    const map = this.merger.take(name, strings);
    if (map === undefined) return false;
    this.#counts.add(strings.ids, map, this.merger.dictionary.entryCount, isIn);
    return true;
  }

  /** The order of the entries; `undefined` when sharing does not pay. */
  ranks(): EntryRanks | undefined {
    return this.merger.ranks(this.#counts.counts);
  }
}
