/** Pixels of a scrolling element, which all browsers show and place exactly. */
const SHOWN_PX_MAX = 4_000_000;
/** Parts of them at the begin and at the end that are not pressed together. */
const PLAIN_PX = SHOWN_PX_MAX / 4;

/**
 * The space in which rows scroll. Of more rows than an element can be high the ends are as they are, and the middle is
 * pressed together: there a drag of the scroll bar passes over rows, and smaller steps do not.
 */
export class ScrollSpace {
  /** Pixels of all rows. */
  readonly wholePx: number;
  /** Pixels of the element. */
  readonly shownPx: number;

  constructor(wholePx: number) {
    this.wholePx = wholePx;
    this.shownPx = Math.min(wholePx, SHOWN_PX_MAX);
  }

  /** The place among the rows that a place of the element stands for, in a sight of so many pixels. */
  wholeOf(px: number, sightPx: number): number {
    return this.#map(px, this.shownPx - sightPx, this.wholePx - sightPx);
  }

  /** The place of the element that stands for a place among the rows. */
  shownOf(px: number, sightPx: number): number {
    return this.#map(px, this.wholePx - sightPx, this.shownPx - sightPx);
  }

  #map(px: number, fromMax: number, toMax: number): number {
    if (fromMax === toMax || px <= PLAIN_PX) return px;
    const left = fromMax - px;
    if (left <= PLAIN_PX) return toMax - left;
    const part = (px - PLAIN_PX) / (fromMax - 2 * PLAIN_PX);
    return PLAIN_PX + part * (toMax - 2 * PLAIN_PX);
  }
}
