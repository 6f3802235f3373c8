import type { TSchema } from 'typebox';

/** Rules that the type alone says. */
const BY_TYPE = ['a string', 'true or false'];

/** A JSON value of the description. */
export type JsonObject = Record<string, unknown>;

/** A schema that stands under a name in the description. Of a reply more members may come than it names. */
export interface SchemaPart {
  name: string;
  schema: TSchema;
  isReply: boolean;
}

/**
 * Writes schemas for the description of the interface. A schema with a name is written once and referred to. Each
 * member is described by the text that `meanings` has for the longest end of its path, such as `GroupBy.field.id` or
 * `id`; the description in its schema says what is allowed.
 */
export class SchemaWriter {
  readonly #meanings: ReadonlyMap<string, string>;
  readonly #parts: SchemaPart[] = [];
  /** Names by the JSON text of the schema. */
  readonly #names = new Map<string, string>();

  constructor(meanings: ReadonlyMap<string, string>, parts: readonly SchemaPart[]) {
    this.#meanings = meanings;
    for (const part of parts) this.refer(part);
  }

  /** A reference to a schema, which gets the part's name unless it has one. */
  refer(part: SchemaPart): JsonObject {
    const text = JSON.stringify(part.schema);
    const known = this.#names.get(text);
    if (known !== undefined) return reference(known);
    this.#names.set(text, part.name);
    this.#parts.push(part);
    return reference(part.name);
  }

  /** A schema in its place, such as that of a parameter. */
  inline(schema: TSchema): JsonObject {
    return this.#written(plain(schema), [], false);
  }

  /** All schemas under names, in the order of these. */
  components(): JsonObject {
    const parts = this.#parts.toSorted((left, right) => (left.name < right.name ? -1 : 1));
    return Object.fromEntries(
      parts.map(({ name, schema, isReply }) => [
        name,
        this.#content(plain(schema), [name], isReply),
      ]),
    );
  }

  #written(schema: JsonObject, trail: readonly string[], isReply: boolean): JsonObject {
    const known = this.#names.get(JSON.stringify(schema));
    return known === undefined ? this.#content(schema, trail, isReply) : reference(known);
  }

  #content(schema: JsonObject, trail: readonly string[], isReply: boolean): JsonObject {
    const values = literalsOf(schema);
    if (values !== undefined) return { type: 'string', enum: values };
    const written: JsonObject = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'properties') {
        written['properties'] = this.#properties(Object(value), trail, isReply);
      } else if (keyword === 'patternProperties') {
        // Names of any form: there is a keyword for them.
        const [any] = Object.values(Object(value));
        written['additionalProperties'] = this.#written(Object(any), trail, isReply);
      } else if (keyword === 'items') {
        written['items'] = this.#written(Object(value), trail, isReply);
      } else if (keyword === 'anyOf' && Array.isArray(value)) {
        written['anyOf'] = value.map((one) => this.#written(Object(one), trail, isReply));
      } else if (keyword === 'description') {
        const isSaid = schema['type'] === 'object' || BY_TYPE.includes(String(value));
        if (!isSaid) written['description'] = `Allowed: ${value}.`;
      } else if (keyword !== 'additionalProperties' || !isReply) {
        written[keyword] = value;
      }
    }
    return written;
  }

  #properties(properties: JsonObject, trail: readonly string[], isReply: boolean): JsonObject {
    const written: JsonObject = {};
    for (const [name, schema] of Object.entries(properties)) {
      const path = [...trail, name];
      const part = this.#written(Object(schema), path, isReply);
      const meaning = this.#meaningOf(path);
      const allowed = part['description'];
      const description = [meaning, allowed].filter((text) => text !== undefined).join(' ');
      written[name] = description === '' ? part : { ...part, description };
    }
    return written;
  }

  #meaningOf(path: readonly string[]): string | undefined {
    for (let from = 0; from < path.length; from++) {
      const meaning = this.#meanings.get(path.slice(from).join('.'));
      if (meaning !== undefined) return meaning;
    }
    return undefined;
  }
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** The schema as it is written as JSON, without what only this process knows of it. */
function plain(schema: TSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema));
}

/** The texts of a union of nothing else. */
function literalsOf({ anyOf }: JsonObject): unknown[] | undefined {
  if (!Array.isArray(anyOf)) return undefined;
  const values = anyOf.map((one) => Object(one).const);
  return values.every((value) => typeof value === 'string') ? values : undefined;
}
