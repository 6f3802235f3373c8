import { must } from '../../../engine/base/assert.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import type { PageQuery } from '../../../engine/engine.ts';
import { allOf } from '../../language/filter.ts';
import { shown } from '../../language/shown.ts';
import type { AnswerPieces } from '../../query/answer/answer-writer.ts';
import {
  type ExportPage,
  exportHeader,
  type PageBound,
  readPage,
} from '../../query/answer/export-page.ts';
import type { ExportFormat, QueryJob } from '../../query/job.ts';
import { QueryRefused } from '../../query/refusal.ts';
import { columnsOf } from '../columns.ts';
import { ApiError, type Reply, type ReplySink } from '../reply.ts';
import type { ReadContext } from '../route.ts';
import { type ColumnsBody, checkExportBody, type ExportBody } from '../schema.ts';
import { boundOf, predicateOf, rangeOf } from '../selection.ts';

/** Events of a page at most: a few milliseconds of work and a few MB of memory, so that a key is not kept waiting. */
const PAGE_EVENTS_MAX = 2_000;
const PAGE_TEXT_MAX = 512 * 1024;
/** Blocks that a page opens at most, so that one that finds little ends too. */
const PAGE_BLOCKS_MAX = 128;
/** Number of attempts at a page that was refused for a passing reason, and the pause between them. */
const RETRIES_MAX = 10;
const RETRY_MS = 1_000;
/** Columns of CSV when none are asked for. */
const CSV_COLUMNS: ColumnsBody = [{ attribute: 'message' }];
const EXPOSED_HEADERS = 'content-disposition, x-logseam-damaged, x-logseam-bound';

/** Missing events, in the form of other replies. */
interface Missing {
  damaged?: { blocks: number };
  bound?: { limit: number; reached: true; from: string };
}

type ExportJob = Extract<QueryJob, { type: 'export' }>;

/**
 * `POST /beta/events/export`: all events of a selection as NDJSON or CSV. Each page is a query of its own, and the next
 * one is asked for when the client has taken most of what came before: so nothing grows with the length of an export.
 */
export async function exportEvents(context: ReadContext): Promise<Reply> {
  const body = checkExportBody(context.body);
  const format = formatOf(body);
  const columns = columnsAsked(body);
  const { fromMs, toMs, zone } = rangeOf(body.time, context.nowMs);
  const pages = new Pages(context, body, {
    type: 'export',
    query: {
      fromMs,
      toMs,
      predicate: predicateOf(body.filters ?? [], { type: 'all' }, context.resolver),
      order: body.order === 'asc' ? 'asc' : 'desc',
      limit: PAGE_EVENTS_MAX,
      event: columns.length === 0,
      columns: columnsOf(columns, context.resolver),
      textMax: PAGE_TEXT_MAX,
      blocksMax: PAGE_BLOCKS_MAX,
    },
    zone: zone.name,
    format,
  });
  const first = await pages.first();
  const names = columns.map(({ attribute, field, metric }) => attribute ?? field ?? metric ?? '');
  const header = exportHeader(format, names);
  return {
    status: 200,
    body: '',
    stream: (sink) => pages.write(sink, header, first),
    contentType: format.type === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
    headers: {
      'content-disposition': `attachment; filename="${fileName(fromMs, toMs, format)}"`,
      'access-control-expose-headers': EXPOSED_HEADERS,
      ...pages.warnings(),
    },
  };
}

/** The pages of an export, one after the other. */
class Pages {
  readonly #context: ReadContext;
  readonly #body: ExportBody;
  /** Job that all pages share; the key's filter and the place come with each page. */
  readonly #job: ExportJob;
  readonly #damaged = new Set<string>();
  /** Reach of the pages: the first one finds it for all. */
  #reach: Pick<PageQuery, 'boundCount' | 'visible' | 'oldestId'>;
  #bound: PageBound | undefined;
  /** Events that may still come. */
  #left: number;

  constructor(context: ReadContext, body: ExportBody, job: ExportJob) {
    this.#context = context;
    this.#body = body;
    this.#job = job;
    this.#left = body.limit ?? Infinity;
    this.#reach = boundOf(job.query, context.boundEvents, context.key.filter);
  }

  /** The first page. Rejects with what the client is to be told instead of it. */
  async first(): Promise<ExportPage> {
    const { afterEvent } = this.#body;
    try {
      const page = await this.#page(afterEvent, 0);
      this.#bound = page.head.bound;
      this.#reach = this.#bound === undefined ? {} : { oldestId: this.#bound.oldestId };
      return page;
    } catch (error) {
      const isUsage = error instanceof EngineError && error.code === 'USAGE';
      if (afterEvent === undefined || !isUsage) throw error;
      const allowed = 'allowed: the id of an event';
      throw new ApiError(400, `afterEvent ${shown(afterEvent)} is malformed; ${allowed}`);
    }
  }

  /** Missing events that are known at the start. */
  warnings(): Record<string, string> {
    const { damaged, bound } = this.#missing();
    return {
      ...(damaged === undefined ? {} : { 'x-logseam-damaged': JSON.stringify(damaged) }),
      ...(bound === undefined ? {} : { 'x-logseam-bound': JSON.stringify(bound) }),
    };
  }

  /** Writes `header`, the `first` page and all that follow it, and at the end of NDJSON what is missing. */
  async write(sink: ReplySink, header: string, first: ExportPage): Promise<void> {
    // An empty part would end the reply.
    if (header !== '') await sink.write(header);
    let page = first;
    for (;;) {
      for (const piece of page.pieces) await sink.write(piece);
      const { resume } = page.head;
      if (resume === undefined || this.#left <= 0) break;
      page = await this.#page(resume, RETRIES_MAX);
    }
    const missing = this.#missing();
    if (this.#job.format.type === 'ndjson' && Object.keys(missing).length > 0) {
      await sink.write(`${JSON.stringify(missing)}\n`);
    }
  }

  /** Missing events that are known by now. */
  #missing(): Missing {
    const { size } = this.#damaged;
    return {
      ...(size === 0 ? {} : { damaged: { blocks: size } }),
      ...(this.#bound === undefined
        ? {}
        : { bound: { limit: this.#bound.limit, reached: true, from: this.#bound.from } }),
    };
  }

  async #page(after: string | undefined, retries: number): Promise<ExportPage> {
    const page = readPage(await this.#answer(after, retries));
    this.#left -= page.head.count;
    for (const name of page.head.damaged ?? []) this.#damaged.add(name);
    const mayBePartial = this.#job.format.type === 'ndjson' || this.#body.partial === true;
    if (this.#damaged.size > 0 && !mayBePartial) {
      throw new ApiError(
        500,
        `${this.#damaged.size} blocks are damaged, and CSV cannot tell that their events are missing; ` +
          'allowed: partial true, or format "ndjson"',
      );
    }
    return page;
  }

  /** Asks for a page; again when it was refused and `retries` are left. */
  async #answer(after: string | undefined, retries: number): Promise<AnswerPieces> {
    for (let left = retries; ; left--) {
      try {
        return must(await this.#context.run(this.#jobOf(after)), 'answer of an export');
      } catch (error) {
        if (left <= 0 || !isPassing(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** The job of the page behind `after`, with what the key may see now. */
  #jobOf(after: string | undefined): ExportJob {
    const { query } = this.#job;
    const predicate = allOf([this.#context.currentKey().filter, query.predicate]);
    const limit = Math.min(PAGE_EVENTS_MAX, this.#left);
    const place = after === undefined ? {} : { after };
    return { ...this.#job, query: { ...query, ...this.#reach, ...place, predicate, limit } };
  }
}

/** Recognises a refusal whose cause may be over a moment later. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof QueryRefused)) return false;
  return error.reason === 'queue_full' || error.reason === 'worker_died';
}

function formatOf({ format, safe }: ExportBody): ExportFormat {
  if (format === 'csv') return { type: 'csv', safe: safe ?? false };
  if (safe === true)
    throw new ApiError(400, 'safe true is not allowed; allowed: with format "csv"');
  return { type: 'ndjson' };
}

/** None: whole events. */
function columnsAsked({ columns = [], format }: ExportBody): ColumnsBody {
  return columns.length === 0 && format === 'csv' ? CSV_COLUMNS : columns;
}

function fileName(fromMs: number, toMs: number, format: ExportFormat): string {
  const [from, to] = [fromMs, toMs].map((ms) =>
    new Date(ms).toISOString().replaceAll(/[:.]/g, '-'),
  );
  return `events_${from}_${to}.${format.type}`;
}
