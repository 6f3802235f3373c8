import { must } from '../../../engine/base/assert.ts';
import type { Reply } from '../reply.ts';
import type { ApiExample } from '../routes/examples/example.ts';
import {
  type Access,
  type ApiContent,
  type ApiOperation,
  type ApiParameter,
  JSON_TYPE,
} from '../routes/operation.ts';
import { ROUTES } from '../routes/table.ts';
import { MEANINGS, PARTS, STATUSES, TAGS } from './meanings.ts';
import { errorReply, inputErrorReply, plainText } from './reply-schema.ts';
import { type JsonObject, type SchemaPart, SchemaWriter } from './schema.ts';

const SECURITY: Readonly<Record<Access, readonly JsonObject[]>> = {
  anybody: [],
  writer: [{ keyHeader: [] }, { keyParameter: [] }, { bearer: [] }, { basic: [] }],
  reader: [{ keyHeader: [] }, { keyParameter: [] }, { bearer: [] }, { basic: [] }, { session: [] }],
  admin: [{ bearer: [] }, { session: [] }],
  overview: [{ bearer: [] }, { keyHeader: [] }, { keyParameter: [] }, { session: [] }],
  login: [],
  session: [{ session: [] }],
};
/** Refusals that all operations of an access share. */
const ACCESS_REFUSALS: Readonly<Record<Access, readonly number[]>> = {
  anybody: [405],
  writer: [401, 405],
  reader: [401, 403, 405],
  admin: [401, 403, 405, 429],
  overview: [401, 403, 405],
  login: [403, 405],
  session: [401, 403, 405],
};
const SECURITY_SCHEMES = {
  keyHeader: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A key.' },
  keyParameter: { type: 'apiKey', in: 'query', name: 'api_key', description: 'A key.' },
  bearer: {
    ...{ type: 'http', scheme: 'bearer' },
    description:
      'The token of the file `admin-token` in the data folder; of the input API a write key, of the output API a read key.',
  },
  basic: { type: 'http', scheme: 'basic', description: 'A key in either part.' },
  session: {
    ...{ type: 'apiKey', in: 'cookie', name: 'logseam' },
    description:
      'A session; its cookie is named `__Host-logseam` over HTTPS. A user whom a trusted proxy names needs none.',
  },
};

/** The statuses other than 200 that an operation may answer, ascending. */
export function refusalsOf({ access, refusals }: ApiOperation): number[] {
  return [...new Set([...ACCESS_REFUSALS[access], ...refusals])].sort(
    (left, right) => left - right,
  );
}

const known = new Map<string, string>();

/** `GET /openapi.json`: the description of the interface, made when it is first asked for. */
export function openapiReply(version: string): Reply {
  const text = known.get(version) ?? JSON.stringify(openapiDocument(version));
  known.set(version, text);
  return { status: 200, body: text };
}

/** The description of the interface, from the schemas that requests are checked by. Source: OpenAPI 3.1. */
export function openapiDocument(version: string): JsonObject {
  const schemas = new SchemaWriter(MEANINGS, PARTS);
  const paths = new Map<string, JsonObject>();
  for (const operation of ROUTES) {
    const path = paths.get(operation.path) ?? {};
    path[operation.method] = operationObject(operation, schemas);
    paths.set(operation.path, path);
  }
  const responses = refusalObjects(schemas);
  return {
    openapi: '3.1.0',
    info: {
      ...{ title: 'Logseam', version },
      description: 'Takes in log events, stores them and answers questions about them.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'Where this description comes from.' }],
    tags: TAGS,
    paths: Object.fromEntries(paths),
    components: {
      schemas: schemas.components(),
      responses,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function operationObject(operation: ApiOperation, schemas: SchemaWriter): JsonObject {
  const { id, tag, summary, about, access, parameters = [], bodies, examples } = operation;
  return {
    ...{ operationId: id, tags: [tag], summary },
    ...(about !== undefined && { description: about }),
    security: SECURITY[access],
    ...(parameters.length > 0 && {
      parameters: parameters.map((parameter) => parameterObject(parameter, examples, schemas)),
    }),
    ...(bodies !== undefined && { requestBody: bodyObject(operation, bodies, schemas) }),
    responses: responsesObject(operation, schemas),
  };
}

function parameterObject(
  parameter: ApiParameter,
  examples: readonly ApiExample[],
  schemas: SchemaWriter,
): JsonObject {
  const { name, about, schema, isJson } = parameter;
  const written = schemas.inline(schema);
  const values = examples.flatMap((example) => {
    const value = example.parameters?.[name];
    return value === undefined ? [] : [[example.name, { value }] as const];
  });
  return {
    ...{ name, in: parameter.in, description: about, required: parameter.in === 'path' },
    ...(isJson === true
      ? { content: { 'application/json': { schema: written } } }
      : { schema: written }),
    ...(values.length > 0 && { examples: Object.fromEntries(values) }),
  };
}

function bodyObject(
  { id, isBodyOptional, examples }: ApiOperation,
  bodies: readonly ApiContent[],
  schemas: SchemaWriter,
): JsonObject {
  const content = bodies.map(({ type, schema }) => {
    const own = examples.filter((example) => (example.type ?? bodies[0].type) === type);
    const part = { name: `${capital(id)}Request`, schema, isReply: false };
    const shown = own.map(({ name, summary, body }) => [name, { summary, value: body }]);
    return [type, contentObject(schemaObject(schemas, part), shown)];
  });
  return { required: isBodyOptional !== true, content: Object.fromEntries(content) };
}

function responsesObject(operation: ApiOperation, schemas: SchemaWriter): JsonObject {
  const { id, replies, unready, examples, access } = operation;
  const answered = examples.filter(
    ({ status, reply }) => status === undefined && reply !== undefined,
  );
  const content = replies.map(({ type, schema }) => {
    const own = answered.filter(({ replyType }) => (replyType ?? replies[0].type) === type);
    const part = { name: `${capital(id)}Reply`, schema, isReply: true };
    const shown = own.map(({ name, summary, reply }) => [name, { summary, value: reply }]);
    return [type, contentObject(schemaObject(schemas, part), shown)];
  });
  const responses: JsonObject = {
    200: { description: 'What was asked for.', content: Object.fromEntries(content) },
  };
  const group = access === 'writer' ? 'Input' : '';
  for (const status of refusalsOf(operation)) {
    responses[status] = { $ref: `#/components/responses/${group}${statusOf(status).name}` };
  }
  if (unready !== undefined) {
    const schema = schemas.refer({ name: 'Unready', schema: unready, isReply: true });
    responses[503] = { description: 'It cannot.', content: { [JSON_TYPE]: { schema } } };
  }
  return responses;
}

/** A reference to a named schema, except for plain text, which is written in place. */
function schemaObject(schemas: SchemaWriter, part: SchemaPart): JsonObject {
  return part.schema === plainText ? schemas.inline(part.schema) : schemas.refer(part);
}

function contentObject(schema: JsonObject, examples: readonly unknown[][]): JsonObject {
  if (examples.length === 0) return { schema };
  return { schema, examples: Object.fromEntries(examples) };
}

/** All refusals that operations refer to. */
function refusalObjects(schemas: SchemaWriter): JsonObject {
  const found = new Map<string, JsonObject>();
  const error = schemas.refer({ name: 'Error', schema: errorReply, isReply: true });
  const inputError = schemas.refer({ name: 'InputError', schema: inputErrorReply, isReply: true });
  for (const operation of ROUTES) {
    const isInput = operation.access === 'writer';
    for (const status of refusalsOf(operation)) {
      const { name, about } = statusOf(status);
      found.set(`${isInput ? 'Input' : ''}${name}`, {
        description: about,
        content: { [JSON_TYPE]: { schema: isInput ? inputError : error } },
      });
    }
  }
  return Object.fromEntries([...found].sort(([left], [right]) => (left < right ? -1 : 1)));
}

function statusOf(status: number): { name: string; about: string } {
  return must(STATUSES.get(status), `status ${status}`);
}

function capital(id: string): string {
  return id[0].toUpperCase() + id.slice(1);
}
