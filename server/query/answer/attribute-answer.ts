import { assert } from '../../../engine/base/assert.ts';
import type { AttributeFacts, BucketKey, Facet } from '../../../engine/engine.ts';
import { isoIn, type Zone } from '../../language/zone.ts';

/** An element of `result.attributes`, as JSON text. Source: INTERFACE.md 4.5. */
export function attributeText(facts: AttributeFacts, zone: Zone): string {
  const { path, kinds, eventCount, distinctCount, values, bounds } = facts;
  let text = `{"attribute":${JSON.stringify(path)},"kinds":${JSON.stringify(kinds)},"events":${eventCount}`;
  if (distinctCount !== undefined) text += `,"distinct":${distinctCount}`;
  if (values !== undefined) text += `,"values":${valuesText(values)}`;
  if (bounds?.type === 'number') text += `,"min":${bounds.min},"max":${bounds.max}`;
  if (bounds?.type === 'date') {
    text += `,"min":"${isoIn(zone, bounds.minMs)}","max":"${isoIn(zone, bounds.maxMs)}"`;
  }
  return `${text}}`;
}

/** An element of `result.facets`, as JSON text. Source: INTERFACE.md 4.5. */
export function facetText(id: string, { values, more }: Facet): string {
  return `{"field":${JSON.stringify(id)},"values":${valuesText(values)},"more":${more}}`;
}

function valuesText(values: Exclude<AttributeFacts['values'], undefined>): string {
  if (values === null) return 'null';
  const texts = values.map(
    ({ key, eventCount }) => `{"value":${keyText(key)},"count":${eventCount}}`,
  );
  return `[${texts.join(',')}]`;
}

/** JSON text of a value; a number is what its text says. */
function keyText(key: BucketKey): string {
  if (key.type === 'boolean') return String(key.value);
  assert(key.type === 'number' || key.type === 'string', 'a value of an attribute');
  return key.type === 'number' ? key.text : JSON.stringify(key.text);
}
