import { join } from 'node:path';
import { startService } from '../../../test/support/service.ts';
import { workingTree } from '../../report/origin.ts';
import { CHANNELS } from '../../workload/channel.ts';
import { ASKED, awaitSealed } from '../../workload/ingestion.ts';
import {
  type Answer,
  type Cell,
  type Part,
  type Peer,
  type Row,
  timed,
  wordsFor,
} from '../peer.ts';
import { EVENT_COLUMNS } from '../questions.ts';
import { type ApiRequest, QUERIES } from './logseam.queries.ts';
import { bodiesOf } from './part.ts';
import { askApi } from './post.ts';

/** Logseam itself: a service of this checkout in a process of its own, asked over HTTP. */

/** Starts a service with its data in `folder`. */
export async function openPeer(folder: string): Promise<Peer> {
  const service = await startService(join(folder, 'data'), ASKED);
  return {
    version: workingTree(),
    settings: ASKED,
    pid: service.pid,
    load: async (part: Part) => {
      const { bodyBytes, send } = CHANNELS.http;
      const bodies = bodiesOf(part, bodyBytes);
      return timed(() => send(service, bodies));
    },
    settle: (events: number) => awaitSealed(service, events),
    ask: async (question, parameters) => {
      const { path, body } = wordsFor<ApiRequest>(QUERIES, question, parameters);
      const started = performance.now();
      const text = await askApi(service, path, body);
      const ms = performance.now() - started;
      return { rows: rowsOf(JSON.parse(text)), ms } satisfies Answer;
    },
    close: async () => {
      await service.stop();
    },
  };
}

/** A reply of the API: one of the three is there. */
interface Reply {
  result: {
    events?: { date: string; event: { message?: string; custom: Nested } }[];
    aggregates?: { bucket: Record<string, Cell>; values: Record<string, Cell> }[];
    attributes?: { attribute: string; events: number; distinct?: number }[];
    facets?: { field: string; values: { value: Cell; count: number }[] }[];
  };
}
type Nested = { [name: string]: Cell | Nested };

function rowsOf({ result }: Reply): Row[] {
  const { events, aggregates, attributes, facets } = result;
  if (events !== undefined) return events.map(eventRow);
  if (facets !== undefined) return facets.flatMap(facetRows);
  if (attributes !== undefined)
    return attributes.map(({ attribute, events, distinct }) => {
      const name = attribute.replace(/^custom\./, '');
      return distinct === undefined ? [name, events] : [name, events, distinct];
    });
  return (aggregates ?? []).map(({ bucket, values }) => [
    ...Object.entries(bucket).map(([name, value]) =>
      name === 'time' ? Date.parse(String(value)) : value,
    ),
    ...Object.values(values),
  ]);
}

function facetRows({ field, values }: { field: string; values: { value: Cell; count: number }[] }) {
  const name = field.replace(/^custom\./, '');
  return values.map(({ value, count }): Row => [name, String(value), count]);
}

function eventRow({
  date,
  event,
}: {
  date: string;
  event: { message?: string; custom: Nested };
}): Row {
  return EVENT_COLUMNS.map((column) => {
    if (column === 'time') return Date.parse(date);
    if (column === 'message') return event.message ?? null;
    return valueAt(event.custom, column.split('.'));
  });
}

function valueAt(object: Nested, path: string[]): Cell {
  const [first, ...rest] = path;
  const value = object[first] ?? null;
  if (rest.length === 0) return typeof value === 'object' ? null : value;
  return value !== null && typeof value === 'object' ? valueAt(value, rest) : null;
}
