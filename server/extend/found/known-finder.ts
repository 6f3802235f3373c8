import { HASH_SEED, hashBytes, sameBytes } from '../../../engine/base/hash.ts';
import { Kind } from '../../../engine/column/kind.ts';
import type { Extractor } from '../extraction.ts';
import type { RowValues } from '../row-values.ts';
import { type Answer, type Finder, type Findings, FOUND, NOTHING, UNSURE } from './findings.ts';

/** Texts that are remembered, of the newest, and their bytes at most. */
const TEXTS_MAX = 4_096;
const TEXT_BYTES_MAX = 512;

/** A text with what was found in it: names, and their values one behind the other. */
interface Known {
  text: Uint8Array;
  answer: Answer;
  names: readonly string[];
  /** Paths of the names, once they were asked for. */
  paths: Int32Array;
  ends: Int32Array;
  values: Uint8Array;
}

/**
 * Finds what an extractor finds in texts that repeat, when it is texts: those that were found last are remembered.
 */
export class KnownFinder implements Finder {
  readonly #found: Findings;
  readonly #extractor: Extractor;
  /** By hash, from the oldest to the newest. */
  readonly #known = new Map<number, Known>();

  constructor(extractor: Extractor, found: Findings) {
    this.#found = found;
    this.#extractor = extractor;
  }

  find(text: RowValues): Answer {
    const found = this.#found;
    const { bytes, start, end } = text;
    const length = end - start;
    if (length > TEXT_BYTES_MAX) return UNSURE;
    const hash = hashBytes(bytes, start, end, HASH_SEED);
    let known = this.#known.get(hash);
    const isKnown = known?.text.length === length && sameBytes(known.text, 0, bytes, start, length);
    if (known === undefined || !isKnown) known = this.#learn(hash, text);
    if (known.answer !== FOUND) return known.answer;
    const { names, paths, ends, values } = known;
    const at = found.put(values);
    let from = 0;
    for (let name = 0; name < names.length; name++) {
      if (paths[name] < 0) paths[name] = found.pathOf(names[name]);
      found.add(paths[name], Kind.STRING, ~(at + from), ends[name] - from);
      from = ends[name];
    }
    return FOUND;
  }

  #learn(hash: number, { text, bytes, start, end }: RowValues): Known {
    const attributes = [...(this.#extractor.extract(text)?.attributes ?? [])];
    const texts = attributes.map(([, value]) => (typeof value === 'string' ? value : ''));
    const isPlain = attributes.every(([, value]) => typeof value === 'string');
    let length = 0;
    const known: Known = {
      text: bytes.slice(start, end),
      answer: !isPlain ? UNSURE : attributes.length > 0 ? FOUND : NOTHING,
      names: attributes.map(([name]) => name),
      paths: new Int32Array(attributes.length).fill(-1),
      ends: Int32Array.from(texts, (value) => {
        length += Buffer.byteLength(value);
        return length;
      }),
      values: Uint8Array.from(Buffer.from(texts.join(''))),
    };
    this.#known.delete(hash);
    const oldest = this.#known.size < TEXTS_MAX ? undefined : this.#known.keys().next();
    if (oldest !== undefined && !oldest.done) this.#known.delete(oldest.value);
    this.#known.set(hash, known);
    return known;
  }
}
