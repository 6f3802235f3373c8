import { LESS, LINE_FEED } from '../../../engine/base/ascii.ts';
import type { Rows } from '../../../engine/column/rows.ts';
import { countedSum, type DecodeCounters } from '../counters.ts';
import { OPEN_BRACE } from '../text.ts';
import type { Learner, LineLearner } from './learner.ts';
import type { Separator } from './template-kernel.ts';
import type { LineTemplates, Templates, TemplateUser } from './templates.ts';

/** The reader of a decoder's lines, as known lines need it. */
export interface LineUser extends Readonly<Omit<TemplateUser, 'rows' | 'extend'>> {
  /** Set when nothing but the lines themselves and extensions say what is in events, and all of them are UTF-8. */
  readonly isPlain: boolean;
  readonly learner: Learner;
  readonly nameLearner: LineLearner;
  /** Set when events are extended. */
  readonly extension: unknown;
  /** Extends the last row, which has a date of its own when `hasDate`, and holds it to the names that it may have. */
  finishRow(hasDate: boolean): void;
  /** Tells of the line `[start, end)` when something was counted. */
  tellTrouble(start: number, end: number): void;
}

/** Lines that a decoder need not read by the reference, as their templates are known. Owned by one thread. */
export class KnownLines {
  templates: LineTemplates | undefined;
  readonly #rows: Rows;
  readonly #lines: LineUser;
  readonly #counters: DecodeCounters;
  #rowsBefore = 0;
  #countedBefore = 0;

  constructor(rows: Rows, lines: LineUser, counters: DecodeCounters) {
    this.#rows = rows;
    this.#lines = lines;
    this.#counters = counters;
  }

  /** Turns to the source of the rows. */
  begin(): void {
    this.templates?.json.begin();
    this.templates?.syslog.begin();
  }

  /** The templates of lines that begin with a byte, while they are to be tried. */
  usable(first: number): Templates | undefined {
    const templates = this.#of(first);
    return templates?.isOn === true && this.#lines.isPlain ? templates : undefined;
  }

  #of(first: number): Templates | undefined {
    if (first === OPEN_BRACE) return this.templates?.json;
    return first === LESS ? this.templates?.syslog : undefined;
  }

  /**
   * Makes rows of the lines that `usable` has read; how many, which may be fewer: where events are extended none are
   * made once `isSpent`.
   */
  take(templates: Templates, isSpent: () => boolean): number {
    const { leaves, objects, nameLimit, extension } = this.#lines;
    const user = { rows: this.#rows, leaves, objects, nameLimit };
    if (extension === undefined) return templates.take(user);
    return templates.takeEach({ ...user, extend: this.#extend }, isSpent);
  }

  /** Extends the last row, which is the line `[start, end)`. */
  readonly #extend = (hasDate: boolean, start: number, end: number): void => {
    this.#lines.finishRow(hasDate);
    this.#lines.tellTrouble(start, end);
  };

  /** Begins a line that the reference reads. */
  beginLine(): void {
    this.#rowsBefore = this.#rows.rowCount;
    this.#countedBefore = countedSum(this.#counters);
    this.#lines.learner.forget();
  }

  /** Ends that line, an element of an array which nothing is learnt from. */
  passLine(): void {
    this.templates?.json.miss();
  }

  /**
   * Learns from that line, whose content is `[start, end)` of the source with its separator. One that begins neither as
   * a JSON object nor as a syslog line says nothing of templates.
   */
  endLine(start: number, end: number, separator: Separator = LINE_FEED): void {
    const first = this.#rows.source[start];
    const templates = this.#of(first);
    if (templates === undefined || !this.#lines.isPlain) return;
    templates.miss();
    const isSyslog = first === LESS;
    if (isSyslog && !templates.hasNewName) return;
    const { leaves, objects, extension } = this.#lines;
    const learner = isSyslog ? this.#lines.nameLearner : this.#lines.learner;
    const isEvent = this.#rows.rowCount === this.#rowsBefore + 1;
    const isCounted = countedSum(this.#counters) !== this.#countedBefore;
    if (!templates.isOn || !isEvent || isCounted || leaves.writeKey !== undefined) return;
    const user = { rows: this.#rows, leaves, objects, nameLimit: undefined };
    templates.learn(user, learner, start, end, { separator, isExtended: extension !== undefined });
  }
}
