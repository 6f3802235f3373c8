import { useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import { RowPlaces } from './row-places.ts';
import { ScrollSpace } from './scroll-space.ts';

/** A row in sight, and where it begins in the scrolling element. */
export interface PlacedRow {
  readonly row: number;
  readonly startPx: number;
  /** Number of the element that shows it: one that shows rows no more in sight is used again. */
  readonly slot: number;
}

interface WindowOptions {
  count: number;
  /** Height of most rows; others are measured. */
  rowPx: number;
  /** Another list begins without measures. */
  list: object;
}

const OVERSCAN_ROWS = 12;
/** A step of more sights than that is a jump, which goes where the scroll bar says. */
const STEP_SIGHTS_MAX = 2;
/** Of browsers that do not tell when scrolling has ended. */
const REST_MS = 150;

/** Where the sight of a list is: places of its rows, of the element that scrolls, and the sight among both. */
class Sight {
  readonly places: RowPlaces;
  /** Pixels of rows that are seen. */
  heightPx = 0;
  /** The place of the sight's begin among all rows. */
  topPx = 0;
  #space = new ScrollSpace(0);
  /** How far the element is scrolled for it. */
  #scrolledPx = 0;

  constructor(rowPx: number) {
    this.places = new RowPlaces(rowPx);
  }

  /** Pixels between a place among the rows and where it is in the element. */
  get shiftPx(): number {
    return this.#scrolledPx - this.topPx;
  }

  /** Height of what scrolls, for so many rows. */
  spaceFor(count: number): number {
    const wholePx = this.places.startOf(count);
    if (wholePx !== this.#space.wholePx) this.#space = new ScrollSpace(wholePx);
    return this.#space.shownPx;
  }

  /** Takes over how far the element is scrolled; some are for a moment beyond their ends. */
  follow({ scrollTop }: Element): void {
    const { shownPx, wholePx } = this.#space;
    const px = within(scrollTop, shownPx - this.heightPx);
    const moved = px - this.#scrolledPx;
    const isStep = shownPx < wholePx && Math.abs(moved) <= STEP_SIGHTS_MAX * this.heightPx;
    const topPx = isStep ? this.topPx + moved : this.#space.wholeOf(px, this.heightPx);
    this.#scrolledPx = px;
    this.topPx = within(topPx, wholePx - this.heightPx);
  }

  /** Goes to a place among the rows, where the scroll bar is right again. */
  moveTo(topPx: number, element: Element): void {
    element.scrollTop = this.#space.shownOf(topPx, this.heightPx);
    this.#scrolledPx = element.scrollTop;
    this.topPx = topPx;
  }

  /** Scrolls by what rows above the sight have grown. */
  grow(byPx: number, element: Element): void {
    element.scrollTop += byPx;
    this.#scrolledPx = element.scrollTop;
    this.topPx += byPx;
  }
}

function within(px: number, maxPx: number): number {
  return Math.max(0, Math.min(px, maxPx));
}

/**
 * The rows in sight of a scrolling element, which gets `element` as its `ref`; each row in the page has its number as
 * `data-index`. Where rows above the sight turn out to be higher, what one reads stays in its place.
 */
export function useRowWindow({ count, rowPx, list }: WindowOptions) {
  const element = useRef<HTMLDivElement>(null);
  const [, draw] = useReducer((drawn: number) => drawn + 1, 0);
  const sight = useMemo(() => new Sight(rowPx), [list]);
  const { places } = sight;
  const resized = useMemo(() => new ResizeObserver(() => draw(undefined)), []);
  useLayoutEffect(() => {
    const parent = element.current;
    if (parent === null) return;
    resized.observe(parent);
    const stop = watchScrolling(parent, sight, () => draw(undefined));
    return () => {
      stop();
      resized.disconnect();
    };
  }, [sight]);
  const spacePx = sight.spaceFor(count);
  useLayoutEffect(() => {
    const parent = element.current;
    if (parent === null) return;
    sight.heightPx = parent.clientHeight - headPx(parent);
    let [above, changed] = [0, 0];
    for (const node of parent.querySelectorAll<HTMLElement>('[data-index]')) {
      resized.observe(node);
      const row = Number(node.dataset['index']);
      const isAbove = places.startOf(row + 1) <= sight.topPx;
      const delta = places.measure(row, node.offsetHeight);
      if (isAbove) above += delta;
      changed += Math.abs(delta);
    }
    if (above !== 0) sight.grow(above, parent);
    if (changed >= 1) draw(undefined);
  });
  const { topPx, heightPx, shiftPx } = sight;
  const first = Math.max(0, places.rowAt(topPx, count) - OVERSCAN_ROWS);
  const last = Math.min(count - 1, places.rowAt(topPx + heightPx, count) + OVERSCAN_ROWS);
  // A number of its own for each row in sight, and the same number of them while one scrolls.
  const slots = Math.max(last - first + 1, Math.ceil(heightPx / rowPx) + 2 * OVERSCAN_ROWS + 2);
  const rows: PlacedRow[] = [];
  for (let row = first; row <= last; row++) {
    rows.push({ row, startPx: places.startOf(row) + shiftPx, slot: row % slots });
  }
  return { rows, spacePx, element, show: (row: number) => show(row, sight, element.current) };
}

/** Follows the scrolling of an element; `draw` is called when the sight has moved. Returns what ends it. */
function watchScrolling(parent: Element, sight: Sight, draw: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const rest = (): void => {
    if (sight.shiftPx === 0) return;
    sight.moveTo(sight.topPx, parent);
    draw();
  };
  const scrolled = (): void => {
    sight.follow(parent);
    draw();
    if ('onscrollend' in parent) return;
    clearTimeout(timer);
    timer = setTimeout(rest, REST_MS);
  };
  parent.addEventListener('scroll', scrolled, { passive: true });
  parent.addEventListener('scrollend', rest);
  return () => {
    clearTimeout(timer);
    parent.removeEventListener('scroll', scrolled);
    parent.removeEventListener('scrollend', rest);
  };
}

/** Scrolls as little as brings a row into sight. */
function show(row: number, sight: Sight, parent: HTMLElement | null): void {
  if (parent === null) return;
  const { places, topPx, heightPx } = sight;
  const [startPx, endPx] = [places.startOf(row), places.startOf(row + 1)];
  if (startPx < topPx) sight.moveTo(startPx, parent);
  else if (endPx > topPx + heightPx) sight.moveTo(endPx - heightPx, parent);
}

/** Height of the heads, which lie over the rows. */
function headPx(parent: Element): number {
  return parent.querySelector<HTMLElement>('.heads')?.offsetHeight ?? 0;
}
