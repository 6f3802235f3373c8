import { shown } from '../../language/shown.ts';
import { TimeError, zoneNamed } from '../../language/time.ts';
import { UTC, type Zone } from '../../language/zone.ts';
import { columnsOf } from '../columns.ts';
import { ApiError, answerReply, type Reply } from '../reply.ts';
import type { ReadContext } from '../route.ts';
import { checkContextBody } from '../schema.ts';
import { predicateOf } from '../selection.ts';

const EVENTS_DEFAULT = 10;

/**
 * `POST /beta/events/context`: an event and those around it. The event itself need not be one of `filters`, but the key
 * has to see it; otherwise it is the 404 of a fetch.
 */
export async function contextOfEvent(context: ReadContext): Promise<Reply> {
  const body = checkContextBody(context.body);
  const zone = zoneOf(body.timezone);
  const query = {
    id: body.id,
    before: body.before ?? EVENTS_DEFAULT,
    after: body.after ?? EVENTS_DEFAULT,
    visible: context.key.filter,
    predicate: predicateOf(body.filters ?? [], context.key.filter, context.resolver),
    event: body.event ?? false,
    columns: columnsOf(body.columns ?? [], context.resolver),
  };
  const answer = await context.run({ type: 'context', query, zone: zone.name });
  if (answer === undefined) throw new ApiError(404, `id ${shown(body.id)}: there is no such event`);
  return answerReply(answer);
}

/** The zone that the parameter `timezone` names, UTC without it. Throws ApiError 400. */
export function zoneOf(timezone: string | undefined): Zone {
  try {
    return timezone === undefined ? UTC : zoneNamed('timezone', timezone);
  } catch (error) {
    if (error instanceof TimeError) throw new ApiError(400, error.message);
    throw error;
  }
}
