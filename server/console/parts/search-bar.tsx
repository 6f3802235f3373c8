import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import { short } from '../base/format.ts';
import { asked, askFor, question } from '../base/question.ts';
import { Completion, type Suggestion } from './completion.ts';
import { Button } from './controls.tsx';
import { Icon } from './icon.tsx';
import { brief } from './log-text.tsx';

const INPUT_CLASS = 'search-input';

/** Brings the caret into the search, at once: what is typed next belongs to it. */
export function focusSearch(): void {
  document.querySelector<HTMLInputElement>(`.${INPUT_CLASS}`)?.select();
}

const KINDS: Record<string, string> = {
  ...{ attribute: 'name', tagset: 'tags', tag: 'tag', keyword: 'word' },
};

/** Requests that the search has begun, and their end. */
interface Loading {
  readonly isLoading: { readonly value: boolean };
  cancel(): void;
}

/** The search with its suggestions. Source: WAI-ARIA Authoring Practices, combobox with a list. */
export function SearchBar({ loading }: { loading: Loading }) {
  const completion = useMemo(() => new Completion(question.peek().query), []);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const { draft, chosen, suggestions } = completion;
  const { query } = question.value;
  useEffect(() => {
    draft.value = query;
  }, [query, asked.value]);
  const suggest = (): void =>
    completion.suggest(
      input.current?.selectionStart ?? draft.peek().length,
      () => document.activeElement === input.current,
    );
  const take = (suggestion: Suggestion): void => {
    const caret = completion.take(suggestion);
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(caret, caret);
      if (suggestion.text.endsWith(':')) suggest();
    });
  };
  const run = (): void => {
    completion.close();
    askFor({ query: draft.peek().trim() });
  };
  return (
    <form class="search" role="search" onSubmit={(event) => event.preventDefault()}>
      <Icon name="search" size={18} />
      <input
        ref={input}
        class={INPUT_CLASS}
        type="text"
        value={draft.value}
        placeholder="Search: words, attribute:value, duration:>500"
        aria-label="Search"
        {...{ role: 'combobox', spellcheck: false, autoComplete: 'off', autocapitalize: 'off' }}
        aria-expanded={suggestions.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(chosen.value >= 0 ? { 'aria-activedescendant': `${id}-${chosen.value}` } : {})}
        onInput={(event) => {
          draft.value = event.currentTarget.value;
          suggest();
        }}
        onKeyDown={(event) => press(event, completion, { suggest, take, run })}
        onBlur={() => completion.close()}
      />
      {draft.value !== '' && <ClearButton completion={completion} run={run} />}
      {loading.isLoading.value ? (
        <Button kind="main" onClick={() => loading.cancel()}>
          Cancel
        </Button>
      ) : (
        <Button kind="main" onClick={run}>
          Run
        </Button>
      )}
      <Suggestions id={id} completion={completion} take={take} />
    </form>
  );
}

interface Ways {
  suggest: () => void;
  take: (suggestion: Suggestion) => void;
  run: () => void;
}

/** Does what a key means while one types. */
function press(event: KeyboardEvent, completion: Completion, { suggest, take, run }: Ways): void {
  const { suggestions, chosen } = completion;
  const picked = suggestions[chosen.peek()];
  const isOpen = suggestions.length > 0;
  if (event.key === 'Enter') {
    event.preventDefault();
    if (picked === undefined) run();
    else take(picked);
  } else if (event.key === 'Escape') {
    if (isOpen) completion.close();
    else if (event.currentTarget instanceof HTMLElement) event.currentTarget.blur();
  } else if (event.key === 'Tab' && isOpen && !event.shiftKey) {
    event.preventDefault();
    take(picked ?? suggestions[0]);
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    if (isOpen) completion.step(event.key === 'ArrowDown' ? 1 : -1);
    else suggest();
  }
}

function ClearButton({ completion, run }: { completion: Completion; run: () => void }) {
  const clear = (): void => {
    completion.draft.value = '';
    run();
  };
  return <Button kind="quiet" icon="close" label="Clear the search" onClick={clear} />;
}

interface SuggestionsProps {
  id: string;
  completion: Completion;
  take: (suggestion: Suggestion) => void;
}

/** The suggestions; the search keeps the focus, and has the keys. */
function Suggestions({ id, completion, take }: SuggestionsProps) {
  const { suggestions, chosen } = completion;
  const isOpen = suggestions.length > 0;
  return (
    <>
      <div class="off-screen" role="status">
        {isOpen ? `${suggestions.length} suggestions` : ''}
      </div>
      <div
        id={`${id}-list`}
        class="suggestions"
        role="listbox"
        aria-label="Suggestions"
        hidden={!isOpen}
      >
        {suggestions.map((suggestion, at) => (
          <div
            id={`${id}-${at}`}
            class="suggestion"
            role="option"
            aria-selected={at === chosen.value}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(suggestion)}
          >
            <span class="suggestion-text">{brief(suggestion.text)}</span>
            {suggestion.label !== undefined && (
              <span class="quiet-text">{brief(suggestion.label)}</span>
            )}
            <span class="space" />
            {suggestion.count !== undefined && (
              <span class="bar-count">{short(suggestion.count)}</span>
            )}
            <span class="suggestion-kind">{KINDS[suggestion.kind] ?? suggestion.kind}</span>
          </div>
        ))}
      </div>
    </>
  );
}
