import { computed, signal } from '@preact/signals';
import type { ListBody, Time } from '../../api/contract.ts';
import { addressOf, addressWith, change, go, place } from '../../base/address.ts';
import { type Range, rangeOf } from '../../base/range.ts';
import { browserZone, isZone } from '../../base/zone.ts';

/** The question that the address says. */
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
export const FROM_DEFAULT = 'now-1h';

/** The path of exploring, to which questions lead from other screens too. */
const EXPLORE = '/';
/** Names of the address's parameters. */
const { QUERY, FROM, TO, ZONE, ORDER, ORDER_BY, COLUMNS, FACETS, WRAP, LIVE, OPEN, VIEW } = {
  ...{ QUERY: 'q', FROM: 'from', TO: 'to', ZONE: 'tz', ORDER: 'order', ORDER_BY: 'by' },
  ...{ COLUMNS: 'cols', FACETS: 'facets', WRAP: 'wrap', LIVE: 'live', OPEN: 'e', VIEW: 'view' },
} as const;
/** Parameters that a view keeps. */
const KEPT: readonly string[] = [QUERY, FROM, TO, ZONE, ORDER, ORDER_BY, COLUMNS, FACETS, WRAP];

/** Behind the attribute of a column that was sized: its width. */
const WIDTH = /\*(\d{2,4})$/;
const WIDTH_PX_MIN = 60;
const WIDTH_PX_MAX = 1_200;
/** Attributes that a parameter of the address names, others are passed over. */
const PATHS_MAX = 50;

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

/** Attributes that have columns. */
export const columns = computed(() => [...widthsByPath.value.keys()]);
/** Widths in pixels of the columns that were sized, by attribute. */
export const widths = computed(() => {
  const all = [...widthsByPath.value];
  return new Map(all.flatMap(([path, px]) => (px === undefined ? [] : [[path, px] as const])));
});
const widthsByPath = computed(() => {
  const entries = entriesOf(COLUMNS) ?? [];
  return new Map(
    entries.map((entry) => {
      const px = WIDTH.exec(entry)?.[1];
      return [decoded(entry.replace(WIDTH, '')), px === undefined ? undefined : Number(px)];
    }),
  );
});
/** Facets that were opened or closed by hand; `undefined`: those that are chosen. */
export const openFacets = computed(() => {
  const entries = entriesOf(FACETS);
  return entries && [...new Set(entries.map(decoded))];
});
/** Long messages take as many lines as they need. */
export const isWrapped = computed(() => place.value.params.get(WRAP) === '1');
/** The page follows what comes in. */
export const isLive = computed(() => place.value.params.get(LIVE) === '1');
/** The id of the event that is open. */
export const openId = computed(() => place.value.params.get(OPEN) ?? undefined);
/** The id of the view that was opened. */
export const viewId = computed(() => place.value.params.get(VIEW) ?? undefined);
/** Counts how often the question was asked anew. */
export const asked = signal(0);

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
  go(addressWith(changed, EXPLORE));
  asked.value++;
}

/** The value of a parameter; `undefined` when the same holds without it. */
function said(name: string, value: string): string | undefined {
  const unsaid: Record<string, string> = {
    ...{ [QUERY]: '', [FROM]: FROM_DEFAULT, [TO]: 'now', [ZONE]: browserZone(), [ORDER]: 'desc' },
  };
  return value === unsaid[name] ? undefined : value;
}

/** The attributes that a parameter of the address names, as it writes them; `undefined` without it. */
function entriesOf(name: string): string[] | undefined {
  const text = place.value.params.get(name);
  return text?.split(',', PATHS_MAX).filter((entry) => entry !== '');
}

/** The name of an attribute in the address, as it is when it is garbled. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The name of an attribute as the address writes it: a `,` or a `*` in it is no mark. */
function encoded(path: string): string {
  return encodeURIComponent(path).replaceAll('*', '%2A');
}

/** Shows these columns, as wide as they are. */
export function showColumns(paths: readonly string[], sized = widths.peek()): void {
  const entries = paths.map((path) => {
    const px = sized.get(path);
    return px === undefined ? encoded(path) : `${encoded(path)}*${Math.round(px)}`;
  });
  change({ [COLUMNS]: entries.length === 0 ? undefined : entries.join(',') }, { replace: true });
}

/** Gives a column a width. */
export function setWidth(path: string, px: number): void {
  const wanted = Math.min(WIDTH_PX_MAX, Math.max(WIDTH_PX_MIN, px));
  showColumns(columns.peek(), new Map([...widths.peek(), [path, wanted]]));
}

/** Opens these facets and no others. */
export function showFacets(paths: readonly string[]): void {
  change({ [FACETS]: paths.map(encoded).join(',') }, { replace: true });
}

/** Shows a column, or does not any more. */
export function toggleColumn(path: string): void {
  const now = columns.peek();
  showColumns(now.includes(path) ? now.filter((each) => each !== path) : [...now, path]);
}

/** Opens an event, or closes it. */
export function open(id: string | undefined): void {
  change({ [OPEN]: id }, { replace: true });
}

/** Gives long messages as many lines as they need, or one. */
export function wrap(isOn: boolean): void {
  change({ [WRAP]: isOn ? '1' : undefined }, { replace: true });
}

/** Parameters of an address that a view keeps, always in the same order. */
export function keptOf(params: URLSearchParams): string {
  const kept = new URLSearchParams(
    [...params].filter(([name, value]) => KEPT.includes(name) && said(name, value) !== undefined),
  );
  kept.sort();
  return kept.toString();
}

/** Shows what a view keeps. */
export function showView(id: string, kept: string): void {
  const params = new URLSearchParams(keptOf(new URLSearchParams(kept)));
  params.set(VIEW, id);
  go(addressOf(EXPLORE, params));
  asked.value++;
}

/** Takes what is shown for a view, or for none any more. */
export function nameView(id: string | undefined): void {
  change({ [VIEW]: id }, { replace: true });
}

/** Follows what comes in, or does not any more. */
export function follow(isOn: boolean): void {
  change({ [LIVE]: isOn ? '1' : undefined, [OPEN]: undefined });
  if (!isOn) asked.value++;
}

/** The `time` of a request. */
export function timeOf({ fromMs, toMs }: Range): Time {
  return { from: fromMs, to: toMs };
}

/** The `filters` of a request. */
export function filtersOf(query: string): NonNullable<ListBody['filters']> {
  return query.trim() === '' ? [] : [{ search: query }];
}

/** The address that shows an event alone, with nothing around it that may change. */
export function addressOfEvent(id: string): string {
  return `/event?${new URLSearchParams({ id })}`;
}
