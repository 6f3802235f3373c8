import type { Units } from '../../../engine/base/pause.ts';
import type { Bound, ListedEvent, PageResult } from '../../../engine/engine.ts';
import { isoIn, type Zone } from '../../language/zone.ts';
import type { ExportFormat, QueryJob } from '../job.ts';
import type { AnswerPieces, AnswerWriter } from './answer-writer.ts';
import { CSV_LINE_END, textCell, valueCell } from './csv.ts';
import { eventText } from './event-text.ts';

const decoder = new TextDecoder();

/** Head in front of the text of a page. */
export interface PageHead {
  /** Events of the page. */
  count: number;
  /** Id after which the next page begins; left out behind the last one. */
  resume?: string;
  /** Names of the blocks that could not be read. */
  damaged?: string[];
  /** Left out when all events of the range are reached. */
  bound?: PageBound;
}

/** Bound of a page, its date a text in the asked zone. */
export interface PageBound {
  limit: number;
  from: string;
  oldestId: string;
}

/** A part of an export: what it says of itself, and its lines, in UTF-8, in pieces. */
export interface ExportPage {
  head: PageHead;
  pieces: AnswerPieces;
}

/** Writes a page of an export in units: a piece that is its head, as JSON, and the lines of its events. */
export function* writePage(
  writer: AnswerWriter,
  job: Extract<QueryJob, { type: 'export' }>,
  result: PageResult,
  zone: Zone,
): Units<void> {
  const { events, resume, damaged, bound } = result;
  const head: PageHead = {
    count: events.length,
    ...(resume === undefined ? {} : { resume }),
    ...(damaged.length === 0 ? {} : { damaged }),
    ...(bound === undefined ? {} : { bound: boundIn(zone, bound) }),
  };
  const { format, query } = job;
  const withColumns = query.columns.length > 0;
  const textOf = (event: ListedEvent): string =>
    format.type === 'csv'
      ? csvLine(event, format.safe, zone)
      : `${eventText(event, withColumns, zone)}\n`;
  writer.add(JSON.stringify(head));
  writer.endPiece();
  yield* writer.addEach(events, textOf, '');
}

/** Reads what `writePage` wrote. */
export function readPage([head, ...pieces]: AnswerPieces): ExportPage {
  return { head: JSON.parse(decoder.decode(head)) as PageHead, pieces };
}

/** Text above the events: for CSV the names of the columns. */
export function exportHeader(format: ExportFormat, names: readonly string[]): string {
  if (format.type === 'ndjson') return '';
  const cells = ['id', 'date', ...names].map((name) => textCell(name, format.safe));
  return cells.join(',') + CSV_LINE_END;
}

function boundIn(zone: Zone, { limit, oldestMs, oldestId }: Bound): PageBound {
  return { limit, from: isoIn(zone, oldestMs), oldestId };
}

function csvLine(event: ListedEvent, safe: boolean, zone: Zone): string {
  let line = `${textCell(event.id, safe)},${isoIn(zone, event.timeMs)}`;
  for (const column of event.columns) line += `,${valueCell(column, safe)}`;
  return line + CSV_LINE_END;
}
