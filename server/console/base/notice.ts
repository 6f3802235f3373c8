import { signal } from '@preact/signals';

/** The notice at the edge of the page; `undefined`: there is none. */
export const notice = signal<string | undefined>(undefined);

const SHOWN_MS = 5_000;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a notice for some seconds. */
export function say(text: string): void {
  notice.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = undefined;
  }, SHOWN_MS);
}
