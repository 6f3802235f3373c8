import { must } from '../../engine/base/assert.ts';
import { EVENT_BYTES_MAX } from '../../engine/base/limits.ts';
import { Kind } from '../../engine/column/kind.ts';
import type { PathTable } from '../../engine/column/path.ts';
import type { Rows } from '../../engine/column/rows.ts';
import type { DecodeCounters } from '../decode/counters.ts';
import type { WriteKeyTest } from '../decode/write-key.ts';
import type { CompiledStep, Extracting } from './compile.ts';
import { Draft } from './draft.ts';
import type { EventDateReader } from './event-date.ts';
import type { Extraction } from './extraction.ts';
import { FOUND, NOTHING } from './found/findings.ts';
import { PatternBudget } from './pattern-budget.ts';
import { Severities } from './severity.ts';
import { type Finding, type GroupedStep, groupedSteps, type StepGroup } from './step-group.ts';

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
  readonly #steps: readonly GroupedStep[];
  /** Their marks. */
  readonly #marks: Int32Array;
  readonly #rows: Rows;
  readonly #counters: DecodeCounters;
  readonly #draft: Draft;
  readonly #options: ExtenderOptions;
  readonly #budget: PatternBudget;
  readonly #severities = new Severities();

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
  }

  /** Extends the last row. `hasDate`: whether it has a date of its own. Never throws. */
  extendRow(hasDate: boolean): void {
    const draft = this.#draft;
    let failed = false;
    let isOver = false;
    this.#budget.beginEvent();
    draft.begin();
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
        const holds = step.test.holds(draft.values);
        if (this.#budget.refused || !holds) continue;
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
    draft.finish(hasDate);
    if (failed) this.#counters.extensionsFailed++;
    if (isOver || this.#budget.refused) this.#counters.patternsOverBudget++;
  }

  #mayFind(group: StepGroup): number {
    const { values } = this.#draft;
    return values.turnToText(group.sources) ? group.mayFind(values) : 0;
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
        this.#matched(id, undefined);
        return;
      }
      return;
    }
    const { values } = draft;
    if (!values.turnToText(sources)) return;
    if (work.type === 'extract') {
      // Those of a group were asked.
      const mayFind =
        grouped.group !== undefined ||
        (work.extractor.mayFind?.(values.signs, values.firstByte) ?? true);
      if (!mayFind || this.#find(grouped, work)) return;
      const found = this.#extract(step, work);
      if (found !== undefined) this.#matched(id, found.rule);
    } else if (work.type === 'severity') {
      const level = this.#severities.of(values);
      if (level === undefined) return;
      draft.setDigit(must(target, 'target of a severity'), level);
      this.#matched(id, undefined);
    } else if (!draft.hasTime || this.#options.matched !== undefined) {
      const ms = this.#dateOf(work.reader);
      if (ms === undefined) return;
      draft.setTime(ms);
      this.#matched(id, undefined);
    }
  }

  /** The date that the text says. */
  #dateOf(reader: EventDateReader): number | undefined {
    const { values } = this.#draft;
    const { kind, bytes, start, end } = values;
    const { receivedMs } = this.#rows;
    const ms = kind === Kind.BOOLEAN ? Number.NaN : reader.readPlain(bytes, start, end, receivedMs);
    return Number.isNaN(ms) ? reader.read(values.text, receivedMs) : ms;
  }

  /** Adds what the finder of a step finds in the text that was turned to; false when that is left to its extractor. */
  #find(grouped: GroupedStep, work: Extracting): boolean {
    const draft = this.#draft;
    const { values } = draft;
    if (work.makeFinder === undefined || !draft.takesFindings || !values.isPlain) return false;
    grouped.finding ??= this.#findingOf(grouped.step, work);
    if (grouped.finding === undefined) return false;
    const { finder, found, change } = grouped.finding;
    found.begin();
    const answer = finder.find(values);
    if (answer !== FOUND) return answer === NOTHING;
    const { id, sources } = grouped.step;
    if (found.messageLength >= 0 && !found.takesMessage && !this.#isMessage(sources))
      found.messageLength = -1;
    if (!draft.addFound(found, change)) return false;
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
