/** Characters of punctuation, a bit each: texts of one kind have the same ones. */
const SIGNS = '[](){}"\'#/:=<>|,;*@!?&%+-_$~';
/** Texts are looked at up to here; longer ones may have all signs. */
const LENGTH_MAX = 1_024;
/** Begins the characters of UTF-8 that may be halves of a pair; other texts are well formed. */
const SURROGATE = 0xed;

/** The signs of a text that may have all, and of one that is perhaps not well formed. */
export const ALL_SIGNS = -1;
export const MAY_BE_BROKEN = 1 << 30;

const BITS = new Int32Array(256);
for (let at = 0; at < SIGNS.length; at++) BITS[SIGNS.charCodeAt(at)] = 1 << at;
BITS[SURROGATE] = MAY_BE_BROKEN;

/** The signs that the text `bytes[start, end)` has, as bits, at least; MAY_BE_BROKEN is one of them. */
export function signsOf(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > LENGTH_MAX) return ALL_SIGNS;
  let bits = 0;
  for (let at = start; at < end; at++) bits |= BITS[bytes[at]];
  return bits;
}

/** The signs that a text has. */
export function bitsOf(text: string): number {
  let bits = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) bits |= BITS[code];
  }
  return bits;
}
