import { computed } from '@preact/signals';
import { addressOf, change, go, place } from '../../base/address.ts';
import { asked, decoded, EXPLORE, encoded, PARAMETERS, said } from '../../base/question.ts';
import { STATUS } from '../../base/status.ts';

/** Names of the address's parameters, beside those of questions. */
const { COLUMNS, FACETS, WRAP, LIVE, VIEW, TAGS } = {
  ...{ COLUMNS: 'cols', FACETS: 'facets', WRAP: 'wrap', LIVE: 'live', VIEW: 'view', TAGS: 'tags' },
} as const;
const { QUERY, FROM, TO, ZONE, ORDER, ORDER_BY, OPEN } = PARAMETERS;
/** Parameters that a view keeps. */
const KEPT: readonly string[] = [
  ...[QUERY, FROM, TO, ZONE, ORDER, ORDER_BY, COLUMNS, FACETS, WRAP, TAGS],
];

/** Behind the attribute of a column that was sized: its width. */
const WIDTH = /\*(\d{2,4})$/;
const WIDTH_PX_MIN = 60;
const WIDTH_PX_MAX = 1_200;
/** Attributes that a parameter of the address names, others are passed over. */
const PATHS_MAX = 50;

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
/** The attributes that a parameter of the address names, as it writes them; `undefined` without it. */
function entriesOf(name: string): string[] | undefined {
  const text = place.value.params.get(name);
  return text?.split(',', PATHS_MAX).filter((entry) => entry !== '');
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

/** The tagset that parts the histogram. */
export const tagset = computed(() => place.value.params.get(TAGS) ?? STATUS);

/** Parts the histogram by another tagset. */
export function chooseTagset(id: string): void {
  change({ [TAGS]: id === STATUS ? undefined : id });
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

/** The address that shows an event alone, with nothing around it that may change. */
export function addressOfEvent(id: string): string {
  return `/event?${new URLSearchParams({ id })}`;
}
