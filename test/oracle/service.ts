import fc from 'fast-check';
import { adminToken, defineReadKey, define as defineResource } from '../support/admin.ts';
import { expectedEvent } from '../support/event-model.ts';
import { Model, type ModelEvent } from '../support/model.ts';
import { printSearch } from '../support/search-printer.ts';
import { request as http, type Service, send } from '../support/service.ts';
import type { Ask, Known } from './converse.ts';
import { dateOf, jsonOf } from './events.ts';
import { DECLARED_FIELD, formulaId, LIST_PATH, printFormula, tagsetId, tagsOf } from './meaning.ts';
import { request, sentEvent, type World, worldOf } from './requests.ts';

/** The real service over HTTP, with a world in it. */

const WRITERS = 3;
const BATCH_EVENTS = 25;
const POLL_MS = 100;
const POLLS_MAX = 600;

/** A world of so many events and requests. */
export function bigWorld(seed: number, events: number, requests: number): World {
  const [world] = fc.sample(worldOf(0, 1), { seed, numRuns: 1 });
  return {
    ...world,
    events: fc.sample(sentEvent, { seed, numRuns: events }),
    requests: fc.sample(request, { seed, numRuns: requests }),
  };
}

/** Another read key. */
export async function makeReadKey(service: Service): Promise<string> {
  return await defineReadKey(service, { name: 'another' });
}

/** Makes the definitions of a world. */
export async function define(service: Service, world: World): Promise<void> {
  const { id, path } = DECLARED_FIELD;
  await defineResource(service, 'fields', { id, name: 'A', attribute: path });
  for (const set of world.tagsets.keys()) {
    const tags = tagsOf(world, set).map((tag) => ({
      ...{ id: tag.id, name: tag.id, color: '#102030' },
      query: printSearch(tag.predicate),
    }));
    await defineResource(service, 'tagsets', { id: tagsetId(set), name: `Set ${set}`, tags });
  }
  for (const [place, expression] of world.formulas.entries()) {
    const id = formulaId(place);
    await defineResource(service, 'metrics', {
      id,
      name: id,
      type: 'formula',
      formula: printFormula(expression),
    });
  }
}

/**
 * Sends the events of a world from `from` to `to`, those of a connection one request after the other, each of up to
 * `batchEvents`.
 */
export async function sendEvents(
  service: Service,
  world: World,
  from: number,
  to: number,
  batchEvents = BATCH_EVENTS,
): Promise<void> {
  const texts = world.events.map((event, place) => jsonOf(world, event, place));
  const connection = async (writer: number): Promise<void> => {
    const own = texts.filter(
      (_, place) => place >= from && place < to && world.events[place].writer === writer,
    );
    for (let at = 0; at < own.length; at += batchEvents) {
      const body = own.slice(at, at + batchEvents).join('\n');
      const answer = await send(service, body, 'application/x-ndjson');
      if (answer.status !== 200) throw new Error(answer.text);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => connection(writer)));
}

/** Asks a service with a read key. */
export function askerOf(service: Service, readKey: string): Ask {
  return async (path, body) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': readKey };
    const { status, text } = await http(`${service.http}${path}`, {
      method: 'POST',
      headers,
      body,
    });
    return { status, text };
  };
}

/** The model of what was sent; which of equal dates came first is the service's to say. */
export async function learned(ask: Ask, world: World): Promise<Known> {
  const time = { from: -62_135_596_800_000, to: 253_402_300_799_999 };
  const model = new Model();
  const ids = new Map<ModelEvent, string>();
  let after = {};
  let lastMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    const body = JSON.stringify({ time, order: 'asc', limit: 1000, columns: COLUMNS, ...after });
    const { status, text } = await ask(LIST_PATH, body);
    if (status !== 200) throw new Error(text);
    const { events } = (JSON.parse(text) as { result: { events: Row[] } }).result;
    for (const { id, columns } of events) {
      const [place] = columns;
      const timeMs = dateOf(world, world.events[place]);
      if (timeMs < lastMs) throw new Error(`event ${place} is not in the order of dates`);
      lastMs = timeMs;
      const text = expectedEvent(jsonOf(world, world.events[place], place));
      const event = { timeMs, writer: 0, sequence: ids.size, event: text };
      model.add(event);
      ids.set(event, id);
    }
    const last = events.at(-1);
    if (last === undefined || events.length < 1000) return { model, ids };
    after = { afterEvent: last.id };
  }
}

const COLUMNS = [{ attribute: 'custom.q' }];

interface Row {
  id: string;
  columns: [number];
}

/** Resolves when a gauge of the service is as wanted. Throws when it takes too long. */
export async function gaugeIs(
  service: Service,
  name: string,
  isWanted: (value: number) => boolean,
): Promise<void> {
  const headers = { authorization: `Bearer ${adminToken(service)}` };
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const { text } = await http(`${service.http}/metrics`, { headers });
    const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
    if (value !== undefined && isWanted(Number(value))) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${name} is not as wanted after ${(POLLS_MAX * POLL_MS) / 1000} s`);
}
