import { computed, signal } from '@preact/signals';
import { call } from '../../api/client.ts';
import type { View } from '../../api/contract.ts';
import { place } from '../../base/address.ts';
import { Panel } from '../../base/panel.ts';
import { keptOf, viewId } from '../explore/question.ts';

/** The path of the views. */
export const VIEWS_PATH = '/account/views';

/** A dialog about views. */
export type ViewDialog = { type: 'make' } | { type: 'change' | 'delete'; view: View };

/** The views that one may open, by their names. */
export const views = new Panel<readonly View[]>();
/** The choice of views is open. */
export const isChoosing = signal(false);
/** The dialog that is open. */
export const viewDialog = signal<ViewDialog | undefined>(undefined);
/** The view that was opened, when it is there. */
export const opened = computed(() => views.data.value?.find(({ id }) => id === viewId.value));
/** Reports whether other things are shown than the opened view keeps. */
export const isChanged = computed(() => {
  const kept = opened.value?.address;
  return kept !== undefined && keptOf(new URLSearchParams(kept)) !== keptOf(place.value.params);
});

/** Loads the views. */
export function loadViews(): Promise<void> {
  return views.load(async (signal) => {
    const result = await call<{ views: View[] }>('GET', VIEWS_PATH, undefined, signal);
    return result.views.toSorted((left, right) => left.name.localeCompare(right.name, 'en-US'));
  });
}

/** Forgets the views: the next one to look may be another user. */
export function forgetViews(): void {
  views.cancel();
  views.data.value = undefined;
  isChoosing.value = false;
  viewDialog.value = undefined;
}
