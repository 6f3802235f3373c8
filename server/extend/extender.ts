import { must } from '../../engine/base/assert.ts';
import { EVENT_BYTES_MAX } from '../../engine/base/limits.ts';
import type { PathTable } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { DecodeCounters } from '../decode/counters.ts';
import type { WriteKeyTest } from '../decode/write-key.ts';
import type { CompiledStep, Extracting } from './compile.ts';
import { Draft } from './draft.ts';
import type { Extraction } from './extraction.ts';
import { FOUND, NOTHING } from './found/findings.ts';
import { PatternBudget } from './pattern-budget.ts';
import { Severities } from './severity.ts';
import { type Finding, type GroupedStep, groupedSteps, type StepGroup } from './step-group.ts';
import type { Recorder } from './trace/recorder.ts';
import { SIDE_BYTES_MAX, Traces } from './trace/traces.ts';

const MESSAGE = 'message';
const CUSTOM = 'custom';
/** An attribute that names the source of an event; it says nothing of the text. */
const MARKER = '@marker';

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
  /** Has all rows extended by the steps themselves, without traces. So are those of which `matched` is told. */
  isPlain?: boolean;
}

/**
 * Runs the parsing extensions on events that were decoded, in their order, each on what those before it left.
 * Made for one path table, owned by one thread. Source: INTERFACE.md 1.2 and 11.
 */
export class Extender {
  readonly #steps: readonly GroupedStep[];
  /** Their marks. */
  readonly #marks: Int32Array;
  readonly #rows: Rows;
  readonly #counters: DecodeCounters;
  readonly #draft: Draft;
  readonly #options: ExtenderOptions;
  readonly #budget: PatternBudget;
  readonly #severities = new Severities();
  readonly #traces: Traces | undefined;
  /** Notes what is done with the row, when that is to be known. */
  #record: Recorder | undefined;

  /** `counters` are those of the rows' decoder. */
  constructor(
    steps: readonly CompiledStep[],
    paths: PathTable,
    rows: Rows,
    counters: DecodeCounters,
    options: ExtenderOptions,
  ) {
    this.#steps = groupedSteps(steps);
    this.#rows = rows;
    this.#counters = counters;
    this.#draft = new Draft(paths, rows, counters, options.isWriteKey);
    this.#options = options;
    this.#budget = options.budget ?? new PatternBudget();
    this.#marks = Int32Array.from(this.#steps, ({ mark }) => mark);
    for (const { step, mark } of this.#steps) {
      for (const source of step.sources) this.#draft.mark(source, mark);
    }
    if (options.isPlain === true || options.matched !== undefined) return;
    const parts = { rows, draft: this.#draft, budget: this.#budget, severities: this.#severities };
    this.#traces = new Traces(parts);
  }

  /** Rows that were extended by traces. */
  get tracedRows(): number {
    return this.#traces?.rowCount ?? 0;
  }

  /** Extends the last row. `hasDate`: whether it has a date of its own. Never throws. */
  extendRow(hasDate: boolean): void {
    const draft = this.#draft;
    this.#budget.beginEvent();
    draft.begin();
    if (this.#traces === undefined) {
      this.#runAll();
      draft.finish(hasDate);
    } else if (!this.#traces.take(hasDate)) {
      const record = this.#traces.record();
      this.#record = record;
      this.#runAll();
      if (record === undefined) draft.finish(hasDate);
      else if (draft.wasWritten) record.end(() => draft.finish(hasDate));
      else record.endUnwritten();
      this.#traces.endRecord();
    }
  }

  /** Runs all steps that have something to do. */
  #runAll(): void {
    const draft = this.#draft;
    let failed = false;
    let isOver = false;
    let { marked } = draft;
    let isFull = this.#isFull;
    /** The group whose text was looked at last, and its steps that may find something in that. */
    let asked: StepGroup | undefined;
    let mayFind = 0;
    const marks = this.#marks;
    for (let index = 0; index < marks.length; index++) {
      if (isFull) {
        failed = true;
        break;
      }
      // Most extensions look for what most events have not.
      if ((marked & marks[index]) === 0) continue;
      const grouped = this.#steps[index];
      const { step, group, bit } = grouped;
      if (group !== undefined) {
        if (group !== asked) mayFind = this.#mayFind(group);
        asked = group;
        if ((mayFind & bit) === 0) continue;
      }
      isOver ||= this.#budget.refused;
      this.#budget.refused = false;
      try {
        const holds = this.#holds(grouped);
        if (this.#budget.refused || !holds) continue;
        this.#record?.beginStep();
        this.#run(grouped);
        if (!draft.isChanged) continue;
        draft.write();
        asked = undefined;
        marked = draft.marked;
        isFull = this.#isFull;
      } catch (error) {
        draft.revert();
        asked = undefined;
        marked = draft.marked;
        isFull = this.#isFull;
        failed = true;
        this.#options.failed(step.id, error);
      }
    }
    isOver ||= this.#budget.refused;
    if (failed) this.#counters.extensionsFailed++;
    if (isOver) this.#counters.patternsOverBudget++;
    if (failed || isOver || !draft.takesFindings) this.#record?.lose();
  }

  #holds({ step: { test } }: GroupedStep): boolean {
    const { values } = this.#draft;
    if (test.isAll) return true;
    return this.#record === undefined ? test.holds(values) : this.#record.test(test, values);
  }

  #mayFind(group: StepGroup): number {
    const { values } = this.#draft;
    if (!values.turnToText(group.sources)) return 0;
    const mask = group.mayFind(values);
    this.#record?.group(group, values.entry, mask);
    return mask;
  }

  /** Is set when the event has got as much as one may have, or there is no room for more. */
  get #isFull(): boolean {
    return this.#draft.addedBytes > EVENT_BYTES_MAX || this.#rows.sideBytes > SIDE_BYTES_MAX;
  }

  #run(grouped: GroupedStep): void {
    const { step } = grouped;
    const { id, sources, target, work } = step;
    const draft = this.#draft;
    if (work.type === 'attribute') {
      const to = must(target, 'target of an attribute');
      for (const path of sources) {
        if (!draft.copy(path, to, work.keeps)) continue;
        this.#record?.copied(draft.values.entry, work.keeps);
        this.#matched(id, undefined);
        return;
      }
      return;
    }
    const { values } = draft;
    if (!values.turnToText(sources)) return;
    if (work.type === 'extract') {
      if (!this.#mayExtract(grouped, work) || this.#find(grouped, work)) return;
      const found = this.#extract(step, work);
      if (found === undefined) this.#record?.nothing();
      else this.#record?.lose();
      if (found !== undefined) this.#matched(id, found.rule);
    } else if (work.type === 'severity') {
      const { entry } = values;
      const level = this.#severities.of(values);
      this.#record?.level(entry, level !== undefined);
      if (level === undefined) return;
      draft.setDigit(must(target, 'target of a severity'), level);
      this.#record?.levelPlaced(draft.takesFindings);
      this.#matched(id, undefined);
    } else if (!draft.hasTime || this.#options.matched !== undefined) {
      const ms = work.reader.dateOf(values, this.#rows.receivedMs);
      this.#record?.date(work.reader, values.entry, ms !== undefined);
      if (ms === undefined) return;
      draft.setTime(ms);
      this.#matched(id, undefined);
    }
  }

  /** Tells that the extractor of a step may find something in the text; those of a group were asked. */
  #mayExtract({ group }: GroupedStep, { extractor }: Extracting): boolean {
    if (group !== undefined || extractor.mayFind === undefined) return true;
    const { values } = this.#draft;
    const mayFind = extractor.mayFind(values.signs, values.firstByte);
    this.#record?.may(extractor, values.entry, mayFind);
    return mayFind;
  }

  /** Adds what the finder of a step finds in the text that was turned to; false when that is left to its extractor. */
  #find(grouped: GroupedStep, work: Extracting): boolean {
    const draft = this.#draft;
    const { values } = draft;
    if (work.makeFinder === undefined || !draft.takesFindings) return false;
    grouped.finding ??= this.#findingOf(grouped.step, work);
    if (grouped.finding === undefined) return false;
    const { finder, found, change } = grouped.finding;
    const { entry } = values;
    this.#record?.find(grouped.finding, work.extractor, entry);
    if (!values.isPlain) return false;
    found.begin();
    const answer = finder.find(values);
    if (answer === NOTHING) this.#record?.nothing();
    if (answer !== FOUND) return answer === NOTHING;
    const { id, sources } = grouped.step;
    this.#record?.found(entry);
    if (found.messageLength >= 0 && !found.takesMessage && !this.#isMessage(sources))
      found.messageLength = -1;
    const isPut = draft.addFound(found, change);
    this.#record?.placed(isPut);
    if (!isPut) return false;
    this.#matched(id, undefined);
    return true;
  }

  #findingOf(step: CompiledStep, work: Extracting): Finding | undefined {
    const found = this.#draft.findings(step.target, work.takesMessage);
    const finder = found && work.makeFinder?.(found);
    if (found === undefined || finder === undefined) return undefined;
    const change = { type: 'found' as const, again: (): void => void this.#extract(step, work) };
    return { finder, found, change };
  }

  /** Reports whether the text of `sources` is the event's message, or the event has none. */
  #isMessage(sources: readonly string[]): boolean {
    const text = this.#textOf(sources);
    return (this.#draft.text(MESSAGE) ?? text) === text;
  }

  #textOf(sources: readonly string[]): string | undefined {
    const { values } = this.#draft;
    return values.turnToText(sources) ? values.text : undefined;
  }

  /** Adds what the extractor of a step finds in the text of its sources, and returns that. */
  #extract(
    { sources, target }: CompiledStep,
    { extractor, takesMessage }: Extracting,
  ): Extraction | undefined {
    const draft = this.#draft;
    const text = this.#textOf(sources);
    if (text === undefined) return undefined;
    const found = extractor.extract(text, this.#budget, draft.values.signs);
    if (found === undefined) return undefined;
    const { attributes, around = ['', ''], message: short } = found;
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
    return found;
  }

  #matched(id: string, rule: string | undefined): void {
    const { matched } = this.#options;
    if (matched === undefined) return;
    const match = rule === undefined ? { extension: id } : { extension: id, rule };
    matched(this.#rows.rowCount - 1, match);
  }
}
