import type { PathTable } from '../../engine/column/path.ts';
import { PATH_ROOT } from '../../engine/column/path.ts';
import { latin1 } from './text.ts';

/** Names of the paths of a table as strings with one character a byte, each made once. */
export class PathNames {
  readonly #paths: PathTable;
  readonly #names: (string | undefined)[] = [];
  readonly #dotted: (string | undefined)[] = [];

  constructor(paths: PathTable) {
    this.#paths = paths;
  }

  /** The path of the object in which `path` lies. */
  parent(path: number): number {
    return this.#paths.parent(path);
  }

  /** The last name of `path`. */
  name(path: number): string {
    const known = this.#names[path];
    if (known !== undefined) return known;
    const bytes = this.#paths.name(path);
    const name = latin1(bytes, 0, bytes.length);
    this.#names[path] = name;
    return name;
  }

  /** All names of `path` joined by dots: `custom.http.verb`. */
  dotted(path: number): string {
    const known = this.#dotted[path];
    if (known !== undefined) return known;
    const parent = this.#paths.parent(path);
    const dotted =
      parent === PATH_ROOT ? this.name(path) : `${this.dotted(parent)}.${this.name(path)}`;
    this.#dotted[path] = dotted;
    return dotted;
  }
}
