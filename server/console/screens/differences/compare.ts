import { ask } from '../../api/client.ts';
import type {
  AggregateResult,
  AttributesResult,
  FacetsResult,
  ListBody,
} from '../../api/contract.ts';
import { type Json, printJson, textOf } from '../../api/exact.ts';
import type { Wholeness } from '../../parts/exactness.tsx';
import { askFacets } from '../explore/panels.ts';

/** Events by their time and filters. */
export type Side = Pick<ListBody, 'time'> & { readonly filters: NonNullable<ListBody['filters']> };

/** A value, and how many events have it. */
export interface Difference {
  readonly path: string;
  readonly value: Json;
  /** Events of the selection, and of all others. */
  readonly selected: number;
  readonly rest: number;
}

/** A selection beside the rest, as far as it is compared. */
export interface Comparison {
  readonly selected: number;
  readonly rest: number;
  readonly differences: readonly Difference[];
  readonly doneCount: number;
  readonly attributeCount: number;
  readonly whole: Wholeness;
}

/** Attributes of a request, and of all. Source: INTERFACE.md 4.5. */
const FIELDS_MAX = 20;
const ATTRIBUTES_MAX = 500;
/** Values of each attribute that are compared, of the most frequent ones of either side. */
const COMPARED = 10;
const VALUES_MAX = 100;

type Facet = FacetsResult['facets'][number];

/**
 * Compares the values that are frequent in a selection, or in all events, attribute by attribute, those of the most
 * events first. Yields what is known by then. Rejects as `ask` does.
 */
export async function* compare(
  all: Side,
  selection: Side,
  signal: AbortSignal,
): AsyncGenerator<Comparison> {
  const [whole, selected, { attributes, ...known }] = await Promise.all([
    countOf(all, signal),
    countOf(selection, signal),
    ask<AttributesResult>(
      '/beta/discover/attributes',
      { ...all, distinct: false, values: 0, limit: ATTRIBUTES_MAX },
      signal,
    ),
  ]);
  const rest = Math.max(whole.count - selected.count, 0);
  const paths = attributes.map(({ attribute }) => attribute);
  let lack: Wholeness = lackIn(whole.lack, selected.lack, known);
  const differences: Difference[] = [];
  for (let done = 0; done < paths.length || done === 0; done += FIELDS_MAX) {
    const body = { fields: paths.slice(done, done + FIELDS_MAX), limit: VALUES_MAX };
    const sides =
      body.fields.length === 0
        ? []
        : await Promise.all(
            [selection, all].map((side) => askFacets({ ...side, ...body }, signal)),
          );
    lack = lackIn(lack, ...sides);
    const [own, common] = sides.map(({ facets }) => facets);
    for (const facet of own ?? []) {
      const other = common?.find(({ field }) => field === facet.field);
      if (other === undefined) continue;
      differences.push(...(await differencesOf(facet, other, [selection, all], signal)));
    }
    yield {
      ...{ selected: selected.count, rest, differences: [...differences], whole: lack },
      doneCount: Math.min(done + FIELDS_MAX, paths.length),
      attributeCount: paths.length,
    };
  }
}

function lackIn(...answers: readonly Wholeness[]): Wholeness {
  return {
    bound: answers.find(({ bound }) => bound !== undefined)?.bound,
    damaged: answers.find(({ damaged }) => damaged !== undefined)?.damaged,
  };
}

async function countOf(
  side: Side,
  signal: AbortSignal,
): Promise<{ count: number; lack: Wholeness }> {
  const result = await ask<AggregateResult>(
    '/beta/events/aggregate',
    { ...side, compute: [{ metric: { id: 'count', output: 'n' } }], hints: false },
    signal,
  );
  return { count: Number(result.aggregates[0]?.values['n'] ?? 0), lack: result };
}

/** The values that are frequent on either side, with both counts, which are asked for where they are not known. */
async function differencesOf(
  own: Facet,
  common: Facet,
  [selection, all]: readonly Side[],
  signal: AbortSignal,
): Promise<Difference[]> {
  const values = new Map<string, Json>();
  for (const { values: some } of [own, common]) {
    for (const { value } of some.slice(0, COMPARED)) values.set(printJson(value), value);
  }
  const [ofOwn, ofAll] = await Promise.all([
    countsOf(own, values, selection, signal),
    countsOf(common, values, all, signal),
  ]);
  return [...values].flatMap(([name, value]) => {
    const [selected, whole] = [ofOwn.get(name), ofAll.get(name)];
    if (selected === undefined || whole === undefined) return [];
    return [{ path: own.field, value, selected, rest: Math.max(whole - selected, 0) }];
  });
}

/** How many events of a side have each value; those of which it cannot be told are left out. */
async function countsOf(
  { field, values, more }: Facet,
  wanted: ReadonlyMap<string, Json>,
  side: Side | undefined,
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const counts = new Map(values.map(({ value, count }) => [printJson(value), count]));
  const missing = [...wanted].filter(([name]) => !counts.has(name));
  if (missing.length === 0 || side === undefined) return counts;
  let isKnown = !more;
  if (more) {
    const filter = { field: { id: field, values: missing.map(([, value]) => textOf(value)) } };
    const body = {
      ...side,
      filters: [...side.filters, filter],
      fields: [field],
      limit: VALUES_MAX,
    };
    const { facets } = await askFacets(body, signal);
    for (const { value, count } of facets[0]?.values ?? []) counts.set(printJson(value), count);
    // Elements of arrays bring others along.
    isKnown = facets[0]?.more === false;
  }
  if (isKnown) for (const [name] of missing) if (!counts.has(name)) counts.set(name, 0);
  return counts;
}

/** Part that a value has in the selection, less that in the rest; from -1 to 1. */
export function shareGain({ selected, rest }: Comparison, one: Difference): number {
  return shareOf(one.selected, selected) - shareOf(one.rest, rest);
}

function shareOf(part: number, all: number): number {
  return all === 0 ? 0 : part / all;
}
