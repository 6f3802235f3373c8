/** Characters of punctuation, a bit each: texts of one kind have the same ones. */
const SIGNS = '[](){}"\'#/:=<>|,;*@!?&%+-_$~';
/** Texts are looked at up to here; longer ones may have all signs. */
const LENGTH_MAX = 1_024;
const ALL = -1;

const BITS = new Int32Array(128);
for (let at = 0; at < SIGNS.length; at++) BITS[SIGNS.charCodeAt(at)] = 1 << at;

let lastText = '';
let lastSigns = 0;

/** The signs that a text has, as bits, at least; of the text that was asked for last they are known. */
export function signsOf(text: string): number {
  if (text.length > LENGTH_MAX) return ALL;
  if (text !== lastText) {
    lastSigns = bitsOf(text);
    lastText = text;
  }
  return lastSigns;
}

/** The signs that a text has. */
export function bitsOf(text: string): number {
  let bits = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < BITS.length) bits |= BITS[code];
  }
  return bits;
}
