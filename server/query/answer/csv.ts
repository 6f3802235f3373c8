/** Text that a spreadsheet takes for a formula. */
const FORMULA = /^[=+\-@\t\r\n]/;
/** Characters that have to stand in quotes. */
const SPECIAL = /[",\r\n]/;
/** End of a line. Source: RFC 4180. */
export const CSV_LINE_END = '\r\n';

/**
 * A text as a cell. When it is to be `safe`, a quote `'` stands before what a spreadsheet would take for a formula.
 * Source: RFC 4180.
 */
export function textCell(text: string, safe: boolean): string {
  const shown = safe && FORMULA.test(text) ? `'${text}` : text;
  return shown === '' || SPECIAL.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}

/**
 * The cell of a value that is given as JSON text: strings as their text (an empty one is `""`), null as nothing,
 * numbers as they were written, objects and arrays as JSON.
 */
export function valueCell(json: string, safe: boolean): string {
  if (json === 'null') return '';
  if (json.startsWith('"')) return textCell(stringOf(json), safe);
  return json.startsWith('[') || json.startsWith('{') ? textCell(json, false) : json;
}

/** The text of a JSON string. */
function stringOf(json: string): string {
  const plain = json.slice(1, -1);
  return plain.includes('\\') ? String(JSON.parse(json)) : plain;
}
