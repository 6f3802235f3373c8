import type { Hint, ListResult } from '../../api/contract.ts';
import { pointTime } from '../../base/format.ts';
import { askFor, question } from '../../base/question.ts';
import { piecesOf } from '../../base/terms.ts';
import { zoomOut, zoomTo } from '../../base/zoom.ts';
import { Button } from '../../parts/controls.tsx';
import { brief, visible } from '../../parts/log-text.tsx';

const HOUR_MS = 3_600_000;

/** An answer without events: why, and what would find some. */
export function Nothing({ first }: { first: ListResult }) {
  const { query } = question.value;
  const hints = first.hints ?? [];
  return (
    <div class="nothing">
      <h2>Nothing found</h2>
      {hints.length === 0 && (
        <p>
          {query === ''
            ? 'There are no events in this range.'
            : 'No event of this range matches the search.'}
        </p>
      )}
      <ul class="hints">
        {hints.map((hint) => (
          <li>
            <p>{visible(hint.message)}</p>
            <Fix hint={hint} />
          </li>
        ))}
      </ul>
      <div class="nothing-ways">
        <Button icon="clock" onClick={zoomOut}>
          A longer range
        </Button>
        {query !== '' && (
          <Button icon="close" onClick={() => askFor({ query: '' })}>
            All events of the range
          </Button>
        )}
      </div>
    </div>
  );
}

/** The one click that a hint offers. */
function Fix({ hint }: { hint: Hint }) {
  const { query, zone } = question.value;
  const { term, nearest, attribute } = hint;
  const replacement = hint.try ?? (nearest === undefined ? undefined : nearestTerm(hint));
  if (replacement !== undefined && term !== undefined) {
    return (
      <Button icon="check" onClick={() => askFor({ query: replaced(query, term, replacement) })}>
        {brief(replacement)}
      </Button>
    );
  }
  const date = hint.newest ?? hint.oldest;
  if (date !== undefined) {
    const ms = Date.parse(date);
    return (
      <Button icon="clock" onClick={() => zoomTo(ms - HOUR_MS / 2, ms + HOUR_MS / 2)}>
        Go to {pointTime(ms, zone)}
      </Button>
    );
  }
  if (hint.type === 'term' && hint.count === 0 && term !== undefined) {
    return (
      <Button icon="minus" onClick={() => askFor({ query: replaced(query, term, '') })}>
        Without {brief(term)}
      </Button>
    );
  }
  return attribute === undefined ? null : <code>{visible(attribute)}</code>;
}

function nearestTerm({ type, attribute, nearest, term }: Hint): string | undefined {
  if (term === undefined || nearest === undefined) return undefined;
  if (type === 'attribute') return nearest.replace(/^custom\./, '') + term.slice(term.indexOf(':'));
  const quoted = /^[\w.-]+$/.test(nearest) ? nearest : `"${nearest.replace(/["\\]/g, '\\$&')}"`;
  return type === 'value' && attribute !== undefined
    ? `${term.slice(0, term.indexOf(':'))}:${quoted}`
    : undefined;
}

function replaced(query: string, term: string, replacement: string): string {
  const isTop = piecesOf(query).some(({ text }) => text === term);
  const pieces = piecesOf(query).map(({ text }) => (text === term ? replacement : text));
  const next = isTop ? pieces.join(' ') : query.replace(term, replacement);
  return next.replace(/\s+/g, ' ').trim();
}
