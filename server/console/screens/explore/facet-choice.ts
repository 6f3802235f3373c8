import { effect } from '@preact/signals';
import type { AttributesResult } from '../../api/contract.ts';
import type { Panel } from '../../base/panel.ts';
import { openFacets } from './question.ts';

/** Facets that are open at once. Source: INTERFACE.md 4.5. */
export const FACETS_MAX = 20;
/** Facets that are open without a choice. */
const FACETS_DEFAULT = 5;
/** Last parts of names that people look at first. */
const LIKELY = [
  ...['level', 'severity', 'levelname', 'appname', 'service', 'app', 'logger', 'hostname', 'host'],
  ...[
    'status_code',
    'status',
    'method',
    'verb',
    'env',
    'environment',
    'region',
    'container_name',
    'namespace',
  ],
];

/** Names of attributes that differ from event to event. */
const MANY =
  /id$|uuid|trace|span|token|hash|ip$|address|ur[il]|path|agent|refer|time|date|query|text|stack|error/i;

/** Attributes whose values are counted: those that are open, or five that are likely to be of use. */
export async function facetPaths(
  attributes: Panel<AttributesResult>,
  signal: AbortSignal,
): Promise<string[]> {
  const chosen = openFacets.peek();
  if (chosen !== undefined) return chosen.slice(0, FACETS_MAX);
  const known = await loaded(attributes, signal);
  return known === undefined ? [] : likelyOf(known);
}

/** The attributes when they are there. */
function loaded(
  attributes: Panel<AttributesResult>,
  signal: AbortSignal,
): Promise<AttributesResult | undefined> {
  return new Promise((resolve) => {
    let stop: (() => void) | undefined;
    const finish = (result: AttributesResult | undefined): void => {
      resolve(result);
      queueMicrotask(() => stop?.());
    };
    signal.addEventListener('abort', () => finish(undefined), { once: true });
    stop = effect(() => {
      if (!attributes.isLoading.value) finish(attributes.data.value);
    });
  });
}

function likelyOf({ attributes: all }: AttributesResult): string[] {
  const rank = (path: string): number => {
    const last = path.split('.').at(-1)?.toLowerCase() ?? '';
    const at = LIKELY.indexOf(last);
    return at < 0 ? LIKELY.length : at;
  };
  return all
    .filter(({ attribute, kinds }) => attribute !== 'message' && !kinds.includes('date'))
    .map(({ attribute, kinds, events }) => ({ attribute, kinds, events, rank: rank(attribute) }))
    .filter(({ attribute, kinds, rank: at }) => at < LIKELY.length || isOfFew(attribute, kinds))
    .sort((left, right) => left.rank - right.rank || right.events - left.events)
    .slice(0, FACETS_DEFAULT)
    .map(({ attribute }) => attribute);
}

/** Reports whether an attribute is likely to have few values, as its name and its kinds tell. */
function isOfFew(path: string, kinds: readonly string[]): boolean {
  return (kinds.includes('string') || kinds.includes('boolean')) && !MANY.test(path);
}
