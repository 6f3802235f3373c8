import type { DryEvent } from '../../ingest/protocol.ts';
import { isoIn, UTC } from '../../language/zone.ts';

/**
 * JSON text of an event of a dry run: `date` and `event` as a fetch has them, and `extensions`, when some found
 * something and are named.
 */
export function dryEventText(
  { timeMs, event, matches = [] }: Pick<DryEvent, 'timeMs' | 'event'> & Partial<DryEvent>,
  namesExtensions = false,
): string {
  const matched =
    matches.length === 0 || !namesExtensions ? '' : `,"extensions":${JSON.stringify(matches)}`;
  return `{"date":"${isoIn(UTC, timeMs)}","event":${event}${matched}}`;
}

/** Milliseconds with at most three decimals. */
export function roundedMs(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
