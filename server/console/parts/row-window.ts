import { useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks';

/** A row in sight, and where it begins. */
export interface PlacedRow {
  readonly row: number;
  readonly startPx: number;
}

interface WindowOptions {
  count: number;
  /** Height of most rows; others are measured. */
  rowPx: number;
  /** Another list begins without measures. */
  list: object;
}

const OVERSCAN_ROWS = 12;

/** Places of rows of which most have one height, and some that were measured have another. */
export class RowPlaces {
  readonly #rowPx: number;
  readonly #heights = new Map<number, number>();

  constructor(rowPx: number) {
    this.#rowPx = rowPx;
  }

  /** Takes the height of a row. Returns by how much it has changed. */
  measure(row: number, heightPx: number): number {
    const before = this.#heights.get(row) ?? this.#rowPx;
    if (Math.abs(heightPx - this.#rowPx) < 1) this.#heights.delete(row);
    else this.#heights.set(row, heightPx);
    return heightPx - before;
  }

  /** Where a row begins; where they end for the number of rows. */
  startOf(row: number): number {
    let startPx = row * this.#rowPx;
    for (const [measured, heightPx] of this.#heights) {
      if (measured < row) startPx += heightPx - this.#rowPx;
    }
    return startPx;
  }

  /** The row at a place, of so many. */
  rowAt(px: number, count: number): number {
    let [low, high] = [0, Math.max(0, count - 1)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.startOf(middle) <= px) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/**
 * The rows in sight of a scrolling element, which gets `element` as its `ref`; each row in the page has its number as
 * `data-index`. Where rows above the sight turn out to be higher, what one reads stays in its place.
 */
export function useRowWindow({ count, rowPx, list }: WindowOptions) {
  const element = useRef<HTMLDivElement>(null);
  const [, draw] = useReducer((drawn: number) => drawn + 1, 0);
  const places = useMemo(() => new RowPlaces(rowPx), [list]);
  const resized = useMemo(() => new ResizeObserver(() => draw(undefined)), []);
  useLayoutEffect(() => {
    const parent = element.current;
    if (parent === null) return;
    const scrolled = (): void => draw(undefined);
    parent.addEventListener('scroll', scrolled, { passive: true });
    resized.observe(parent);
    return () => {
      parent.removeEventListener('scroll', scrolled);
      resized.disconnect();
    };
  }, []);
  useLayoutEffect(() => {
    const parent = element.current;
    if (parent === null) return;
    let [above, changed] = [0, 0];
    for (const node of parent.querySelectorAll<HTMLElement>('[data-index]')) {
      resized.observe(node);
      const row = Number(node.dataset['index']);
      const isAbove = places.startOf(row + 1) <= parent.scrollTop;
      const delta = places.measure(row, node.offsetHeight);
      if (isAbove) above += delta;
      changed += Math.abs(delta);
    }
    if (above !== 0) parent.scrollTop += above;
    if (changed >= 1) draw(undefined);
  });
  const top = element.current?.scrollTop ?? 0;
  const heightPx = element.current?.clientHeight ?? 0;
  const first = Math.max(0, places.rowAt(top, count) - OVERSCAN_ROWS);
  const last = Math.min(count - 1, places.rowAt(top + heightPx, count) + OVERSCAN_ROWS);
  const rows: PlacedRow[] = [];
  for (let row = first; row <= last; row++) rows.push({ row, startPx: places.startOf(row) });
  return {
    rows,
    totalPx: places.startOf(count),
    element,
    show: (row: number) => show(row, places, element.current),
  };
}

/** Scrolls as little as brings a row into sight. */
function show(row: number, places: RowPlaces, parent: HTMLElement | null): void {
  if (parent === null) return;
  const headPx = parent.querySelector<HTMLElement>('.heads')?.offsetHeight ?? 0;
  const [startPx, endPx] = [places.startOf(row), places.startOf(row + 1) + headPx];
  if (startPx < parent.scrollTop) parent.scrollTop = startPx;
  else if (endPx > parent.scrollTop + parent.clientHeight)
    parent.scrollTop = endPx - parent.clientHeight;
}
