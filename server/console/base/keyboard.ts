import { signal } from '@preact/signals';

/** A key that does something on a screen. */
export interface Shortcut {
  readonly keys: string;
  readonly name: string;
  readonly run: () => void;
}

const SWITCH = 'logseam.keys';

/** Reports whether keys of characters do something. Source: WCAG 2.2, 2.1.4. */
export const areKeysOn = signal(stored() !== 'off');
/** The keys of the screen that is shown. */
export const shortcuts = signal<readonly Shortcut[]>([]);

/** The list of the keys is open. */
export const isHelping = signal(false);
/** The key that lists the keys; screens have it among theirs. */
export const HELP: Shortcut = {
  keys: '?',
  name: 'This list',
  run: () => {
    isHelping.value = true;
  },
};

/** Switches keys of characters on or off, for this browser. */
export function switchKeys(isOn: boolean): void {
  areKeysOn.value = isOn;
  try {
    localStorage.setItem(SWITCH, isOn ? 'on' : 'off');
  } catch {
    // A browser that keeps nothing keeps it for this page.
  }
}

/** Listens for the keys of the screens; none does anything while one types. */
export function listenForKeys(): void {
  document.addEventListener('keydown', (event) => {
    const isCharacter = event.key.length === 1;
    if (event.defaultPrevented || (isCharacter && !areKeysOn.peek())) return;
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
    if (event.key === 'Enter' && isPressed(event.target)) return;
    const found = shortcuts.peek().find(({ keys }) => keys.split(' ').includes(event.key));
    if (found === undefined) return;
    event.preventDefault();
    found.run();
  });
}

/** Reports whether an element does something itself when the key Enter is pressed. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('button, a, summary') !== null;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('dialog, [popover]') !== null) return true;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

function stored(): string | null {
  try {
    return localStorage.getItem(SWITCH);
  } catch {
    return null;
  }
}
