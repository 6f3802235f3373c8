import { finished } from '../../engine/base/pause.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { openReader } from '../../engine/engine.ts';
import type { FieldDefinition, MetricDefinition } from '../../server/api/resolver.ts';
import { Decoder } from '../../server/decode/decoder.ts';
import { parseSearch } from '../../server/language/search.ts';
import { writeAnswer } from '../../server/query/answer/answer.ts';
import type { JobAnswer, QueryJob } from '../../server/query/job.ts';
import { request, service } from '../api/service.ts';
import { run } from '../query/blocks.ts';
import { Shelf } from '../segment/shelf.ts';
import { decodeBody } from '../support/decode-body.ts';
import { expectedEvent } from '../support/event-model.ts';
import { compareModel, Model, type ModelEvent } from '../support/model.ts';
import { printSearch } from '../support/search-printer.ts';
import { type Ask, idsIn, type Known } from './converse.ts';
import { dateOf, jsonOf } from './events.ts';
import { DECLARED_FIELD, formulaId, LIST_PATH, printFormula, tagsetId, tagsOf } from './meaning.ts';
import type { World } from './requests.ts';

/** The service without its threads and sockets: decoder, blocks in memory, routes, queries, replies. */

const SECRET = new Uint8Array(32);
const RECEIVED_MS = Date.UTC(2022, 0, 1);
const WRITERS = 3;

/** A store of a world's events, which can be asked. */
export interface Stored {
  shelf: Shelf;
  ask: Ask;
  known: Known;
}

/**
 * Stores the events of a world in blocks of up to `blockRows`, each connection's in its order; by turns they are sealed
 * with few columns and overflow maps. Throws when they do not
 * come back in the order of date, connection, and place in it, as they were sent.
 */
export async function storeWorld(world: World, blockRows: number): Promise<Stored> {
  const shelf = new Shelf(blockRows % 2 === 0 ? blockRows % 5 : undefined);
  const model = new Model();
  const texts = world.events.map((event, place) => jsonOf(world, event, place));
  for (let writer = 0; writer < WRITERS; writer++) {
    const places = texts.keys().filter((place) => world.events[place].writer === writer);
    const own = [...places];
    for (let at = 0; at < own.length; at += blockRows) {
      const inside = own.slice(at, at + blockRows);
      await addBlock(
        shelf,
        inside.map((place) => texts[place]),
        writer,
        at,
      );
      for (const [index, place] of inside.entries()) {
        const timeMs = dateOf(world, world.events[place]);
        model.add({ timeMs, writer, sequence: at + index, event: expectedEvent(texts[place]) });
      }
    }
  }
  const ask = asker(world, shelf);
  return { shelf, ask, known: { model, ids: await learnedIds(ask, model) } };
}

async function addBlock(
  shelf: Shelf,
  texts: string[],
  writer: number,
  sequence: number,
): Promise<void> {
  const paths = new PathTable();
  const rows = new Rows();
  const decoder = new Decoder(paths, rows);
  const source = new TextEncoder().encode(texts.join('\n'));
  decoder.begin(source, RECEIVED_MS, undefined);
  decodeBody(decoder, source, 'lines');
  await shelf.addRecords(rows, paths, writer, sequence);
}

/** The ids of all events, oldest first, which must be in the model's order. */
async function learnedIds(ask: Ask, model: Model): Promise<Map<ModelEvent, string>> {
  const time = { from: -62_135_596_800_000, to: 253_402_300_799_999 };
  const body = JSON.stringify({ time, order: 'asc', limit: 1000, event: true });
  const { text } = await ask(LIST_PATH, body);
  const events = [...model.events].sort(compareModel);
  const listed = idsIn(text);
  if (listed.length !== events.length) throw new Error(`${listed.length} events came back`);
  const ids = new Map<ModelEvent, string>();
  let at = 0;
  for (const [place, event] of events.entries()) {
    ids.set(event, listed[place]);
    at = text.indexOf(event.event, at);
    if (at < 0) throw new Error(`not there, or not in its place: ${event.event}`);
  }
  return ids;
}

/** Asks the routes, with nothing between them and the blocks that are live at the moment. */
function asker(world: World, shelf: Shelf): Ask {
  const reader = openReader(shelf.disk, SECRET);
  const answerOf = (job: QueryJob): JobAnswer => {
    const snapshot = { blocks: shelf.refs };
    if (job.type === 'list')
      return finished(writeAnswer(job, run(reader.list(snapshot, job.query))));
    if (job.type === 'fetch')
      return finished(writeAnswer(job, run(reader.fetch(snapshot, job.query))));
    if (job.type !== 'aggregate') throw new Error(`no such job here: ${job.type}`);
    return finished(writeAnswer(job, run(reader.aggregate(snapshot, job.query))));
  };
  const { answer, logged } = service({
    resolver: resolverOf(world),
    // Jobs cross threads.
    run: async (job) => answerOf(structuredClone(job)),
  });
  return async (path, body) => {
    const reply = await answer(request(path, { raw: body }));
    const [error] = logged;
    if (error !== undefined) throw error;
    return { status: reply.status, text: String(reply.body) };
  };
}

function resolverOf(world: World) {
  const { id: fieldId, path } = DECLARED_FIELD;
  const fields = new Map<string, FieldDefinition>([
    [fieldId, { id: fieldId, name: 'A', type: 'attribute', attribute: path }],
  ]);
  for (const set of world.tagsets.keys()) {
    const id = tagsetId(set);
    const tags = tagsOf(world, set).map((tag) => ({
      ...{ id: tag.id, name: tag.id.toUpperCase(), color: '#102030' },
      predicate: parseSearch(printSearch(tag.predicate)),
    }));
    fields.set(id, { id, name: `Set ${set}`, type: 'tagset', tags });
  }
  const metrics = new Map<string, MetricDefinition>();
  for (const [place, expression] of world.formulas.entries()) {
    const id = formulaId(place);
    metrics.set(id, { id, name: id, type: 'formula', formula: printFormula(expression) });
  }
  return {
    metricIds: () => [...metrics.keys()],
    field: (id: string) => fields.get(id),
    metric: (id: string) => metrics.get(id),
  };
}
