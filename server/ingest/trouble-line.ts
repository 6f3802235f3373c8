/** Bytes of a bad line that are shown, in UTF-8. */
export const TROUBLE_LINE_BYTES = 512;
/** Bytes of it that are kept: more than are shown, so that no part of a key stands at the end. */
export const TROUBLE_KEPT_BYTES = TROUBLE_LINE_BYTES + 64;

const MASK = '***';
/** Matches a first word that may be a key, or was meant to be one. */
const FIRST_WORD = /^[\w-]{16,64}(?=\s|$)/;
/** Matches the form of a key anywhere: some senders put it behind a length or a header. */
const KEY = /(?<![\w-])[\w-]{22}(?![\w-])/g;
const KEY_ATTRIBUTE = /("logmaticKey"\s*:\s*")[^"]*/g;
/** Control characters, and those that change how the text around them is shown. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * A bad line for people: what may be a write key is `***`, control characters are escaped (`\n`, `\u0000`), and there
 * are TROUBLE_LINE_BYTES at most. `bytes` are its first TROUBLE_KEPT_BYTES, or all when it `isWhole`.
 */
export function troubleLine(bytes: Uint8Array, isWhole: boolean): string {
  let text = new TextDecoder().decode(bytes);
  // The last word may be the beginning of a key.
  if (!isWhole) text = text.replace(/[\w-]{1,63}\uFFFD?$|\uFFFD$/, '');
  const masked = text
    .replace(FIRST_WORD, MASK)
    .replace(KEY_ATTRIBUTE, `$1${MASK}`)
    .replace(KEY, MASK);
  return firstBytes(masked).replace(HIDDEN, escaped);
}

/** The first TROUBLE_LINE_BYTES of a text, whole characters. */
function firstBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= TROUBLE_LINE_BYTES) return text;
  let end = TROUBLE_LINE_BYTES;
  while ((bytes[end] & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

function escaped(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  if (character === '\t') return '\\t';
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
