import { signal } from '@preact/signals';
import { ask } from '../api/client.ts';
import type { CompleteResult } from '../api/contract.ts';
import { range, timeOf } from '../base/question.ts';

/** A text that may stand in a search. */
export type Suggestion = CompleteResult['suggestions'][number];

const PAUSE_MS = 120;
const SUGGESTIONS = 10;

/** A search that is being typed, and what may stand where its caret is. */
export class Completion {
  /** Text of the search. */
  readonly draft;
  /** Number of the suggestion that is chosen, -1: none is. */
  readonly chosen = signal(-1);
  readonly #found = signal<CompleteResult | undefined>(undefined);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort = new AbortController();

  constructor(query: string) {
    this.draft = signal(query);
  }

  /** Suggestions that are shown. */
  get suggestions(): readonly Suggestion[] {
    return this.#found.value?.suggestions ?? [];
  }

  /** Asks for suggestions when nothing was typed for a moment; they are shown when `isWanted` still holds. */
  suggest(position: number, isWanted: () => boolean): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
    this.#timer = setTimeout(async () => {
      const abort = new AbortController();
      this.#abort = abort;
      const asking = range.peek();
      if (asking === undefined) return;
      const body = { query: this.draft.peek(), position, time: timeOf(asking), limit: SUGGESTIONS };
      const found = await ask<CompleteResult>('/beta/discover/complete', body, abort.signal).catch(
        () => undefined,
      );
      if (abort.signal.aborted || !isWanted()) return;
      this.#found.value = found;
      this.chosen.value = -1;
    }, PAUSE_MS);
  }

  /** Shows no suggestions any more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
    this.#found.value = undefined;
    this.chosen.value = -1;
  }

  /** Chooses the next suggestion, or the one before, in a circle that also has none of them. */
  step(by: 1 | -1): void {
    const count = this.suggestions.length;
    this.chosen.value = ((this.chosen.peek() + 1 + by + count + 1) % (count + 1)) - 1;
  }

  /** Puts a suggestion into the draft. Returns the place of the caret behind it. */
  take({ text }: Suggestion): number {
    const { from, to } = this.#found.peek() ?? { from: 0, to: 0 };
    const draft = this.draft.peek();
    this.draft.value = draft.slice(0, from) + text + draft.slice(to);
    this.close();
    return from + text.length;
  }
}
