import { isoOf } from '../support/zone-model.ts';
import { CENTRES, NAMES, type SentEvent, type World, ZONES } from './requests.ts';

/** Random events as they are sent. */

/** The date of an event of a world. */
export function dateOf(world: World, { date }: SentEvent): number {
  return date.type === 'far' ? Date.parse(date.text) : CENTRES[world.centre].ms + date.ms;
}

/** JSON text of an event, as it is sent; `q` tells it from all others. */
export function jsonOf(world: World, event: SentEvent, place: number): string {
  const members = event.values.flatMap((value, at) =>
    value === undefined ? [] : [`${JSON.stringify(NAMES[at])}:${value}`],
  );
  // Where the date stands, and in which order the others, is as random as the event.
  const turn = place % (members.length + 1);
  const turned = [...members.slice(turn), `"timestamp":${dateText(world, event)}`];
  return `{${[...turned, ...members.slice(0, turn), `"q":${place}`].join(',')}}`;
}

/** The date as a number, in UTC, or in the zone of the centre. */
function dateText(world: World, event: SentEvent): string {
  if (event.date.type === 'far') return JSON.stringify(event.date.text);
  const ms = dateOf(world, event);
  if (event.form === 0) return String(ms);
  const zone = ZONES[CENTRES[world.centre].zone].name;
  return JSON.stringify(isoOf(event.form === 1 ? 'UTC' : zone, ms));
}
