const CHARACTERS_MAX = 60;

/** A JSON value as it stands in a message: shortened, and never the content of an array or object. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return `(an array of ${value.length})`;
  if (typeof value === 'object' && value !== null) return '(an object)';
  if (typeof value !== 'string') return String(value);
  const short = value.length > CHARACTERS_MAX ? `${value.slice(0, CHARACTERS_MAX)}...` : value;
  return JSON.stringify(short);
}
