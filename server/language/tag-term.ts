import { nearestHint } from '../../engine/base/nearest.ts';
import type { Pattern, Predicate } from '../../engine/query/model/predicate.ts';
import type { Tag } from './filter.ts';
import { SearchError } from './lexer.ts';
import { shown } from './shown.ts';

/** A pattern by characters. */
type Step = { literal: string } | { wildcard: '*' | '?' };

/**
 * Tells the tags of the tagset `id` that a value at `at` names. A pattern may name none. Throws SearchError when it is
 * a text that is no tag's id.
 */
export function tagTest(
  pattern: Pattern,
  at: number,
  id: string,
  tags: readonly Tag[],
): (tag: string) => boolean {
  if (pattern.some((piece) => 'wildcard' in piece)) return (tag) => matches(pattern, tag);
  const text = pattern.map((piece) => ('literal' in piece ? piece.literal : '')).join('');
  const known = tags.map((tag) => tag.id);
  if (known.includes(text)) return (tag) => tag === text;
  const hint = nearestHint(text, known);
  throw new SearchError(
    at,
    `expected a tag of ${shown(id)}, found ${shown(text)};${hint} allowed: ${known.join(', ')}`,
  );
}

/** Terms that the queries of tags have. */
export function tagClauses(tags: readonly Tag[]): number {
  return tags.reduce((sum, { predicate }) => sum + clausesOf(predicate), 0);
}

function clausesOf(predicate: Predicate): number {
  if (predicate.type === 'not') return clausesOf(predicate.child);
  if (predicate.type !== 'and' && predicate.type !== 'or') return 1;
  return predicate.children.reduce((sum, child) => sum + clausesOf(child), 0);
}

/** Matches a text with a pattern. Goes back to the last `*` only: at most pattern times text steps. */
function matches(pattern: Pattern, text: string): boolean {
  const steps = stepsOf(pattern);
  const characters = [...text];
  let step = 0;
  let at = 0;
  let anyStep = -1;
  let anyAt = 0;
  while (at < characters.length) {
    const wanted = steps[step];
    if (isAny(wanted)) {
      anyStep = step++;
      anyAt = at;
    } else if (wanted !== undefined && passes(wanted, characters[at])) {
      step++;
      at++;
    } else {
      if (anyStep < 0) return false;
      step = anyStep + 1;
      at = ++anyAt;
    }
  }
  return steps.slice(step).every(isAny);
}

function stepsOf(pattern: Pattern): Step[] {
  const steps: Step[] = [];
  for (const piece of pattern) {
    if ('wildcard' in piece) steps.push(piece);
    else for (const literal of piece.literal) steps.push({ literal });
  }
  return steps;
}

function isAny(step: Step | undefined): boolean {
  return step !== undefined && 'wildcard' in step && step.wildcard === '*';
}

function passes(step: Step, character: string): boolean {
  return 'wildcard' in step || step.literal === character;
}
