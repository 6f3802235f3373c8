import { must } from '../../../engine/base/assert.ts';
import { isAttributePath } from '../../language/filter.ts';
import { shown } from '../../language/shown.ts';
import { ApiError, answerReply, type Reply } from '../reply.ts';
import type { ReadContext } from '../route.ts';
import { checkAttributesBody } from '../schema.ts';
import { predicateOf, rangeOf } from '../selection.ts';

const ATTRIBUTES_DEFAULT = 100;
const VALUES_DEFAULT = 10;

/**
 * `POST /beta/discover/attributes`: the attributes that the selected events have, those of the most events first, with
 * their most frequent values. Source: INTERFACE.md 4.5.
 */
export async function discoverAttributes(context: ReadContext): Promise<Reply> {
  const body = checkAttributesBody(context.body);
  const { fromMs, toMs, zone } = rangeOf(body.time, context.nowMs);
  const { attributes, prefix } = body;
  for (const [place, path] of attributes?.entries() ?? []) {
    if (isAttributePath(path)) continue;
    throw new ApiError(
      400,
      `attributes[${place}] ${shown(path)} is unknown; allowed: custom.<name>, syslog.<name> or message`,
    );
  }
  if (body.distinct === false && (body.values ?? 0) > 0) {
    throw new ApiError(400, `values ${body.values} needs distinct; allowed with distinct false: 0`);
  }
  const query = {
    fromMs,
    toMs,
    predicate: predicateOf(body.filters ?? [], context.key.filter, context.resolver),
    ...(attributes === undefined ? {} : { paths: attributes }),
    ...(prefix === undefined ? {} : { prefix }),
    limit: body.limit ?? ATTRIBUTES_DEFAULT,
    ...(body.distinct === false ? {} : { values: body.values ?? VALUES_DEFAULT }),
  };
  const answer = await context.run({ type: 'attributes', query, zone: zone.name });
  return answerReply(must(answer, 'answer of a discovery'));
}
