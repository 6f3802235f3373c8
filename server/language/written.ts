/** Values that need no quotes wherever one may stand, unless they are words of the language. */
const BARE_VALUE = /^[\p{L}\p{N}_][\p{L}\p{N}_./:@-]*$/u;
const KEYWORD = /^(?:AND|OR|NOT|TO)$/;
/** Characters that would be none of a bare text: anywhere, and as its first one. */
const SPECIAL = /[\s()":\\*?]/g;
const SPECIAL_FIRST = /^[-<>[{/]/;

/** A name as it may stand before a colon. */
export function nameText(name: string): string {
  return name.replace(SPECIAL, '\\$&').replace(/^-/, '\\-');
}

/**
 * A value as it may stand behind a colon, in parentheses, in a comparison or in a range; always in quotes if `quoted`.
 */
export function valueText(text: string, quoted = false): string {
  if (!quoted && BARE_VALUE.test(text) && !KEYWORD.test(text)) return text;
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** A term or value of texts and wildcards; `wildcards` gives the wildcard for each character that stands for one. */
export function patternText(text: string, wildcards: Readonly<Record<string, string>>): string {
  const escaped = Array.from(text, (one) =>
    Object.hasOwn(wildcards, one) ? wildcards[one] : one.replace(SPECIAL, '\\$&'),
  );
  return escaped.join('').replace(SPECIAL_FIRST, '\\$&');
}
