import { ask, Fault } from '../../api/client.ts';
import type { ListBody, ListResult } from '../../api/contract.ts';
import { type Json, printJson, textOf } from '../../api/exact.ts';
import { fullTime, whole as wholeNumber } from '../../base/format.ts';
import { filtersOf } from '../../base/question.ts';
import type { Range } from '../../base/range.ts';
import { session } from '../../base/session.ts';
import { exactnessOf, type Wholeness } from '../../parts/exactness.tsx';
import { valueAt } from '../../parts/log-text.tsx';
import { saveFile } from '../explore/export.ts';
import { curlOf } from './curl.ts';
import { type Bundle, type EventText, htmlOf } from './html.ts';

/** Events that are saved, and as many where they are so large that the service refuses more. */
const EVENTS_MAX = 1_000;
const EVENTS_LARGE = 50;
const MESSAGE_CHARACTERS = 500;

/** A view that is saved: the events of a question, and what else is shown. */
export interface SavedView extends Pick<Bundle, 'charts' | 'tables' | 'commands'> {
  readonly name: string;
  readonly query: string;
  readonly range: Range;
  readonly zone: string;
  /** Parts that the answers lack which are shown. */
  readonly whole: Wholeness;
}

/** Saves a view with its events as one page. Resolves with what went wrong, if anything did. */
export async function saveView(view: SavedView): Promise<string | undefined> {
  const { name, query, range, zone, charts, tables, commands } = view;
  const iso = (ms: number): string => new Date(ms).toISOString();
  const time = { from: iso(range.fromMs), to: iso(range.toMs), timezone: zone };
  const body = { time, filters: filtersOf(query), event: true, total: true };
  try {
    const found = await listOf(body);
    const { events, total = events.length } = found;
    const counts = exactnessOf(
      { ...view.whole, damaged: view.whole.damaged ?? found.damaged },
      zone,
    );
    const made = Date.now();
    const html = htmlOf({
      title: `${name}: ${query === '' ? 'all events' : query}`,
      facts: [
        ['Search', query === '' ? '*' : query],
        ['From', `${fullTime(range.fromMs, zone)} ${zone}`],
        ['To', `${fullTime(range.toMs, zone)} ${zone}`],
        [
          'Events',
          total > events.length
            ? `${wholeNumber(total)}, of which the newest ${wholeNumber(events.length)} are here`
            : wholeNumber(total),
        ],
        ['Numbers', counts],
        ['Saved', `${iso(made)} by ${session.peek()?.name ?? 'nobody'}, from ${location.origin}`],
      ],
      events: events.map((one) => eventOf(one, zone)),
      ...{ charts, tables, commands: [...commands, curlOf('/beta/events/list', body)] },
    });
    const stamp = iso(made).slice(0, 19).replaceAll(':', '');
    saveFile(new Blob([html], { type: 'text/html' }), `logseam-${stamp}.html`);
    return undefined;
  } catch (error) {
    return error instanceof Fault ? error.message : 'The page could not be made.';
  }
}

function listOf(body: ListBody): Promise<ListResult> {
  const ofSize = (limit: number): Promise<ListResult> =>
    ask<ListResult>('/beta/events/list', { ...body, limit });
  return ofSize(EVENTS_MAX).catch((error: unknown) => {
    if (error instanceof Fault && error.message.includes('query_memory_mb')) {
      return ofSize(EVENTS_LARGE);
    }
    throw error;
  });
}

function eventOf({ date, event }: ListResult['events'][number], zone: string): EventText {
  const value = event as Json | undefined;
  const message = textOf(valueAt(value, 'message')).slice(0, MESSAGE_CHARACTERS);
  return {
    date: fullTime(Date.parse(date), zone),
    message,
    event: printJson(value ?? null, 2),
  };
}
