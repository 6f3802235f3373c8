import { DAY_MS } from '../../engine/base/durations.ts';
import { nearestHint } from '../../engine/base/nearest.ts';
import type { Selection } from '../../engine/engine.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import { allOf, fieldFilter, isAttributePath, tagFilter } from '../language/filter.ts';
import { SearchError } from '../language/lexer.ts';
import { parseSearch, searchTerms, shownTerm, type Term } from '../language/search.ts';
import { shown } from '../language/shown.ts';
import { resolveTime, TimeError, type TimeRange } from '../language/time.ts';
import type { HintScope } from '../query/hint/hint.ts';
import { ApiError } from './reply.ts';
import { type FieldDefinition, NOTHING_DECLARED, type Resolver } from './resolver.ts';
import type { ReadKey } from './route.ts';
import type { FiltersBody, TimeBody } from './schema.ts';

/** The range that a request's `time` means at `nowMs`. Throws ApiError 400. Source: INTERFACE.md 4.2. */
export function rangeOf(time: TimeBody, nowMs: number): TimeRange {
  try {
    return resolveTime(time, nowMs);
  } catch (error) {
    if (error instanceof TimeError) throw new ApiError(400, error.message);
    throw error;
  }
}

/**
 * Number of the newest events of a range, among those that `security` lets through, that are reached: all, unless the
 * range is longer than a day. Source: INTERFACE.md 4.2.
 */
export function boundOf(
  { fromMs, toMs }: Pick<TimeRange, 'fromMs' | 'toMs'>,
  boundEvents: number,
  security: Predicate,
): Pick<Selection, 'boundCount' | 'visible'> {
  return toMs - fromMs > DAY_MS ? { boundCount: boundEvents, visible: security } : {};
}

/**
 * Checks that the answer may be explained. Counts of what was read tell of events that a security filter hides, so a
 * key with one may not ask. Throws ApiError 403.
 */
export function mayExplain(explain: boolean | undefined, key: ReadKey): boolean {
  if (explain !== true) return false;
  if (key.filter.type === 'all') return true;
  throw new ApiError(403, 'explain true is forbidden; allowed: a read key without security filter');
}

/**
 * The events for which all of `filters` and the key's security filter hold. The security filter is a tree of its own
 * beside theirs, so that no text can escape it. Throws ApiError 400. Source: INTERFACE.md 4.3.
 */
export function predicateOf(
  filters: Readonly<FiltersBody>,
  security: Predicate,
  resolver: Resolver = NOTHING_DECLARED,
): Predicate {
  return allOf([security, ...termsOf(filters, resolver).map(({ predicate }) => predicate)]);
}

/** Terms that must all hold for `filters` to hold. Throws ApiError 400. */
function termsOf(filters: Readonly<FiltersBody>, resolver: Resolver): Term[] {
  return filters.flatMap(({ field, search = '' }, place) => {
    const parameter = `filters[${place}]`;
    if (field !== undefined) return fieldTerm(field, parameter, resolver);
    const [query, name] =
      typeof search === 'object'
        ? [search.query, `${parameter}.search.query`]
        : [search, `${parameter}.search`];
    return readSearch(query, name, () => searchTerms(query, (id) => resolver.field(id)));
  });
}

/** The term that a field filter is. Throws ApiError 400. */
function fieldTerm(
  { id, values, exclude = false }: NonNullable<FiltersBody[number]['field']>,
  parameter: string,
  resolver: Resolver,
): Term {
  const field = fieldOf(id, `${parameter}.field.id`, resolver);
  const text = shownTerm(`${exclude ? '-' : ''}${id}:(${values.map(shown).join(' OR ')})`);
  if (field.type === 'tagset') {
    return { text, predicate: tagsFilter(field, values, exclude, parameter), isOpen: false };
  }
  return { text, predicate: fieldFilter(field.attribute, values, exclude), isOpen: true };
}

/** Parts of a request that select events. */
interface Asked {
  filters?: FiltersBody;
  hints?: boolean;
}

/** Scope in which events are selected. */
interface SelectionScope {
  resolver: Resolver;
  /** The security filter. */
  filter: Predicate;
  boundEvents: number;
}

/**
 * The events of `range` that a request selects, and the means to make hints on them unless it wants none. Throws
 * ApiError 400. Source: INTERFACE.md 4.2, 4.3 and 4.6.
 */
export function selectionOf(
  { filters, hints }: Asked,
  range: Pick<TimeRange, 'fromMs' | 'toMs'>,
  { resolver, filter, boundEvents }: SelectionScope,
): { selection: Selection; hints?: HintScope } {
  const { fromMs, toMs } = range;
  const terms = termsOf(filters ?? [], resolver);
  const predicate = allOf([filter, ...terms.map((term) => term.predicate)]);
  const selection = { fromMs, toMs, predicate, ...boundOf(range, boundEvents, filter) };
  return hints === false
    ? { selection }
    : { selection, hints: { selection, terms, visible: filter } };
}

/**
 * The field with that id: a declared one wins over an attribute path. Throws ApiError 400 naming `parameter`.
 * Source: INTERFACE.md 4.3.
 */
export function fieldOf(id: string, parameter: string, resolver: Resolver): FieldDefinition {
  const declared = resolver.field(id);
  if (declared !== undefined) return declared;
  if (isAttributePath(id)) return { id, name: id, type: 'attribute', attribute: id };
  throw new ApiError(
    400,
    `${parameter} ${shown(id)} is unknown; allowed: custom.<name>, syslog.<name> or message, or the id of a field`,
  );
}

/**
 * The events for which a search holds; ids of fields stand for their attributes, those of tagsets for their tags.
 * Throws ApiError 400 naming `parameter`.
 */
export function searchOf(query: string, parameter: string, resolver: Resolver): Predicate {
  return readSearch(query, parameter, () => parseSearch(query, (name) => resolver.field(name)));
}

/** The result of `read` on a search. Throws ApiError 400 naming `parameter`. */
function readSearch<T>(query: string, parameter: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SearchError)) throw error;
    throw new ApiError(400, `${parameter} ${shown(query)} is malformed ${error.message}`);
  }
}

/** The events that have one of these tags. Throws ApiError 400 for one that the tagset has not. */
function tagsFilter(
  tagset: FieldDefinition & { type: 'tagset' },
  values: readonly string[],
  exclude: boolean,
  parameter: string,
): Predicate {
  const known = tagset.tags.map(({ id }) => id);
  for (const [place, value] of values.entries()) {
    if (known.includes(value)) continue;
    const hint = nearestHint(value, known);
    throw new ApiError(
      400,
      `${parameter}.field.values[${place}] ${shown(value)} is no tag of ${shown(tagset.id)};${hint} ` +
        `allowed: ${known.join(', ')}`,
    );
  }
  return tagFilter(tagset.tags, (id) => values.includes(id), exclude);
}
