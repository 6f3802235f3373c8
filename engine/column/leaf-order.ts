import type { ByteReader, ByteWriter } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { extend } from '../packed/growth.ts';
import { KIND_BITS, KIND_COLUMN_MIN } from './kind.ts';
import { leafKind, type Shapes } from './shape.ts';

/** Distinct leaves above which no order of them is looked for. */
const LEAVES_MAX = 1_024;
const WORD_BITS = 32;

/**
 * Shapes that are told by an order of leaves and by the values that rows have: of those that are not in `listed`, the
 * leaves of the order that a row of the shape has a value of.
 */
export interface OrderedShapes {
  count: number;
  /** Leaf keys, each once, of kinds that have columns. */
  order: Uint32Array;
  /** Leaf keys of other shapes. */
  listed: Map<number, Uint32Array>;
}

/**
 * An order of leaves in which those of most shapes stand, as leaf keys. Leaves that shapes have in different orders are
 * in the order in which they come first.
 */
function orderOf({ count, starts, keys }: Shapes, keyEnd: number): number[] {
  const found: number[] = [];
  /** By leaf key, the number of the leaf; -1 of those that have no column. */
  const leafOf = new Int32Array(keyEnd).fill(-1);
  for (let at = 0; at < starts[count]; at++) {
    const key = keys[at];
    if (leafOf[key] >= 0 || leafKind(key) < KIND_COLUMN_MIN) continue;
    if (found.length === LEAVES_MAX) return [];
    leafOf[key] = found.push(key) - 1;
  }
  const followers = new Followers(found.length);
  for (let shape = 0; shape < count; shape++) {
    let last = -1;
    for (let at = starts[shape]; at < starts[shape + 1]; at++) {
      const leaf = leafOf[keys[at]];
      if (leaf < 0) continue;
      if (last >= 0) followers.add(last, leaf);
      last = leaf;
    }
  }
  return followers.ordered().map((leaf) => found[leaf]);
}

/** Numbers of which some come right behind others. */
class Followers {
  readonly #count: number;
  readonly #words: number;
  /** A row of bits each: those that come behind it. */
  readonly #bits: Uint32Array;
  /** By number, how many come before it that are not in order yet. */
  readonly #before: Uint32Array;

  constructor(count: number) {
    this.#count = count;
    this.#words = Math.ceil(count / WORD_BITS);
    this.#bits = new Uint32Array(count * this.#words);
    this.#before = new Uint32Array(count);
  }

  add(number: number, follower: number): void {
    const word = number * this.#words + (follower >>> 5);
    const bit = 1 << (follower & 31);
    if ((this.#bits[word] & bit) !== 0 || number === follower) return;
    this.#bits[word] |= bit;
    this.#before[follower]++;
  }

  /** All numbers, followers behind those that they follow; where that is a circle, from the least of all on. */
  ordered(): number[] {
    const order: number[] = [];
    const rest = new Set(Array.from({ length: this.#count }, (_, number) => number));
    for (let next = 0; rest.size > 0; ) {
      next = this.#free(rest) ?? next;
      rest.delete(next);
      order.push(next);
      for (const number of rest) if (this.#has(next, number)) this.#before[number]--;
    }
    return order;
  }

  #has(number: number, follower: number): boolean {
    const word = this.#bits[number * this.#words + (follower >>> 5)];
    return ((word >>> (follower & 31)) & 1) === 1;
  }

  /** The first of `rest` that none of them comes before; else the first of all. */
  #free(rest: Set<number>): number | undefined {
    let first: number | undefined;
    for (const number of rest) {
      if (this.#before[number] === 0) return number;
      first ??= number;
    }
    return first;
  }
}

/** Writes shapes by an order of their leaves, as far as that tells them. Source: FORMAT.md 4.11. */
export function writeOrderedShapes(writer: ByteWriter, shapes: Shapes): void {
  const { count, starts, keys } = shapes;
  let keyEnd = 0;
  for (let at = 0; at < starts[count]; at++) keyEnd = Math.max(keyEnd, keys[at] + 1);
  const order = orderOf(shapes, keyEnd);
  const placeOf = new Int32Array(keyEnd).fill(-1);
  for (const [place, key] of order.entries()) placeOf[key] = place;
  writer.varint(order.length);
  writer.varints(Uint32Array.from(order), 0, order.length);
  for (let shape = 0; shape < count; shape++) {
    let isOrdered = true;
    let last = -1;
    for (let at = starts[shape]; at < starts[shape + 1] && isOrdered; at++) {
      const place = placeOf[keys[at]];
      isOrdered = place > last;
      last = place;
    }
    if (isOrdered) writer.varint(0);
    else {
      const own = keys.subarray(starts[shape], starts[shape + 1]);
      writer.varint(own.length + 1);
      writer.varints(own, 0, own.length);
    }
  }
}

function readKeys(reader: ByteReader, count: number, pathCount: number): Uint32Array {
  if (count > reader.remaining) damaged(`${count} leaves`);
  const keys = new Uint32Array(count);
  for (let leaf = 0; leaf < count; leaf++) {
    const key = reader.varint();
    if (key >= pathCount << KIND_BITS) damaged(`leaf ${key} of ${pathCount} paths`);
    keys[leaf] = key;
  }
  return keys;
}

/** Reads `count` shapes that `writeOrderedShapes` wrote. Throws CORRUPTION. */
export function readOrderedShapes(
  reader: ByteReader,
  count: number,
  pathCount: number,
): OrderedShapes {
  const order = readKeys(reader, reader.varint(), pathCount);
  if (count > reader.remaining) damaged(`${count} shapes in ${reader.remaining} bytes`);
  const listed = new Map<number, Uint32Array>();
  for (let shape = 0; shape < count; shape++) {
    const leafCount = reader.varint();
    if (leafCount > 0) listed.set(shape, readKeys(reader, leafCount - 1, pathCount));
  }
  return { count, order, listed };
}

/**
 * The shapes of rows, which have those of `ids`. `presentOf`: rows that have a value of a leaf, a bit each; `undefined`
 * are all.
 */
export function shapesOfRows(
  { count, order, listed }: OrderedShapes,
  ids: Uint32Array,
  presentOf: (key: number) => Uint32Array | undefined,
): Shapes {
  const presents = Array.from(order, presentOf);
  const rowOf = new Int32Array(count).fill(-1);
  for (let row = ids.length - 1; row >= 0; row--) rowOf[ids[row]] = row;
  const starts = new Uint32Array(count + 1);
  let keys = new Uint32Array(Math.max(order.length, 1) * 64);
  // The bits of the leaves, in their order, of 32 rows: shapes are mostly numbered as rows have them first.
  const words = new Int32Array(order.length);
  let wordsAt = -1;
  let end = 0;
  for (let shape = 0; shape < count; shape++) {
    const own = listed.get(shape);
    const most = end + (own?.length ?? order.length);
    if (most > keys.length) keys = extend(keys, most);
    if (own !== undefined) {
      keys.set(own, end);
      end = most;
    } else if (rowOf[shape] >= 0) {
      const word = rowOf[shape] >>> 5;
      const bit = rowOf[shape] & 31;
      if (word !== wordsAt) {
        for (let place = 0; place < words.length; place++) {
          words[place] = presents[place]?.[word] ?? -1;
        }
        wordsAt = word;
      }
      for (let place = 0; place < words.length; place++) {
        keys[end] = order[place];
        end += (words[place] >>> bit) & 1;
      }
    }
    starts[shape + 1] = end;
  }
  return { count, starts, keys };
}
