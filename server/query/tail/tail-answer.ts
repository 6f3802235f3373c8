import { must } from '../../../engine/base/assert.ts';
import { Pace, type Units } from '../../../engine/base/pause.ts';
import type { TailResult } from '../../../engine/engine.ts';
import { parseZone } from '../../language/zone.ts';
import { eventText } from '../answer/event-text.ts';
import type { TailAnswer, TailJob } from '../job.ts';
import type { TailTokens } from './tail-token.ts';

/** Steps that a server-sent event takes: its token is enciphered. */
const EVENT_STEPS = 32;

/**
 * Writes what the engine found for a tail as server-sent events, in units; runs in the query worker. Each has the token
 * of the place behind it, so that a tail that begins there goes on with the next one. Source: INTERFACE.md 4.6.
 */
export function* writeTail(
  job: TailJob,
  result: TailResult,
  tokens: TailTokens,
): Units<TailAnswer> {
  const { events, droppedCount, position, isWhole } = result;
  const zone = must(parseZone(job.zone), `zone ${job.zone}`);
  const withColumns = job.query.columns.length > 0;
  const parts = new Array<string>(events.length);
  // Behind an event all is told but the events after it.
  let behind = position;
  const pace = new Pace();
  let timeMs = isWhole ? job.toMs : job.fromMs;
  for (let at = events.length - 1; at >= 0; at--) {
    const event = events[at];
    const token = tokens.encode({ position: behind, timeMs });
    parts[at] = `id: ${token}\ndata: ${eventText(event, withColumns, zone)}\n\n`;
    behind = event.sequence;
    timeMs = job.fromMs;
    if (pace.isFull(EVENT_STEPS)) yield;
  }
  const text = parts.join('');
  const facts = { eventCount: events.length, position, isWhole };
  if (droppedCount === 0) return { text, ...facts };
  const token = tokens.encode({ position: behind, timeMs });
  return { text: `${droppedText(token, { count: droppedCount })}${text}`, ...facts };
}

/** The server-sent event that says that events were left out: so many, or all before a date, without a count. */
export function droppedText(
  token: string,
  dropped: { count: number } | { before: string },
): string {
  return `id: ${token}\nevent: dropped\ndata: ${JSON.stringify(dropped)}\n\n`;
}
