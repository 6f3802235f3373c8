import type { PatternBudget } from './pattern-budget.ts';

/** A number with the text that it was written with, which is how the event will show it. */
export class NumberText {
  readonly text: string;

  /** `text` is a number as JSON writes it. */
  constructor(text: string) {
    this.text = text;
  }
}

/** A value that an extension can give an attribute. Strings are well formed. */
export type ExtractedValue =
  | string
  | number
  | NumberText
  | boolean
  | null
  | readonly ExtractedValue[]
  | Attributes;

/** Attributes by name, in their order. A name with dots means steps, as in the JSON of an event. */
export type Attributes = Map<string, ExtractedValue>;

/** Attributes found in a text. */
export interface Extraction {
  attributes: Attributes;
  /** The text before and behind the part that was taken out, if any. */
  around?: readonly [before: string, behind: string];
  /** Replacement of the text in an event that takes all attributes, since these tell every character of it. */
  message?: string;
  /** Name of the rule that matched, of extractors that have several. */
  rule?: string;
}

/**
 * Finds attributes in a text. Pure but for what it takes of the budget, keeps no text, and takes time in proportion to
 * the text's length, whatever it is. Owned by one thread.
 */
export interface Extractor {
  /**
   * Extracts attributes from `text`. Gives `undefined` when it has another form, or when the budget does not suffice.
   * Never throws. `signs` are the text's (signs.ts), at least.
   */
  extract(text: string, budget?: PatternBudget, signs?: number): Extraction | undefined;
  /** Tells by its signs and its first byte that a text may have the form. When it is left out all may. */
  mayFind?(signs: number, first: number | undefined): boolean;
}
