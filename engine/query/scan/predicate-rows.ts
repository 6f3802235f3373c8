import type { Units } from '../../base/pause.ts';
import type { Terms } from '../../column/entries.ts';
import { Kind } from '../../column/kind.ts';
import type { PackedSpan } from '../../packed/cells.ts';
import type { Block } from '../../segment/block/block.ts';
import type { BlockRef } from '../../segment/frame.ts';
import { type Plan, planOf } from '../filter/plan.ts';
import { WordsTest } from '../filter/printed-test.ts';
import { addRow, type Bitmap, countRows, keepRows, nextRow } from '../model/bitmap.ts';
import { filterName, type SelectedRows } from '../model/filter-cache.ts';
import type { Predicate } from '../model/predicate.ts';
import { type BlockSource, isDamage } from '../model/source.ts';
import { dictionaryOf, footerOf, mayHaveRows } from './prune.ts';
import { entriesWhere, MESSAGE, rowsWhere, spanWhere } from './scan.ts';

/** The frame of a segment that is no block: what is kept of it is of the whole segment. */
const HEAD_ORDINAL = 0;
const NO_ROWS = new Uint16Array(0);
/** Entries of a dictionary that one thread tests; idle ones help to look through larger ones, block by block. */
const COUNTED_ENTRIES_MAX = 16_384;
/** Few rows are reckoned where 1 in this many parts may have some, or fewer. */
const FEW_PARTS_RATIO = 8;

/**
 * Finds the rows of blocks for which a predicate holds. Those of whole blocks are kept in the source's cache for the
 * next time that somebody asks: on disk there is no index of values or words.
 */
export class PredicateRows {
  /** Blocks that `mayHave` ruled out by words of their segments. */
  readonly refuted = new Set<BlockRef>();
  readonly #source: BlockSource;
  readonly #plan: Plan;
  readonly #name: string;

  constructor(source: BlockSource, predicate: Predicate) {
    this.#source = source;
    this.#plan = planOf(predicate);
    this.#name = source.selected === undefined ? '' : filterName(predicate);
  }

  /** True when all rows are selected. */
  get isAll(): boolean {
    return this.#plan.type === 'all';
  }

  /** True when the block at `ref` may have such rows, as far as that is known without opening it. */
  mayHave(ref: BlockRef): boolean {
    if (this.#kept(ref)?.rowCount === 0) return false;
    return mayHaveRows(this.#source, ref, this.#plan, this.refuted);
  }

  /** True when it is reckoned by words, without opening the sealed block at `ref`, that it has few such rows. */
  areFew(ref: BlockRef): boolean {
    const { path, terms } = askedOf(this.#plan) ?? {};
    if (path === undefined || terms === undefined) return false;
    const parts = this.#source.partsWith?.(ref, path, terms)?.parts;
    if (parts === undefined) return false;
    const count = parts.reduce((sum, part) => sum + part, 0);
    if (count * FEW_PARTS_RATIO > parts.length) return false;
    // The first part of a dictionary has the entries of most rows.
    const forms = footerOf(this.#source, ref)?.columns?.forms(path) ?? [];
    return parts[0] === 0 || forms.every(({ dictionary }) => dictionary < 0);
  }

  /** The number of such rows in the whole block at `ref`; `undefined` when it is not known. */
  countOf(ref: BlockRef): number | undefined {
    return this.isAll ? ref.rowCount : this.#kept(ref)?.rowCount;
  }

  /**
   * Counts such rows of the whole segment of the sealed block at `ref`, in units, without a look at rows: the one word
   * that is asked for was counted, or the strings of the one attribute that is asked about lie in a small dictionary,
   * which has the counts of its entries. `undefined` when neither is so, or what tells is damaged.
   */
  *countInSegment(ref: BlockRef): Units<number | undefined> {
    const whole = { ...ref, ordinal: HEAD_ORDINAL };
    const kept = this.#kept(whole);
    if (kept !== undefined) return kept.rowCount;
    try {
      const rowCount = yield* this.#countEntries(ref);
      if (rowCount === undefined) return undefined;
      this.#source.selected?.keep(this.#name, whole, { rowCount, rows: NO_ROWS }, 0);
      return rowCount;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return undefined;
    }
  }

  /**
   * Such rows among `rows` of a block, found in units. May return `rows` itself, and never writes to it. Throws
   * CORRUPTION.
   */
  *among(block: Block, rows: Bitmap): Units<Bitmap> {
    const kept = this.#kept(block.ref);
    if (kept !== undefined) return common(kept, rows);
    const found = yield* rowsWhere(this.#plan, block, rows);
    const isKept = this.#source.selected !== undefined && !this.isAll;
    if (isKept && countRows(rows) === block.rowCount) this.#keep(block.ref, found);
    return found;
  }

  /**
   * The values of a whole block, one a row, that are such rows, as they are stored: where nothing is kept of the rows
   * and one column tells. `rows` are all of the block. Found in units. Throws CORRUPTION.
   */
  *spanIn(block: Block, rows: Bitmap): Units<PackedSpan | undefined> {
    if (this.#source.selected !== undefined) return undefined;
    return yield* spanWhere(this.#plan, block, rows);
  }

  /** Gives the count of a word, or adds up those of the entries that pass. Throws CORRUPTION. */
  *#countEntries(ref: BlockRef): Units<number | undefined> {
    const asked = askedOf(this.#plan);
    if (asked === undefined) return undefined;
    const { path, terms, word } = asked;
    const forms = footerOf(this.#source, ref)?.columns?.forms(path);
    if (forms?.length !== 1 || forms[0].kind !== Kind.STRING) return undefined;
    const counted = word && this.#source.rowsWith?.(ref, path, word);
    if (counted !== undefined) return counted;
    const dictionary = dictionaryOf(this.#source, ref, forms[0].dictionary);
    if (dictionary === undefined || dictionary.entryCount > COUNTED_ENTRIES_MAX) return undefined;
    const possible = terms && this.#source.partsWith?.(ref, path, terms);
    const found = yield* entriesWhere(this.#plan, dictionary, possible);
    if (found === undefined || found.only === 0) return found?.only;
    const counts = dictionary.counts();
    let count = 0;
    for (let entry = 0; entry < counts.length; entry++) {
      if (found.passes[entry + 1] === 1) count += counts[entry];
    }
    return count;
  }

  #kept(ref: BlockRef): SelectedRows | undefined {
    return this.#source.selected?.get(this.#name, ref);
  }

  #keep(ref: BlockRef, found: Bitmap): void {
    const { selected } = this.#source;
    if (selected === undefined) return;
    const kept = packed(found);
    selected.keep(this.#name, ref, kept, kept.rows.byteLength);
  }
}

/** The question of a plan about one attribute alone. */
interface Asked {
  path: string;
  /** Words of its texts that pass. */
  terms: Terms | undefined;
  /** The word that they have, when that is all that is asked. */
  word: Uint8Array | undefined;
}

function askedOf(plan: Plan): Asked | undefined {
  if (plan.type === 'words') {
    const { terms, words } = plan.test;
    return { path: MESSAGE, terms, word: words.only };
  }
  if (plan.type !== 'value' || plan.paths.length !== 1) return undefined;
  const { paths, test } = plan;
  const word = test instanceof WordsTest ? test.words.only : undefined;
  return { path: paths[0], terms: test.terms, word };
}

function packed(found: Bitmap): SelectedRows {
  const rowCount = countRows(found);
  if (rowCount * 2 >= found.byteLength) return { rowCount, rows: found };
  const rows = new Uint16Array(rowCount);
  let count = 0;
  for (let row = nextRow(found, 0); row >= 0; row = nextRow(found, row + 1)) rows[count++] = row;
  return { rowCount, rows };
}

/** The rows that both have. */
function common({ rows: selected }: SelectedRows, rows: Bitmap): Bitmap {
  let found: Bitmap;
  if (selected instanceof Uint16Array) {
    found = new Uint32Array(rows.length);
    for (const row of selected) addRow(found, row);
  } else found = selected.slice();
  keepRows(found, rows);
  return found;
}
