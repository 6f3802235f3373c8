import { signal } from '@preact/signals';

/** Screens up to this width have no room for facets beside a list. */
const NARROW_PX = 960;

/** The row at which one is, -1: at none. */
export const current = signal<{ row: number }>({ row: -1 });
/** Long messages take as many lines as they need. */
export const isWrapped = signal(false);
/** The facets are shown; on narrow screens they lie over the list. */
export const areFacetsOpen = signal(innerWidth > NARROW_PX);
