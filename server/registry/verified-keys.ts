import { KEY_CHARACTERS } from './digest.ts';

/** Places, a power of two. */
const PLACES = 1 << 8;

/**
 * Keys that were found by their digests a while ago, by their texts: a compare in place of a digest. Each key has one
 * place, which the last one takes that was found; what strangers send takes none.
 */
export class VerifiedKeys<Key> {
  readonly #texts = new Array<string>(PLACES).fill('');
  readonly #keys = new Array<Key | undefined>(PLACES);

  /** The key with that text, if it is remembered. */
  find(text: string): Key | undefined {
    if (text.length !== KEY_CHARACTERS) return undefined;
    const place = placeOf(text);
    return isSame(this.#texts[place], text) ? this.#keys[place] : undefined;
  }

  /** Remembers a key that has that text. */
  remember(text: string, key: Key): void {
    if (text.length !== KEY_CHARACTERS) return;
    const place = placeOf(text);
    this.#texts[place] = text;
    this.#keys[place] = key;
  }

  /** Forgets all keys, as they have changed. */
  forget(): void {
    this.#texts.fill('');
    this.#keys.fill(undefined);
  }
}

function placeOf(text: string): number {
  return (text.charCodeAt(0) + 31 * text.charCodeAt(1)) & (PLACES - 1);
}

/** Compares whole keys: the time does not tell where they differ. */
function isSame(known: string, text: string): boolean {
  if (known.length !== text.length) return false;
  let difference = 0;
  for (let at = 0; at < text.length; at++) difference |= known.charCodeAt(at) ^ text.charCodeAt(at);
  return difference === 0;
}
