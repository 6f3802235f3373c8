import type { ByteReader, ByteWriter } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';
import { HASH_SEED } from '../base/hash.ts';
import { grow, refit } from '../packed/growth.ts';
import { KIND_BITS, type Kind } from './kind.ts';
import type { Rows } from './rows.ts';

const SLOTS_MIN = 64;
const KIND_MASK = (1 << KIND_BITS) - 1;

/** Packs a path and the kind of a leaf there. */
export function leafKey(path: number, kind: number): number {
  return (path << KIND_BITS) | kind;
}

/** The path of a leaf key. */
export function leafPath(key: number): number {
  return key >>> KIND_BITS;
}

/** The kind of a leaf key. */
export function leafKind(key: number): Kind {
  return (key & KIND_MASK) as Kind;
}

/** The shapes of an open block: ordered lists of leaf keys. */
export class ShapeTable {
  count = 0;
  /** Leaves of shape s are `keys[starts[s], starts[s + 1])`. */
  starts = new Uint32Array(65);
  keys = new Uint32Array(256);
  #hashes = new Int32Array(64);
  #slots = new Int32Array(SLOTS_MIN);

  /** Compares `shape` with the leaves of `rows` from `entry` to `end`. */
  is(shape: number, rows: Rows, entry: number, end: number): boolean {
    const start = this.starts[shape];
    if (this.starts[shape + 1] - start !== end - entry) return false;
    const { keys } = this;
    const { path, kind } = rows;
    for (let at = entry; at < end; at++) {
      if (keys[start + at - entry] !== leafKey(path[at], kind[at])) return false;
    }
    return true;
  }

  /** The shape of the leaves of `rows` from `entry` to `end`; when it is new it is the last one. */
  intern(rows: Rows, entry: number, end: number): number {
    let hash = HASH_SEED ^ (end - entry);
    for (let at = entry; at < end; at++) {
      hash = Math.imul(hash ^ leafKey(rows.path[at], rows.kind[at]), 0x5bd1e995);
      hash ^= hash >>> 15;
    }
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let held = this.#slots[slot]; held !== 0; held = this.#slots[slot]) {
      if (this.#hashes[held - 1] === hash && this.is(held - 1, rows, entry, end)) return held - 1;
      slot = (slot + 1) & mask;
    }
    const shape = this.#add(rows, entry, end, hash);
    this.#slots[slot] = shape + 1;
    if (this.count * 2 > this.#slots.length) this.#growSlots();
    return shape;
  }

  #add(rows: Rows, entry: number, end: number, hash: number): number {
    const shape = this.count++;
    if (this.count >= this.starts.length) this.starts = grow(this.starts, this.count + 1);
    if (shape >= this.#hashes.length) this.#hashes = grow(this.#hashes, shape + 1);
    const start = this.starts[shape];
    const stop = start + end - entry;
    this.starts[shape + 1] = stop;
    if (stop > this.keys.length) this.keys = grow(this.keys, stop);
    for (let at = entry; at < end; at++) {
      this.keys[start + at - entry] = leafKey(rows.path[at], rows.kind[at]);
    }
    this.#hashes[shape] = hash;
    return shape;
  }

  #growSlots(): void {
    const slots = new Int32Array(this.#slots.length * 4);
    const mask = slots.length - 1;
    for (let shape = 0; shape < this.count; shape++) {
      let slot = this.#hashes[shape] & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = shape + 1;
    }
    this.#slots = slots;
  }

  /** Empties it; memory far beyond what was in use is given back. */
  clear(): void {
    const leafCount = this.starts[this.count];
    this.keys = refit(this.keys, leafCount, 256);
    this.starts = refit(this.starts, this.count + 1, 65);
    this.#hashes = refit(this.#hashes, this.count + 1, 64);
    if (this.#slots.length > Math.max(this.count * 8, SLOTS_MIN)) {
      this.#slots = new Int32Array(SLOTS_MIN);
    } else {
      this.#slots.fill(0);
    }
    this.count = 0;
    this.starts[0] = 0;
  }
}

/** Shapes of a block as they are on disk: leaf keys over the block's own paths. Shape: starts[count + 1]. */
export interface Shapes {
  count: number;
  starts: Uint32Array;
  keys: Uint32Array;
}

/** Before packed shapes that are written by an order of their leaves; others have at least a byte. FORMAT.md 4.11. */
export const ORDERED_SHAPES = 0;

/** Writes shapes, leaf by leaf. Source: FORMAT.md 4.1. */
export function writeShapes(writer: ByteWriter, { count, starts, keys }: Shapes): void {
  for (let shape = 0; shape < count; shape++) {
    const leafCount = starts[shape + 1] - starts[shape];
    writer.varint(leafCount);
    writer.varints(keys, starts[shape], leafCount);
  }
}

/** Reads `count` shapes over `pathCount` paths that `writeShapes` wrote. Throws CORRUPTION. */
export function readShapes(reader: ByteReader, count: number, pathCount: number): Shapes {
  if (count > reader.remaining) damaged(`${count} shapes in ${reader.remaining} bytes`);
  const starts = new Uint32Array(count + 1);
  const keys = new Uint32Array(reader.remaining);
  let at = 0;
  for (let shape = 0; shape < count; shape++) {
    const leafCount = reader.varint();
    if (leafCount > reader.remaining) damaged(`shape of ${leafCount} leaves`);
    reader.varints(keys, at, leafCount);
    at += leafCount;
    starts[shape + 1] = at;
  }
  const keyEnd = pathCount << KIND_BITS;
  for (let leaf = 0; leaf < at; leaf++) {
    if (keys[leaf] >= keyEnd) damaged(`leaf ${keys[leaf]} of ${pathCount} paths`);
  }
  return { count, starts, keys };
}

/** Bytes of shapes a row that do not count. */
const LIGHT_BYTES = 16;

/** Adds to `weights`, by row, the bytes of the shape that it has, as if each row had its part of one that it shares. */
export function weighShapes(
  { shapes, ids }: { shapes: Shapes; ids: Uint32Array },
  weights: Uint32Array,
): void {
  const { count, keys, starts } = shapes;
  if (starts[count] * keys.BYTES_PER_ELEMENT < LIGHT_BYTES * ids.length) return;
  const share = count / ids.length;
  for (let row = 0; row < ids.length; row++) {
    const leafCount = starts[ids[row] + 1] - starts[ids[row]];
    weights[row] += Math.ceil(leafCount * keys.BYTES_PER_ELEMENT * share);
  }
}
