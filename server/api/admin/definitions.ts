import { shown } from '../../language/shown.ts';
import { DEFINITION_KINDS, type DefinitionKind, SINGULAR } from '../../registry/definition.ts';
import type { Definitions } from '../../registry/definitions.ts';
import { parseJsonBody } from '../json.ts';
import { ApiError, type ApiRequest, resultReply } from '../reply.ts';
import { requireJsonType } from '../route.ts';
import type { AdminResource } from '../routes/route.ts';
import { fieldsOf } from './admin.ts';

/**
 * The resources `fields`, `tagsets`, `metrics`, `groups` and `saved_analyses`, by id.
 * PATCH changes what the body has; null takes away what may be left out. Source: INTERFACE.md 13.
 */
export function definitionResources(definitions: Definitions): [string, AdminResource][] {
  return DEFINITION_KINDS.filter((kind) => kind !== 'extensions').map((kind) => [
    kind,
    resourceOf(definitions, kind),
  ]);
}

function resourceOf(definitions: Definitions, kind: DefinitionKind): AdminResource {
  const existing = (id: string) => {
    const definition = definitions.get(kind, id);
    if (definition !== undefined) return definition;
    throw new ApiError(404, `there is no ${SINGULAR[kind]} with the id ${shown(id)}`);
  };
  return {
    list: async () => resultReply(JSON.stringify({ [kind]: definitions.list(kind) })),
    make: async ({ request, asker }) => {
      const made = await definitions.create(kind, readBody(request), asker);
      return resultReply(JSON.stringify(made.definition));
    },
    show: async ({ id }) => resultReply(JSON.stringify(existing(id))),
    change: async ({ request, asker, id }) => {
      existing(id);
      const changed = await definitions.change(kind, id, readBody(request), asker);
      return resultReply(JSON.stringify(changed.definition));
    },
    delete: async ({ asker, id }) => {
      const { name } = existing(id);
      await definitions.delete(kind, id, asker);
      return resultReply(JSON.stringify({ id, name, deleted: true }));
    },
  };
}

function readBody(request: ApiRequest): Map<string, unknown> {
  requireJsonType(request);
  return new Map(fieldsOf(parseJsonBody(request.body), 'the body'));
}
