import { type TObject, type TSchema, Type } from 'typebox';
import { BODY_SCHEMAS, flag } from '../schema.ts';
import { DEFINITION_SCHEMAS } from './definition-schema.ts';
import { EXTENSION_SCHEMAS } from './extension-schema.ts';
import { KEY_SCHEMAS, keyName } from './key-schema.ts';
import { USER_SCHEMAS } from './users.ts';

/** The schemas of what makes and changes a definition follow from the one that a whole definition is checked by. */

/** Body of POST. The id may be left out, and is then made from the name. */
function creation(definition: TSchema): TObject {
  const { properties } = definition as TObject;
  const id = Type.Optional(properties['id']);
  return object({ ...properties, id });
}

/** Body of PATCH. Everything may be left out, and null removes an optional field. */
function change(definition: TSchema): TObject {
  const { properties } = definition as TObject;
  const required: unknown = (definition as { required?: unknown }).required;
  return object(
    Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => {
        if (Array.isArray(required) && required.includes(name))
          return [name, Type.Optional(schema)];
        return [name, Type.Optional(Type.Union([schema, Type.Null()]))];
      }),
    ),
  );
}

function object(properties: Record<string, TSchema>): TObject {
  return Type.Object(properties, { additionalProperties: false });
}

/** A definition with more parts, and with parts that say more. */
function having(definition: TSchema, parts: Record<string, TSchema>): TObject {
  return object({ ...(definition as TObject).properties, ...parts });
}

const { analysis, coreMetric, attributeMetric, formulaMetric, field, tagset, group } =
  DEFINITION_SCHEMAS;
const { filters, columns, compute, groupBy } = BODY_SCHEMAS;
const wholeAnalysis = having(analysis, {
  time: BODY_SCHEMAS.time,
  filters: Type.Optional(filters),
  columns: Type.Optional(columns),
  compute: Type.Optional(compute),
  groupBy: Type.Optional(groupBy),
});
const metrics = [
  having(attributeMetric, { type: Type.Literal('attribute') }),
  having(formulaMetric, { type: Type.Literal('formula') }),
];
const along = {
  position: Type.Optional(
    Type.Integer({ minimum: 0, description: 'a whole number from 0, which runs first' }),
  ),
  definitions: Type.Optional(flag()),
};
const { plain, grok, date, attribute } = EXTENSION_SCHEMAS;
const extensions = [plain, grok, date, attribute].map((extension) => having(extension, along));

/** The bodies of POST and PATCH of a resource of the administration. */
export interface AdminBodies {
  made: TSchema;
  changed: TSchema;
}

const ofDefinition = (definition: TSchema): AdminBodies => ({
  made: creation(definition),
  changed: change(definition),
});
const ofDefinitions = (made: readonly TSchema[], all = made): AdminBodies => ({
  made: Type.Union(made.map(creation)),
  changed: Type.Union(all.map(change)),
});

/** Bodies by resource, for the description of the interface. */
export const ADMIN_BODIES: ReadonlyMap<string, AdminBodies> = new Map([
  ['write_keys', ofKeys(KEY_SCHEMAS.write)],
  ['read_keys', ofKeys(KEY_SCHEMAS.read)],
  ['users', USER_SCHEMAS],
  ['fields', ofDefinition(field)],
  ['tagsets', ofDefinition(tagset)],
  ['metrics', ofDefinitions(metrics, [...metrics, coreMetric])],
  ['groups', ofDefinition(group)],
  ['saved_analyses', ofDefinition(wholeAnalysis)],
  ['extensions', ofDefinitions(extensions)],
]);

function ofKeys(changed: TObject): AdminBodies {
  const { properties } = changed;
  return { made: object({ ...properties, name: keyName }), changed };
}
