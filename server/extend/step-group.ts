import type { CompiledStep } from './compile.ts';
import type { Found } from './draft.ts';
import type { Extractor } from './extraction.ts';
import type { Finder, Findings } from './found/findings.ts';
import type { RowValues } from './row-values.ts';

/** Kinds of texts that are remembered, a power of two: texts of one kind have the same signs and first byte. */
const KINDS_MAX = 256;
const NO_BYTE = 256;
const STEPS_MAX = 31;

/**
 * Steps that look for what they extract in the texts of the same sources, whatever the event is: which of them may
 * find something is asked once a text. Owned by one thread.
 */
export class StepGroup {
  readonly sources: readonly string[];
  readonly #extractors: Extractor[] = [];
  /** By place, signs and first byte of a text, and the steps that may find something in it, a bit each. */
  readonly #signs = new Int32Array(KINDS_MAX);
  readonly #first = new Int32Array(KINDS_MAX).fill(-1);
  readonly #steps = new Int32Array(KINDS_MAX);

  constructor(sources: readonly string[]) {
    this.sources = sources;
  }

  /** Takes a step in; its bit. 0 when it is none for the group. */
  add({ work, test, sources }: CompiledStep): number {
    const isHere = sources.join() === this.sources.join() && this.#extractors.length < STEPS_MAX;
    if (!isHere || work.type !== 'extract' || !test.isAll) return 0;
    return 1 << (this.#extractors.push(work.extractor) - 1);
  }

  /** The steps that may find something in the text that was turned to, a bit each. */
  mayFind({ signs, firstByte }: RowValues): number {
    const first = firstByte ?? NO_BYTE;
    const place = (Math.imul(signs, 0x9e3779b1) ^ Math.imul(first, 0x85ebca6b)) >>> 24;
    if (this.#signs[place] !== signs || this.#first[place] !== first) {
      this.#signs[place] = signs;
      this.#first[place] = first;
      this.#steps[place] = this.#find(signs, firstByte);
    }
    return this.#steps[place];
  }

  #find(signs: number, first: number | undefined): number {
    let steps = 0;
    for (const [index, extractor] of this.#extractors.entries())
      if (extractor.mayFind?.(signs, first) !== false) steps |= 1 << index;
    return steps;
  }
}

/** Finder of a step, with room for what it finds, and the change that this makes. */
export interface Finding {
  finder: Finder;
  found: Findings;
  change: Found;
}

/** A step as an extender runs it. */
export interface GroupedStep {
  step: CompiledStep;
  /** Mark of the values that it works on; some steps may share it. */
  mark: number;
  /** Its group and its bit in it, when it is in one. */
  group: StepGroup | undefined;
  bit: number;
  /** Once it was needed. */
  finding: Finding | undefined;
}

/** Steps with their groups. */
export function groupedSteps(steps: readonly CompiledStep[]): GroupedStep[] {
  const groups: StepGroup[] = [];
  return steps.map((step, index) => {
    const mark = 1 << (index % 32);
    for (const group of [...groups, new StepGroup(step.sources)]) {
      const bit = group.add(step);
      if (bit === 0) continue;
      if (!groups.includes(group)) groups.push(group);
      return { step: { ...step, sources: group.sources }, mark, group, bit, finding: undefined };
    }
    return { step, mark, group: undefined, bit: 0, finding: undefined };
  });
}
