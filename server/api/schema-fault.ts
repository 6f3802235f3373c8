import type { Validator } from 'typebox/compile';
import { assert, must } from '../../engine/base/assert.ts';
import { nearestHint } from '../../engine/base/nearest.ts';
import { shown } from '../language/shown.ts';
import { ApiError } from './reply.ts';

/** A fault's place in the body, and the place of the broken rule in the schema. */
interface Fault {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  params: object;
}

/** Names that other products give to a parameter. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ['tz', 'timezone'],
  ['time_zone', 'timezone'],
  ['zone', 'timezone'],
  ['start', 'from'],
  ['since', 'from'],
  ['end', 'to'],
  ['until', 'to'],
  ['size', 'limit'],
  ['sort', 'order'],
  ['q', 'query'],
  ['aggs', 'compute'],
  ['group_by', 'groupBy'],
]);

/** Throws the ApiError 400 that names the parameter, its value, and what is allowed, of a body that does not pass. */
export function refuse(validator: Validator, body: unknown): never {
  const schema: unknown = validator.Type();
  const fault = firstFault(validator.Errors(body));
  const unknownName = /^(.*)\/additionalProperties$/.exec(fault.schemaPath);
  const parts = segments(fault.instancePath);
  if (fault.keyword === 'boolean' && unknownName !== null) {
    const known = Object.keys(Object(at(schema, [...segments(unknownName[1]), 'properties'])));
    throw new ApiError(400, unknownMessage(parameterName(parts), String(parts.at(-1)), known));
  }
  let rule = segments(fault.schemaPath);
  let missing = '';
  if (fault.keyword === 'required') {
    const { requiredProperties } = fault.params as { requiredProperties: string[] };
    parts.push(requiredProperties[0]);
    rule = [...rule, 'properties', requiredProperties[0]];
    missing = ' is missing';
  }
  const allowed = Object(at(schema, rule)).description;
  assert(typeof allowed === 'string', `schema ${fault.schemaPath} says what is allowed`);
  const what = missing === '' ? ` ${shown(at(body, parts))} is not allowed` : missing;
  throw new ApiError(400, `${parameterName(parts)}${what}; allowed: ${allowed}`);
}

/** The fault to tell: an unknown name before all others, because a misspelled one is also missing. */
function firstFault(faults: readonly Fault[]): Fault {
  const unknown = faults.find((fault) => fault.keyword === 'boolean');
  return unknown ?? faultOfUnion(faults, '');
}

/**
 * The first fault; of a union below the schema path `from` the one inside an alternative, when the value is of that
 * alternative's kind, else the union's own.
 */
function faultOfUnion(faults: readonly Fault[], from: string): Fault {
  const first = must(faults[0], 'fault of a refused body');
  const place = /^(.*?)\/anyOf\/\d/.exec(first.schemaPath.slice(from.length))?.[1];
  if (place === undefined) return first;
  const union = from + place;
  const inside = faults.filter((fault) => fault.schemaPath.startsWith(`${union}/anyOf/`));
  const depth = Math.min(...inside.map((fault) => segments(fault.instancePath).length));
  const deeper = inside.filter(
    (fault) => segments(fault.instancePath).length > depth || fault.keyword === 'required',
  );
  if (deeper.length === 0) return { ...first, keyword: 'anyOf', schemaPath: union };
  return faultOfUnion(deeper, `${union}/anyOf/`);
}

/** `filters[0].feild is unknown; did you mean "field"? allowed: field, search` */
function unknownMessage(parameter: string, name: string, known: string[]): string {
  return `${parameter} is unknown;${meantHint(name, known)} allowed: ${known.join(', ') || 'none'}`;
}

/** ` did you mean "timezone"?`, of the `known` parameters the one that another product calls `name` or the nearest. */
export function meantHint(name: string, known: readonly string[]): string {
  const meant = MEANT.get(name.toLowerCase());
  const isKnown = meant !== undefined && known.includes(meant);
  return isKnown ? ` did you mean "${meant}"?` : nearestHint(name, known);
}

/** The names of a JSON pointer, `#` left out. Source: RFC 6901. */
function segments(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The part of a tree at a path of own properties. */
function at(tree: unknown, path: readonly string[]): unknown {
  let part = tree;
  for (const name of path)
    part = Object.hasOwn(Object(part), name) ? Object(part)[name] : undefined;
  return part;
}

/** `filters[0].field.id`; the whole is `the body`; names of strangers are shortened. */
function parameterName(path: readonly string[]): string {
  if (path.length === 0) return 'the body';
  return path
    .map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${name.slice(0, 60)}`))
    .join('')
    .replace(/^\./, '');
}
