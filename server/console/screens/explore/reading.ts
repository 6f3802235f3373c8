import { signal } from '@preact/signals';
import type { ListedEvent } from '../../api/contract.ts';

/** Screens up to this width have no room for facets beside a list. */
const NARROW_PX = 960;

/** The row at which one is, -1: at none. */
export const current = signal<{ row: number }>({ row: -1 });
/** The facets are shown; on narrow screens they lie over the list. */
export const areFacetsOpen = signal(innerWidth > NARROW_PX);
/** The event whose surroundings are shown. */
export const contextOf = signal<ListedEvent | undefined>(undefined);
/** The attribute whose statistics are shown. */
export const statistics = signal<string | undefined>(undefined);
/** The time picker is open. */
export const isPicking = signal(false);
