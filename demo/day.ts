import { Draw } from '../bench/corpus/random.ts';
import type { DemoEvent } from './event.ts';
import { Incident } from './incident.ts';
import { Machines } from './machines.ts';
import { Visitors } from './requests.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** Events that come of one request, and of machines and containers beside it. */
const EVENTS_A_REQUEST = 2.1;

/** A seeded day of several sources, and what goes on behind it. */
export class Day {
  readonly #draw: Draw;
  readonly #endMs: number;
  readonly #eventsADay: number;
  readonly #incident: Incident;
  readonly #visitors: Visitors;
  readonly #machines: Machines;

  /** The day that ends at `endMs`, with about so many events. */
  constructor(seed: number, endMs: number, eventsADay: number) {
    this.#draw = new Draw(seed);
    this.#endMs = endMs;
    this.#eventsADay = eventsADay;
    this.#incident = new Incident(endMs);
    this.#visitors = new Visitors(this.#draw, this.#incident);
    this.#machines = new Machines(this.#draw);
  }

  /** The events of each minute, the oldest first. */
  *minutes(): Generator<DemoEvent[], void> {
    for (let minute = DAY_MINUTES; minute > 0; minute--) {
      const fromMs = this.#endMs - minute * MINUTE_MS;
      const events = this.span(fromMs, MINUTE_MS);
      if (minute === DAY_MINUTES) events.push(...this.#incident.events(this.#draw));
      yield events;
    }
  }

  /** Events that begin in `[fromMs, fromMs + lengthMs)`. */
  span(fromMs: number, lengthMs: number): DemoEvent[] {
    const draw = this.#draw;
    const share = (lengthMs / (DAY_MINUTES * MINUTE_MS)) * busyness(fromMs);
    const wanted = (share * this.#eventsADay) / EVENTS_A_REQUEST;
    const requests = Math.floor(wanted) + (draw.chance(wanted % 1) ? 1 : 0);
    const events: DemoEvent[] = [];
    for (let request = 0; request < requests; request++) {
      const at = (): number => fromMs + draw.below(lengthMs);
      events.push(...this.#visitors.request(at()));
      if (draw.chance(0.25)) events.push(this.#machines.line(at()));
      if (draw.chance(0.25)) events.push(this.#machines.container(at()));
    }
    return events;
  }
}

/** Traffic at a time of day, around 1: little at night, most in the evening. */
function busyness(timeMs: number): number {
  const hour = new Date(timeMs).getUTCHours() + new Date(timeMs).getUTCMinutes() / 60;
  return (
    1 - 0.55 * Math.cos(((hour - 4) / 24) * 2 * Math.PI) + 0.15 * Math.sin((hour / 6) * Math.PI)
  );
}
