import { damaged } from '../base/errors.ts';
import type { RegionReader } from '../column/chunk.ts';
import { decodeText } from './block/rebuild.ts';

/** Least bytes of a path's entry: bounds what a count can claim. */
const ENTRY_BYTES_MIN = 2;
/** Far deeper than any decoder makes paths. */
const NESTING_MAX = 1024;

/** Names one after the other in bytes. A view of each would take more memory than what it shows. */
export class PathNames {
  readonly length: number;
  readonly #bytes: Uint8Array;
  /** Where each name begins and ends. */
  readonly #places: Uint32Array;

  /** Keeps both. */
  constructor(bytes: Uint8Array, places: Uint32Array) {
    this.length = places.length / 2;
    this.#bytes = bytes;
    this.#places = places;
  }

  /** Memory that it takes, but for the bytes, which others have too. */
  get memoryBytes(): number {
    return this.#places.byteLength;
  }

  /** A view of the name of a path. */
  at(path: number): Uint8Array {
    return this.#bytes.subarray(this.#places[path * 2], this.#places[path * 2 + 1]);
  }
}

/** Paths of a block or a footer. */
export interface DirectoryPaths {
  /** Parent of each path: 0 the root, else path + 1. */
  parents: Uint32Array;
  /** Last name of each path. */
  names: PathNames;
}

/** Reads paths, each after its parent, with a reader of `meta`. Throws CORRUPTION. */
export function readPaths(meta: Uint8Array, { meta: reader }: RegionReader): DirectoryPaths {
  const pathCount = reader.varint();
  if (pathCount * ENTRY_BYTES_MIN > reader.remaining) damaged(`${pathCount} paths`);
  const parents = new Uint32Array(pathCount);
  const depths = new Uint32Array(pathCount + 1);
  const places = new Uint32Array(pathCount * 2);
  for (let path = 0; path < pathCount; path++) {
    const parent = reader.varint();
    if (parent > path) damaged(`path ${path} below ${parent}`);
    parents[path] = parent;
    depths[path + 1] = depths[parent] + 1;
    if (depths[path + 1] > NESTING_MAX) damaged(`path ${path} is nested too deep`);
    const { length } = reader.blob();
    places[path * 2] = reader.at - length;
    places[path * 2 + 1] = reader.at;
  }
  return { parents, names: new PathNames(meta, places) };
}

/** Names of a path from the root; a name may hold dots. */
export function pathNames(paths: DirectoryPaths, path: number): string[] {
  const parent = paths.parents[path];
  const name = lastName(paths, path);
  return parent === 0 ? [name] : [...pathNames(paths, parent - 1), name];
}

/** The names of each path from the root, joined by dots. */
export function joinedNames(paths: DirectoryPaths): string[] {
  const all: string[] = [];
  for (let path = 0; path < paths.names.length; path++) {
    const parent = paths.parents[path];
    const name = lastName(paths, path);
    all.push(parent === 0 ? name : [all[parent - 1], name].join('.'));
  }
  return all;
}

function lastName({ names }: DirectoryPaths, path: number): string {
  const name = names.at(path);
  return decodeText(name, 0, name.length);
}
