import type { ListedEvent } from '../../../engine/engine.ts';
import { isoIn, type Zone } from '../../language/zone.ts';

/** An event of a reply as JSON text; `event` and `columns` are JSON texts already. */
export function eventText(event: ListedEvent, withColumns: boolean, zone: Zone): string {
  let text = `{"id":${JSON.stringify(event.id)},"date":"${isoIn(zone, event.timeMs)}"`;
  if (event.event !== undefined) text += `,"event":${event.event}`;
  if (withColumns) text += `,"columns":[${event.columns.join(',')}]`;
  return `${text}}`;
}
