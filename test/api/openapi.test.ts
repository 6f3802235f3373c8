import t from 'tap';
import { openapiDocument, openapiReply } from '../../server/api/openapi/document.ts';
import { MEANINGS } from '../../server/api/openapi/meanings.ts';
import { ROUTES } from '../../server/api/routes/table.ts';

type Json = Record<string, unknown>;

const document: Json = JSON.parse(JSON.stringify(openapiDocument('1.2.3')));
const object = (value: unknown): Json => Object(value);
const paths = Object.entries(object(document['paths']));
const operations = paths.flatMap(([path, item]) =>
  Object.entries(object(item)).map(([method, value]) => ({ path, method, value: object(value) })),
);
const components = object(document['components']);
const schemas = object(components['schemas']);

/** All objects of the description, with their places. */
function* parts(value: unknown, place: string): Generator<[string, Json]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [place, object(value)];
  for (const [name, member] of Object.entries(value)) {
    // What examples hold is theirs.
    if (name !== 'examples') yield* parts(member, `${place}/${name}`);
  }
}

const SCHEMA_KEYWORDS = [
  ...['$ref', 'type', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'enum'],
  ...['const', 'description', 'pattern', 'format', 'minimum', 'maximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
];
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/** Faults of a schema by JSON Schema 2020-12, as far as its keywords are used here. */
function faultsOf(value: unknown, place: string): string[] {
  if (typeof value === 'boolean') return [];
  const schema = object(value);
  const faults = Object.keys(schema)
    .filter((keyword) => !SCHEMA_KEYWORDS.includes(keyword))
    .map((keyword) => `${place}: ${keyword}`);
  const { type, required, properties, anyOf, items } = schema;
  if (type !== undefined && !TYPES.includes(String(type))) faults.push(`${place}: ${type}`);
  for (const name of Array.isArray(required) ? required : []) {
    if (!Object.hasOwn(object(properties), name)) faults.push(`${place}: ${name} is required`);
  }
  if (typeof schema['pattern'] === 'string') new RegExp(schema['pattern'], 'u');
  for (const [name, part] of Object.entries(object(properties))) {
    faults.push(...faultsOf(part, `${place}/${name}`));
  }
  if (anyOf !== undefined && (!Array.isArray(anyOf) || anyOf.length === 0)) {
    faults.push(`${place}: anyOf`);
  }
  for (const part of Array.isArray(anyOf) ? anyOf : []) faults.push(...faultsOf(part, place));
  if (items !== undefined) faults.push(...faultsOf(items, `${place}[]`));
  if (schema['additionalProperties'] !== undefined) {
    faults.push(...faultsOf(schema['additionalProperties'], `${place}/*`));
  }
  return faults;
}

t.test('the document has what OpenAPI 3.1 wants of it', async (t) => {
  t.equal(document['openapi'], '3.1.0');
  t.match(document['info'], {
    title: 'Logseam',
    version: '1.2.3',
    license: { name: 'Apache-2.0' },
  });
  t.same(
    object(Object(document['servers'])[0])['url'],
    '/',
    'servers are relative to where it was had from',
  );
  const tags = (document['tags'] as Json[]).map(({ name }) => name);
  const ids = operations.map(({ value }) => value['operationId']);
  t.same(ids.length, new Set(ids).size, 'ids of operations are unique');
  const securities = Object.keys(object(components['securitySchemes']));
  for (const { path, method, value } of operations) {
    const title = `${method} ${path}`;
    t.match(method, /^(get|post|patch|delete)$/, title);
    t.match(value['summary'], /^[A-Z].*[^.]$/, `${title}: summary`);
    t.ok(tags.includes(Object(value['tags'])[0]), `${title}: tag`);
    for (const one of value['security'] as Json[]) {
      t.ok(securities.includes(Object.keys(one)[0]), `${title}: security`);
    }
    const parameters = ((value['parameters'] ?? []) as Json[]).filter(
      ({ in: place }) => place === 'path',
    );
    t.same(
      parameters.map(({ name, required }) => [name, required]),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, true]),
      `${title}: parameters of the path`,
    );
    for (const parameter of (value['parameters'] ?? []) as Json[]) {
      t.ok('schema' in parameter !== 'content' in parameter, `${title}: ${parameter['name']}`);
      t.type(parameter['description'], 'string', `${title}: ${parameter['name']}`);
    }
    const responses = object(value['responses']);
    t.same(Object.keys(responses)[0], '200', `${title}: 200`);
    for (const [status, response] of Object.entries(responses)) {
      t.match(status, /^[2-5]\d\d$/);
      t.ok('$ref' in object(response) || 'description' in object(response), `${title} ${status}`);
    }
  }
});

t.test('each reference leads somewhere, and each schema and refusal is referred to', async (t) => {
  const used = new Set<string>();
  for (const [place, part] of parts(document, '#')) {
    const reference = part['$ref'];
    if (typeof reference !== 'string') continue;
    used.add(reference);
    const [, ...names] = reference.split('/');
    let found: unknown = document;
    for (const name of names) found = object(found)[name];
    t.ok(found, `${place}: ${reference}`);
  }
  for (const kind of ['schemas', 'responses']) {
    for (const name of Object.keys(object(components[kind]))) {
      t.ok(used.has(`#/components/${kind}/${name}`), name);
    }
  }
});

t.test('each schema is one of JSON Schema 2020-12', async (t) => {
  for (const [name, schema] of Object.entries(schemas)) t.same(faultsOf(schema, name), []);
  for (const { value } of operations) {
    for (const { name, schema = {} } of (value['parameters'] ?? []) as Json[]) {
      t.same(faultsOf(schema, String(name)), []);
    }
  }
  t.same(Object.keys(schemas), Object.keys(schemas).toSorted(), 'in the order of their names');
});

t.test('each member of a body or a reply is told of', async (t) => {
  const silent: string[] = [];
  for (const [name, schema] of Object.entries(schemas)) {
    for (const [place, part] of parts(schema, name)) {
      if (!/\/properties\/[^/]+$/.test(place) || place.endsWith('/result')) continue;
      if (/\/(error|result)$/.test(place)) continue;
      if (typeof part['description'] !== 'string') silent.push(place);
    }
  }
  t.same(silent, []);
  for (const text of MEANINGS.values()) t.match(text, /^[A-Z`].*[.]$/, text);
});

t.test('each request has the example that works, and its reply', async (t) => {
  for (const { id, path, method, examples, bodies, replies } of ROUTES) {
    const value = object(object(object(document['paths'])[path])[method]);
    t.equal(value['operationId'], id);
    t.ok(examples.length > 0, `${id} has an example`);
    for (const { name, type, body, parameters, replyType, status, reply } of examples) {
      if (body !== undefined) {
        const content = object(object(value['requestBody'])['content']);
        const media = object(content[type ?? bodies?.[0].type ?? '']);
        t.same(object(object(media['examples'])[name])['value'], body, `${id} ${name}`);
      }
      for (const [parameter, wanted] of Object.entries(parameters ?? {})) {
        const told = ((value['parameters'] ?? []) as Json[]).find(
          (one) => one['name'] === parameter,
        );
        t.same(object(object(told?.['examples'])[name])['value'], wanted, `${id} ${parameter}`);
      }
      if (status !== undefined) continue;
      const content = object(object(object(value['responses'])['200'])['content']);
      const media = object(content[replyType ?? replies[0].type]);
      t.same(object(object(media['examples'])[name])['value'], reply, `${id} ${name}: reply`);
    }
  }
});

t.test('it is made once, and the same each time', async (t) => {
  const reply = openapiReply('1.2.3');
  t.equal(reply.body, openapiReply('1.2.3').body);
  t.equal(reply.body, JSON.stringify(openapiDocument('1.2.3')));
  t.notMatch(reply.body, /\/(?:home|root|tmp|data)\//, 'no path of a machine is in it');
});
