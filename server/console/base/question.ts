import { computed, signal } from '@preact/signals';
import type { ListBody, Time } from '../api/contract.ts';
import { addressWith, go, place } from './address.ts';
import { type Range, rangeOf } from './range.ts';
import { browserZone, isZone } from './zone.ts';

/** The question that the address says: of exploring, and of analytics but for what it has of its own. */
export interface Question {
  readonly query: string;
  readonly from: string;
  readonly to: string;
  readonly zone: string;
  readonly order: 'asc' | 'desc';
  /** The attribute by which events are ordered; by their date without one. */
  readonly orderBy: string | undefined;
}

/** Range of a question that says none. */
const FROM_DEFAULT = 'now-1h';

/** The path of exploring, to which questions lead from screens that ask none. */
export const EXPLORE = '/';
/** The path of analytics. */
export const ANALYTICS = '/analytics';
/** The path of a selection beside the rest. */
export const DIFFERENCES = '/differences';
/** Names of the address's parameters. */
export const PARAMETERS = {
  ...{ QUERY: 'q', FROM: 'from', TO: 'to', ZONE: 'tz', ORDER: 'order', ORDER_BY: 'by', OPEN: 'e' },
} as const;
const { QUERY, FROM, TO, ZONE, ORDER, ORDER_BY, OPEN } = PARAMETERS;

/** The question of the address, the same as long as nothing of it changes. */
export const question = computed<Question>(() => JSON.parse(questionText.value) as Question);

const questionText = computed(() => {
  const { params } = place.value;
  const zone = params.get(ZONE) ?? browserZone();
  return JSON.stringify({
    query: params.get(QUERY) ?? '',
    from: params.get(FROM) ?? FROM_DEFAULT,
    to: params.get(TO) ?? 'now',
    zone: isZone(zone) ? zone : 'UTC',
    order: params.get(ORDER) === 'asc' ? 'asc' : 'desc',
    ...(params.has(ORDER_BY) ? { orderBy: params.get(ORDER_BY) } : {}),
  });
});

/** Counts how often the question was asked anew. */
export const asked = signal(0);
/** The range that was asked for; `undefined` when the address says none. */
export const range = signal<Range | undefined>(undefined);
/** The time picker is open. */
export const isPicking = signal(false);

/** The range of the question, taken when it is asked: relative ranges stand still from then on. */
export function rangeNow({ from, to, zone }: Question): Range | undefined {
  return rangeOf(from, to, zone, Date.now());
}

/** Asks another question, or the same one anew. */
export function askFor(changes: Partial<Question>): void {
  const now = question.peek();
  const next = { ...now, ...changes };
  const changed = {
    ...{ [QUERY]: said(QUERY, next.query), [FROM]: said(FROM, next.from), [TO]: said(TO, next.to) },
    ...{ [ZONE]: said(ZONE, next.zone), [ORDER]: said(ORDER, next.order) },
    ...{ [ORDER_BY]: next.orderBy, [OPEN]: undefined },
  };
  const { path } = place.peek();
  go(addressWith(changed, path === ANALYTICS || path === DIFFERENCES ? path : EXPLORE));
  asked.value++;
}

/** The value of a parameter; `undefined` when the same holds without it. */
export function said(name: string, value: string): string | undefined {
  const unsaid: Record<string, string> = {
    ...{ [QUERY]: '', [FROM]: FROM_DEFAULT, [TO]: 'now', [ZONE]: browserZone(), [ORDER]: 'desc' },
  };
  return value === unsaid[name] ? undefined : value;
}

/** The name of an attribute in the address, as it is when it is garbled. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The name of an attribute as the address writes it: a `,` or a `*` in it is no mark. */
export function encoded(path: string): string {
  return encodeURIComponent(path).replaceAll('*', '%2A');
}

/** The `time` of a request. */
export function timeOf({ fromMs, toMs }: Range): Time {
  return { from: fromMs, to: toMs };
}

/** The `filters` of a request. */
export function filtersOf(query: string): NonNullable<ListBody['filters']> {
  return query.trim() === '' ? [] : [{ search: query }];
}
