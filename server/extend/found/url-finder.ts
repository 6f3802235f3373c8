import { ASCII_MAX, BLANK, byteFrom, HASH, QUESTION, SLASH } from '../../../engine/base/ascii.ts';
import { Kind } from '../../../engine/column/kind.ts';
import type { RowValues } from '../row-values.ts';
import {
  type Answer,
  type Finder,
  type Findings,
  FOUND,
  KnownNames,
  NOTHING,
  UNSURE,
} from './findings.ts';
import { ParameterFinder } from './url-parts.ts';

const NAMES = ['path', 'queryString', 'fragment'];
const [PATH, QUERY, FRAGMENT] = NAMES.keys();

/** Finds the parts of URLs that are a path, perhaps with a query and a fragment, as UrlExtractor does. */
export class UrlFinder implements Finder {
  readonly #found: Findings;
  readonly #names: KnownNames;
  readonly #parameters: ParameterFinder;

  constructor(found: Findings) {
    this.#found = found;
    this.#names = new KnownNames(found, NAMES);
    this.#parameters = new ParameterFinder(found);
  }

  find(text: RowValues): Answer {
    const found = this.#found;
    const { bytes, start, end, isInSide } = text;
    const last = end > start ? bytes[end - 1] : BLANK;
    const isPath = bytes[start] === SLASH && bytes[start + 1] !== SLASH;
    if (!isPath || last <= BLANK || last > ASCII_MAX) return UNSURE;
    const hash = byteFrom(HASH, bytes, start, end);
    const mark = byteFrom(QUESTION, bytes, start, hash);
    const place = (at: number): number => (isInSide ? ~at : at);
    found.add(this.#names.path(PATH), Kind.STRING, place(start), mark - start);
    if (mark < hash) {
      const query = this.#names.path(QUERY);
      const isPlain = query >= 0 && this.#parameters.find(query, text, mark + 1, hash);
      if (!isPlain) return UNSURE;
    }
    if (hash + 1 < end) {
      const fragment = this.#names.path(FRAGMENT);
      found.add(fragment, Kind.STRING, place(hash + 1), end - hash - 1);
    }
    return found.count > 0 ? FOUND : NOTHING;
  }
}
