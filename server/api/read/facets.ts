import { must } from '../../../engine/base/assert.ts';
import { shown } from '../../language/shown.ts';
import { ApiError, answerReply, type Reply } from '../reply.ts';
import type { ReadContext } from '../route.ts';
import { checkFacetsBody } from '../schema.ts';
import { boundOf, fieldOf, predicateOf, rangeOf } from '../selection.ts';

const VALUES_DEFAULT = 10;

/**
 * `POST /beta/discover/facets`: the most frequent values of some attributes, with their counts. Source: INTERFACE.md
 * 4.5.
 */
export async function discoverFacets(context: ReadContext): Promise<Reply> {
  const body = checkFacetsBody(context.body);
  const range = rangeOf(body.time, context.nowMs);
  const { fromMs, toMs, zone } = range;
  const paths = body.fields.map((id, place) => pathOf(id, `fields[${place}]`, context));
  for (const [place, path] of paths.entries()) {
    if (paths.indexOf(path) === place) continue;
    const id = shown(body.fields[place]);
    throw new ApiError(
      400,
      `fields[${place}] ${id} is there already; allowed: each attribute once`,
    );
  }
  const query = {
    fromMs,
    toMs,
    predicate: predicateOf(body.filters ?? [], context.key.filter, context.resolver),
    ...boundOf(range, context.boundEvents, context.key.filter),
    paths,
    limit: body.limit ?? VALUES_DEFAULT,
  };
  const answer = await context.run({ type: 'facets', query, ids: body.fields, zone: zone.name });
  return answerReply(must(answer, 'answer of facets'));
}

/** The path that a field stands for. Throws ApiError 400. */
function pathOf(id: string, parameter: string, { resolver }: ReadContext): string {
  const field = fieldOf(id, parameter, resolver);
  if (field.type === 'attribute') return field.attribute;
  throw new ApiError(400, `${parameter} ${shown(id)} is a tagset; allowed: attributes and fields`);
}
