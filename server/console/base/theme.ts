import { signal } from '@preact/signals';

/** Themes that can be chosen; `auto` is the system's. */
export const THEMES = ['auto', 'light', 'dark'] as const;
/** One of them. */
export type Theme = (typeof THEMES)[number];

const KEPT = 'logseam.theme';

/** The theme of this browser. */
export const theme = signal<Theme>(kept());

/** Chooses a theme, for this browser. */
export function chooseTheme(next: Theme): void {
  theme.value = next;
  apply();
  try {
    localStorage.setItem(KEPT, next);
  } catch {
    // A browser that keeps nothing keeps it for this page.
  }
}

/** Puts the chosen theme into force. */
export function apply(): void {
  if (theme.peek() === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme.peek();
}

function kept(): Theme {
  try {
    const text = localStorage.getItem(KEPT);
    return THEMES.find((each) => each === text) ?? 'auto';
  } catch {
    return 'auto';
  }
}
