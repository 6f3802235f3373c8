import type { Attributes, ExtractedValue } from '../../server/extend/extraction.ts';
import { NumberText } from '../../server/extend/extraction.ts';

/** Attributes as JSON in their order, numbers as they are written. `none` for undefined. */
export function attributesText(attributes: Attributes | undefined): string {
  return attributes === undefined ? 'none' : valueText(attributes);
}

function valueText(value: ExtractedValue): string {
  if (value instanceof NumberText) return value.text;
  if (value instanceof Map) {
    const members = [...value].map(
      ([name, inner]) => `${JSON.stringify(name)}:${valueText(inner)}`,
    );
    return `{${members.join(',')}}`;
  }
  if (Array.isArray(value)) return `[${value.map(valueText).join(',')}]`;
  return JSON.stringify(value);
}
