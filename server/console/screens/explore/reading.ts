import { signal } from '@preact/signals';
import type { ListedEvent } from '../../api/contract.ts';

/** Where the rows of a list come from. */
export interface RowSource {
  /** Rows that can be looked at. */
  readonly count: number;
  /** Rows of the whole list, for those who cannot see it. */
  readonly total: number;
  at(row: number): ListedEvent | undefined;
  need?(from: number, to: number): void;
}

/** Screens up to this width have no room for facets beside a list. */
const NARROW_PX = 960;

/** The rows that are on the screen. */
export const shownRows = signal<RowSource | undefined>(undefined);
/** The event that is open. */
export const openEvent = signal<ListedEvent | undefined>(undefined);
/** The row at which one is, -1: at none. */
export const current = signal<{ row: number }>({ row: -1 });
/** The facets are shown; on narrow screens they lie over the list. */
export const areFacetsOpen = signal(innerWidth > NARROW_PX);
/** The event whose surroundings are shown. */
export const contextOf = signal<ListedEvent | undefined>(undefined);
/** The choice of what to do with all that is found is open. */
export const isTakingAway = signal(false);
/** The attribute whose statistics are shown. */
export const statistics = signal<string | undefined>(undefined);
