import { shown } from '../../language/shown.ts';
import { DEFINITION_KINDS, type DefinitionKind, SINGULAR } from '../../registry/definition.ts';
import type { Definitions } from '../../registry/definitions.ts';
import type { Asker } from '../../registry/journal.ts';
import { parseJsonBody } from '../json.ts';
import { ApiError, type ApiRequest, type Reply, resultReply } from '../reply.ts';
import { requireJsonType } from '../route.ts';
import { type AdminResource, fieldsOf, methodNotAllowed } from './admin.ts';

/**
 * The resources `fields`, `tagsets`, `metrics`, `groups` and `saved_analyses`, by id: GET, POST, PATCH and DELETE.
 * PATCH changes what the body has; null takes away what may be left out. Source: INTERFACE.md 13.
 */
export function definitionResources(definitions: Definitions): [string, AdminResource][] {
  return DEFINITION_KINDS.filter((kind) => kind !== 'extensions').map((kind) => [
    kind,
    {
      collection: (request, asker) => collection(definitions, kind, request, asker),
      single: (id, request, asker) => single(definitions, kind, id, request, asker),
    },
  ]);
}

async function collection(
  definitions: Definitions,
  kind: DefinitionKind,
  request: ApiRequest,
  asker: Asker,
): Promise<Reply> {
  if (request.method === 'GET') {
    return resultReply(JSON.stringify({ [kind]: definitions.list(kind) }));
  }
  if (request.method !== 'POST') throw methodNotAllowed(request.method, 'GET, POST');
  const made = await definitions.create(kind, readBody(request), asker);
  return resultReply(JSON.stringify(made.definition));
}

async function single(
  definitions: Definitions,
  kind: DefinitionKind,
  id: string,
  request: ApiRequest,
  asker: Asker,
): Promise<Reply> {
  const definition = definitions.get(kind, id);
  if (definition === undefined) {
    throw new ApiError(404, `there is no ${SINGULAR[kind]} with the id ${shown(id)}`);
  }
  if (request.method === 'GET') return resultReply(JSON.stringify(definition));
  if (request.method === 'PATCH') {
    const changed = await definitions.change(kind, id, readBody(request), asker);
    return resultReply(JSON.stringify(changed.definition));
  }
  if (request.method !== 'DELETE') throw methodNotAllowed(request.method, 'GET, PATCH, DELETE');
  await definitions.delete(kind, id, asker);
  return resultReply(JSON.stringify({ id, name: definition.name, deleted: true }));
}

function readBody(request: ApiRequest): Map<string, unknown> {
  requireJsonType(request);
  return new Map(fieldsOf(parseJsonBody(request.body), 'the body'));
}
