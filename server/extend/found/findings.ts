import type { Kind } from '../../../engine/column/kind.ts';
import type { Rows } from '../../../engine/column/rows.ts';
import type { RowValues } from '../row-values.ts';
import type { NamePaths } from './name-paths.ts';

/** Answers of a finder: it found something, the text has another form, or the extractor has to look at it. */
export const FOUND = 1;
export const NOTHING = 0;
export const UNSURE = -1;
/** One of the answers. */
export type Answer = typeof FOUND | typeof NOTHING | typeof UNSURE;

/**
 * Finds in the bytes of a text what an extractor finds in the text, without making strings; texts that are not plain
 * are left to the extractor. Made for one path table, and what is found there; owned by one thread.
 */
export interface Finder {
  /** Finds attributes in the text that was turned to, which is no boolean and well-formed UTF-8. */
  find(text: RowValues): Answer;
}

/** Attributes that were found in a text: paths, kinds and texts, as row entries have them. Keeps its memory. */
export class Findings {
  readonly rows: Rows;
  /** Path of the object in which they go. */
  readonly container: number;
  /** Set when a text `message` becomes the event's. */
  readonly takesMessage: boolean;
  /** A NUMBER is one if it reads like one, else a STRING; values of other kinds are what they are. */
  path = new Int32Array(64);
  kind = new Uint8Array(64);
  start = new Int32Array(64);
  length = new Uint32Array(64);
  count = 0;
  /** How many of them, the first ones, the event need not take. */
  optional = 0;
  /** Place of the text that becomes the message; a negative length: none does. */
  messageStart = 0;
  messageLength = -1;
  readonly #names: NamePaths;

  constructor(rows: Rows, names: NamePaths, container: number, takesMessage: boolean) {
    this.rows = rows;
    this.#names = names;
    this.container = container;
    this.takesMessage = takesMessage;
  }

  /** Forgets what was found. */
  begin(): void {
    this.count = 0;
    this.optional = 0;
    this.messageLength = -1;
  }

  /** The path of a name in an object of the event; -1 when it has none. */
  pathIn(container: number, bytes: Uint8Array, start: number, end: number): number {
    return this.#names.of(container, bytes, start, end);
  }

  /** The path of a name in `container`; -1 when it has none. */
  pathOf(name: string): number {
    const bytes = Buffer.from(name);
    return this.#names.of(this.container, bytes, 0, bytes.length);
  }

  /** Adds an attribute, whose text is at `start` of a row entry. */
  add(path: number, kind: Kind, start: number, length: number): void {
    const place = this.count++;
    if (place === this.kind.length) this.#grow();
    this.path[place] = path;
    this.kind[place] = kind;
    this.start[place] = start;
    this.length[place] = length;
  }

  /** Copies bytes to the rows' side buffer; their offset there. */
  put(bytes: Uint8Array): number {
    const at = this.rows.reserveSide(bytes.length);
    const { side } = this.rows;
    for (let byte = 0; byte < bytes.length; byte++) side[at + byte] = bytes[byte];
    return at;
  }

  /** Makes a text the event's message. */
  addMessage(start: number, length: number): void {
    this.messageStart = start;
    this.messageLength = length;
  }

  #grow(): void {
    const capacity = 2 * this.kind.length;
    const grow = <T extends Int32Array | Uint32Array | Uint8Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    this.path = grow(this.path, new Int32Array(capacity));
    this.kind = grow(this.kind, new Uint8Array(capacity));
    this.start = grow(this.start, new Int32Array(capacity));
    this.length = grow(this.length, new Uint32Array(capacity));
  }
}

/** Names that a finder gives attributes, with their paths once they are asked for. */
export class KnownNames {
  readonly #found: Findings;
  readonly #names: readonly string[];
  readonly #paths: Int32Array;

  constructor(found: Findings, names: readonly string[]) {
    this.#found = found;
    this.#names = names;
    this.#paths = new Int32Array(names.length).fill(-1);
  }

  /** The path of name number `name`; -1 when it has none. */
  path(name: number): number {
    if (this.#paths[name] < 0) this.#paths[name] = this.#found.pathOf(this.#names[name]);
    return this.#paths[name];
  }
}
