/** Bytes that stand for themselves: the fold of a case-sensitive comparison. */
export const SAME: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => byte);

const encoder = new TextEncoder();

/** Encodes as WTF-8: UTF-8 in which lone surrogates take three bytes. Source: FORMAT.md 1. */
export function encodeText(text: string): Uint8Array {
  if (text.isWellFormed()) return encoder.encode(text);
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  for (const character of text) {
    length = encodePoint(bytes, length, character.codePointAt(0) ?? 0);
  }
  return bytes.slice(0, length);
}

/** Writes a code point, a lone surrogate too, to `target[at, ...)`; returns where it ends. */
export function encodePoint(target: Uint8Array, at: number, point: number): number {
  let end = at;
  if (point < 0x80) {
    target[end++] = point;
    return end;
  }
  if (point < 0x800) {
    target[end++] = 0xc0 | (point >>> 6);
  } else {
    if (point < 0x10000) {
      target[end++] = 0xe0 | (point >>> 12);
    } else {
      target[end++] = 0xf0 | (point >>> 18);
      target[end++] = 0x80 | ((point >>> 12) & 0x3f);
    }
    target[end++] = 0x80 | ((point >>> 6) & 0x3f);
  }
  target[end++] = 0x80 | (point & 0x3f);
  return end;
}

/** Decodes ASCII, such as the text of a number. */
export function asciiText(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at]);
  return text;
}

/** Compares by code points, which is the order of the bytes: negative when `left` comes first. */
export function compareText(
  left: Uint8Array,
  start: number,
  end: number,
  right: Uint8Array,
): number {
  const leftBytes = end - start;
  const commonBytes = Math.min(leftBytes, right.length);
  for (let index = 0; index < commonBytes; index++) {
    const difference = left[start + index] - right[index];
    if (difference !== 0) return difference;
  }
  return leftBytes - right.length;
}
