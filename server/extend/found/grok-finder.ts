import type { GrokExtractor } from '../grok.ts';
import type { RowValues } from '../row-values.ts';
import { type Answer, type Finder, NOTHING, UNSURE } from './findings.ts';

/** Tells texts that match no rule from those that may. */
export class GrokFinder implements Finder {
  readonly #extractor: GrokExtractor;

  constructor(extractor: GrokExtractor) {
    this.#extractor = extractor;
  }

  find({ bytes, start, end, signs }: RowValues): Answer {
    return this.#extractor.mayFindIn(bytes, start, end, signs) ? UNSURE : NOTHING;
  }
}
