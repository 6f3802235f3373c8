import type { ListColumn } from '../../engine/engine.ts';
import type { Predicate } from '../../engine/query/predicate.ts';
import { allOf, fieldFilter, isAttributePath } from '../query/filter.ts';
import { SearchError } from '../query/lexer.ts';
import { parseSearch } from '../query/search.ts';
import { shown } from '../query/shown.ts';
import { resolveTime, TimeError, type TimeRange } from '../query/time.ts';
import { parseMetric } from './metric.ts';
import { ApiError } from './reply.ts';
import type { ReadKey } from './route.ts';
import type { ColumnsBody, FiltersBody, TimeBody } from './schema.ts';

/** What a request's `time` means at `nowMs`. Throws ApiError 400. Source: interface.md 4.2. */
export function rangeOf(time: TimeBody, nowMs: number): TimeRange {
  try {
    return resolveTime(time, nowMs);
  } catch (error) {
    if (error instanceof TimeError) throw new ApiError(400, error.message);
    throw error;
  }
}

/**
 * Whether the answer is explained. What was read tells of events that a security filter hides, so a key with one may
 * not ask. Throws ApiError 403.
 */
export function mayExplain(explain: boolean | undefined, key: ReadKey): boolean {
  if (explain !== true) return false;
  if (key.filter.type === 'all') return true;
  throw new ApiError(403, 'explain true is forbidden; allowed: a read key without security filter');
}

/**
 * The events for which all of `filters` and the key's security filter hold. The security filter is a tree of its own
 * beside theirs, so that no text can escape it. Throws ApiError 400. Source: interface.md 4.3, decisions.md 5.10.
 */
export function predicateOf(filters: FiltersBody, security: Predicate): Predicate {
  const asked = filters.map((filter, place) => {
    const parameter = `filters[${place}]`;
    if (filter.field !== undefined) {
      const { id, values, exclude } = filter.field;
      return fieldFilter(attributeOf(id, `${parameter}.field.id`), values, exclude ?? false);
    }
    if (typeof filter.search === 'object') {
      return searchOf(filter.search.query, `${parameter}.search.query`);
    }
    return searchOf(filter.search ?? '', `${parameter}.search`);
  });
  return allOf([security, ...asked]);
}

/** What the columns of a request show. Throws ApiError 400. Source: interface.md 4.6, decisions.md 5b.9. */
export function columnsOf(columns: ColumnsBody): ListColumn[] {
  return columns.map((column, place) => {
    const parameter = `columns[${place}]`;
    if (column.metric !== undefined) {
      const metric = parseMetric(column.metric, `${parameter}.metric`);
      return metric.type === 'core' ? { type: 'count' } : { type: 'attribute', path: metric.path };
    }
    const name = column.field === undefined ? 'attribute' : 'field';
    const id = column.field ?? column.attribute ?? '';
    return { type: 'attribute', path: attributeOf(id, `${parameter}.${name}`) };
  });
}

function attributeOf(id: string, parameter: string): string {
  if (isAttributePath(id)) return id;
  throw new ApiError(
    400,
    `${parameter} ${shown(id)} is unknown; allowed: custom.<name>, syslog.<name> or message`,
  );
}

function searchOf(query: string, parameter: string): Predicate {
  try {
    return parseSearch(query);
  } catch (error) {
    if (!(error instanceof SearchError)) throw error;
    throw new ApiError(400, `${parameter} ${shown(query)} is malformed ${error.message}`);
  }
}
