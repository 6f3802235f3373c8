import { must } from '../../engine/base/assert.ts';
import { EVENT_BYTES_MAX } from '../../engine/base/limits.ts';
import type { PathTable } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { DecodeCounters } from '../decode/counters.ts';
import type { WriteKeyTest } from '../decode/write-key.ts';
import type { CompiledStep } from './compile.ts';
import { Draft } from './draft.ts';
import type { Extraction } from './extraction.ts';
import { PatternBudget } from './pattern-budget.ts';
import { severityOf } from './severity.ts';

const MESSAGE = 'message';
const CUSTOM = 'custom';
/** An attribute that names the source of an event; it says nothing of the text. */
const MARKER = '@marker';
/** The side buffer of a run of events beyond which no event of it is extended any more: it has to fit in 31 bits. */
const SIDE_BYTES_MAX = 1_073_741_824;

/** An extension that found what it looks for in an event. */
export interface ExtensionMatch {
  /** Id of the extension. */
  extension: string;
  /** Name of the rule that matched, of one that has several. */
  rule?: string;
}

/** Options of an extender, and its reports. */
export interface ExtenderOptions {
  /** Receives the error of a step, which is a bug of the step: the event lacks what it would have added. */
  failed: (step: string, error: unknown) => void;
  /** Budget of patterns; one of its own when left out. */
  budget?: PatternBudget;
  /** Recognises the write keys that no event gets as `logmaticKey`; without it there are none. */
  isWriteKey?: WriteKeyTest;
  /** Receives each extension that found something in the row `row`. */
  matched?: (row: number, match: ExtensionMatch) => void;
}

/**
 * Runs the parsing extensions on events that were decoded, in their order, each on what those before it left.
 * Made for one path table, owned by one thread. Source: INTERFACE.md 1.2 and 11.
 */
export class Extender {
  readonly #steps: readonly CompiledStep[];
  readonly #rows: Rows;
  readonly #counters: DecodeCounters;
  readonly #draft: Draft;
  readonly #options: ExtenderOptions;
  readonly #budget: PatternBudget;

  /** `counters` are those of the rows' decoder. */
  constructor(
    steps: readonly CompiledStep[],
    paths: PathTable,
    rows: Rows,
    counters: DecodeCounters,
    options: ExtenderOptions,
  ) {
    this.#steps = steps;
    this.#rows = rows;
    this.#counters = counters;
    this.#draft = new Draft(paths, rows, counters, options.isWriteKey);
    this.#options = options;
    this.#budget = options.budget ?? new PatternBudget();
    for (const [index, { sources }] of steps.entries()) {
      for (const source of sources) this.#draft.mark(source, markOf(index));
    }
  }

  /** Extends the last row. `hasDate`: whether it has a date of its own. Never throws. */
  extendRow(hasDate: boolean): void {
    const draft = this.#draft;
    let failed = false;
    let isOver = false;
    this.#budget.beginEvent();
    draft.begin();
    let { marked } = draft;
    for (let index = 0; index < this.#steps.length; index++) {
      const step = this.#steps[index];
      if (draft.addedBytes > EVENT_BYTES_MAX || this.#rows.sideBytes > SIDE_BYTES_MAX) {
        failed = true;
        break;
      }
      // Most extensions look for what most events have not.
      if ((marked & markOf(index)) === 0) continue;
      isOver ||= this.#budget.refused;
      this.#budget.refused = false;
      try {
        const holds = step.test.holds(draft);
        if (this.#budget.refused || !holds) continue;
        this.#run(step);
        draft.write();
        marked = draft.marked;
      } catch (error) {
        draft.revert();
        marked = draft.marked;
        failed = true;
        this.#options.failed(step.id, error);
      }
    }
    draft.finish(hasDate);
    if (failed) this.#counters.extensionsFailed++;
    if (isOver || this.#budget.refused) this.#counters.patternsOverBudget++;
  }

  #run(step: CompiledStep): void {
    const { id, sources, target, work } = step;
    const draft = this.#draft;
    if (work.type === 'attribute') {
      const to = must(target, 'target of an attribute');
      if (sources.some((path) => draft.copy(path, to, work.keeps))) this.#matched(id, undefined);
      return;
    }
    const text = this.#text(sources);
    if (text === undefined) return;
    if (work.type === 'extract') {
      const found = work.extractor.extract(text, this.#budget);
      if (found !== undefined) this.#add(step, text, found, work.takesMessage);
    } else if (work.type === 'severity') {
      const level = severityOf(text);
      if (level === undefined) return;
      draft.set(must(target, 'target of a severity'), level);
      this.#matched(id, undefined);
    } else {
      const ms = work.reader.read(text, this.#rows.receivedMs);
      if (ms === undefined) return;
      draft.setTime(ms);
      this.#matched(id, undefined);
    }
  }

  /** The text of the first source that has one. */
  #text(sources: readonly string[]): string | undefined {
    for (const source of sources) {
      const text = this.#draft.text(source);
      if (text !== undefined) return text;
    }
    return undefined;
  }

  #add(
    { id, target }: CompiledStep,
    text: string,
    { attributes, around = ['', ''], message: short, rule }: Extraction,
    takesMessage: boolean,
  ): void {
    const draft = this.#draft;
    const isTop = target === undefined || target === CUSTOM;
    const message = takesMessage && isTop ? attributes.get(MESSAGE) : undefined;
    if (typeof message === 'string') {
      const rest = new Map(attributes);
      rest.delete(MESSAGE);
      draft.add(rest, undefined);
      const parts = [around[0], message, around[1]];
      draft.setMessage(parts.filter((part) => part !== '').join(' '));
    } else {
      const left = draft.add(attributes, target);
      const isWhole = left.every((name) => name === MARKER);
      if (short !== undefined && isWhole && (draft.text(MESSAGE) ?? text) === text)
        draft.setMessage(short);
    }
    this.#matched(id, rule);
  }

  #matched(id: string, rule: string | undefined): void {
    const { matched } = this.#options;
    if (matched === undefined) return;
    const match = rule === undefined ? { extension: id } : { extension: id, rule };
    matched(this.#rows.rowCount - 1, match);
  }
}

/** Mark of the values that step number `index` works on; some steps may share it. */
function markOf(index: number): number {
  return 1 << (index % 32);
}
