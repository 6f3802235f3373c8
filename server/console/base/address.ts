import { signal } from '@preact/signals';

/** The address of the page: all that a screen shows follows from it. */
export interface Place {
  readonly path: string;
  readonly params: URLSearchParams;
}

/** A way of changing the address. `replace` leaves no step for the back button. */
export interface Moving {
  replace?: boolean;
}

/** The place where one is. */
export const place = signal(here());

addEventListener('popstate', () => {
  place.value = here();
});

/** Goes to an address of the console. */
export function go(address: string, { replace = false }: Moving = {}): void {
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  place.value = here();
}

/** Goes to the same path with other parameters; `undefined` takes one away. */
export function change(
  changes: Readonly<Record<string, string | undefined>>,
  moving: Moving = {},
): void {
  go(addressWith(changes), moving);
}

/** The address of `path`, the same one unless it is told, with other parameters; another path begins without any. */
export function addressWith(
  changes: Readonly<Record<string, string | undefined>>,
  path = place.peek().path,
): string {
  const here = place.peek();
  const next = new URLSearchParams(path === here.path ? here.params : '');
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) next.delete(name);
    else next.set(name, value);
  }
  return addressOf(path, next);
}

/** An address of a path and parameters. */
export function addressOf(path: string, params: URLSearchParams): string {
  const text = params.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Follows links of the console without loading the page anew. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    if (link.origin !== location.origin || link.pathname.startsWith('/openapi')) return;
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
  });
}

function here(): Place {
  const { pathname, search } = location;
  return { path: pathname, params: new URLSearchParams(search) };
}
