import { signal, useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { ask } from '../../api/client.ts';
import type { CompleteResult } from '../../api/contract.ts';
import { short } from '../../base/format.ts';
import { Button } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icon.tsx';
import { list, range } from './panels.ts';
import { asked, askFor, question, timeOf } from './question.ts';

type Suggestion = CompleteResult['suggestions'][number];

/** Brings the caret into the search. */
export const searchFocus = signal(0);

const PAUSE_MS = 120;
const SUGGESTIONS = 10;
const KINDS: Record<string, string> = {
  attribute: 'name',
  tagset: 'tags',
  tag: 'tag',
  keyword: 'word',
};

/** The suggestion after another one, in a circle that also has none of them, -1. */
function choiceAfter(chosen: number, step: 1 | -1, count: number): number {
  const next = (chosen + 1 + step + count + 1) % (count + 1);
  return next - 1;
}

/** The search with its suggestions. Source: WAI-ARIA Authoring Practices, combobox with a list. */
export function SearchBar() {
  const draft = useSignal(question.value.query);
  const options = useSignal<CompleteResult | undefined>(undefined);
  const chosen = useSignal(-1);
  const input = useRef<HTMLInputElement>(null);
  const pending = useRef<{ timer?: ReturnType<typeof setTimeout>; abort?: AbortController }>({});
  const id = useId();
  const { query } = question.value;
  useEffect(() => {
    draft.value = query;
  }, [query, asked.value]);
  useEffect(() => {
    if (searchFocus.value > 0) input.current?.select();
  }, [searchFocus.value]);

  const close = (): void => {
    clearTimeout(pending.current.timer);
    pending.current.abort?.abort();
    options.value = undefined;
    chosen.value = -1;
  };
  const suggest = (): void => {
    clearTimeout(pending.current.timer);
    pending.current.abort?.abort();
    pending.current.timer = setTimeout(async () => {
      const abort = new AbortController();
      pending.current.abort = abort;
      const asking = range.peek();
      if (asking === undefined) return;
      const position = input.current?.selectionStart ?? draft.peek().length;
      const body = { query: draft.peek(), position, time: timeOf(asking), limit: SUGGESTIONS };
      const found = await ask<CompleteResult>('/beta/discover/complete', body, abort.signal).catch(
        () => undefined,
      );
      if (abort.signal.aborted || document.activeElement !== input.current) return;
      options.value = found;
      chosen.value = -1;
    }, PAUSE_MS);
  };
  const take = ({ text }: Suggestion): void => {
    const { from, to } = options.peek() ?? { from: 0, to: 0 };
    const next = draft.peek().slice(0, from) + text + draft.peek().slice(to);
    draft.value = next;
    close();
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(from + text.length, from + text.length);
      if (text.endsWith(':')) suggest();
    });
  };
  const run = (): void => {
    close();
    askFor({ query: draft.peek().trim() });
  };
  const press = (event: KeyboardEvent): void => {
    const shown = options.peek()?.suggestions ?? [];
    if (event.key === 'Enter') {
      event.preventDefault();
      const picked = shown[chosen.peek()];
      if (picked === undefined) run();
      else take(picked);
    } else if (event.key === 'Escape') {
      if (shown.length > 0) close();
      else input.current?.blur();
    } else if (event.key === 'Tab' && shown.length > 0 && !event.shiftKey) {
      event.preventDefault();
      take(shown[Math.max(0, chosen.peek())] as Suggestion);
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (shown.length === 0) suggest();
      else
        chosen.value = choiceAfter(chosen.peek(), event.key === 'ArrowDown' ? 1 : -1, shown.length);
    }
  };
  const shown = options.value?.suggestions ?? [];
  const isOpen = shown.length > 0;
  return (
    <form class="search" role="search" onSubmit={(event) => event.preventDefault()}>
      <Icon name="search" size={18} />
      <input
        ref={input}
        class="search-input"
        type="text"
        value={draft.value}
        placeholder="Search: words, attribute:value, duration:>500"
        aria-label="Search"
        {...{ role: 'combobox', spellcheck: false, autoComplete: 'off', autocapitalize: 'off' }}
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(chosen.value >= 0 ? { 'aria-activedescendant': `${id}-${chosen.value}` } : {})}
        onInput={(event) => {
          draft.value = event.currentTarget.value;
          suggest();
        }}
        onKeyDown={press}
        onBlur={close}
      />
      {draft.value !== '' && (
        <Button
          kind="quiet"
          icon="close"
          label="Clear the search"
          onClick={() => {
            draft.value = '';
            run();
          }}
        />
      )}
      {list.isLoading.value ? (
        <Button kind="main" onClick={() => list.cancel()}>
          Cancel
        </Button>
      ) : (
        <Button kind="main" onClick={run}>
          Run
        </Button>
      )}
      <div class="off-screen" role="status">
        {isOpen ? `${shown.length} suggestions` : ''}
      </div>
      <div
        id={`${id}-list`}
        class="suggestions"
        role="listbox"
        aria-label="Suggestions"
        hidden={!isOpen}
      >
        {shown.map((suggestion, at) => (
          <div
            id={`${id}-${at}`}
            class="suggestion"
            role="option"
            aria-selected={at === chosen.value}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(suggestion)}
          >
            <span class="suggestion-text">{suggestion.text}</span>
            {suggestion.label !== undefined && <span class="quiet-text">{suggestion.label}</span>}
            <span class="space" />
            {suggestion.count !== undefined && (
              <span class="bar-count">{short(suggestion.count)}</span>
            )}
            <span class="suggestion-kind">{KINDS[suggestion.kind] ?? suggestion.kind}</span>
          </div>
        ))}
      </div>
    </form>
  );
}
