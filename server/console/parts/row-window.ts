import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks';

/** A list of any length of which only the rows in sight are in the page. */
export type RowWindow = Virtualizer<HTMLDivElement, HTMLDivElement>;

interface WindowOptions {
  count: number;
  rowPx: number;
  keyOf: (row: number) => string | number;
}

const OVERSCAN_ROWS = 12;

/** The rows in sight of a scrolling element; `element` is given to it as `ref`. */
export function useRowWindow({ count, rowPx, keyOf }: WindowOptions): {
  rows: RowWindow;
  element: { current: HTMLDivElement | null };
} {
  const element = useRef<HTMLDivElement>(null);
  const [, draw] = useReducer((drawn: number) => drawn + 1, 0);
  const made = useRef<RowWindow | undefined>(undefined);
  const options = {
    ...{ count, getScrollElement: () => element.current, estimateSize: () => rowPx },
    ...{ scrollToFn: elementScroll, observeElementRect, observeElementOffset },
    ...{ overscan: OVERSCAN_ROWS, getItemKey: keyOf, onChange: () => draw(undefined) },
  };
  if (made.current === undefined) made.current = new Virtualizer(options);
  const rows = made.current;
  rows.setOptions(options);
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());
  return { rows, element };
}
