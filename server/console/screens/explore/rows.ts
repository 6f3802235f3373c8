import { signal } from '@preact/signals';
import { ask, Fault } from '../../api/client.ts';
import type { ListBody, ListedEvent, ListResult } from '../../api/contract.ts';

/** Events of a page, and of one where events are so large that the service refuses more. */
const PAGE_ROWS = 100;
const PAGE_ROWS_LARGE = 10;
/** Events that can be left out before a page of a list that is not by date. Source: INTERFACE.md 4.6. */
const SKIP_MAX = 100_000;
const PAGES_KEPT = 40;
const PAGES_KEPT_LARGE = 12;
const LOADS_MAX = 2;
const LIST_PATH = '/beta/events/list';
/** Pages that pass within that are not loaded: one scrolls to others. */
const PASSING_MS = 60;

/** A list with the first page of it. */
export interface BegunList {
  /** The request of the list, without `skip`. */
  readonly body: ListBody;
  readonly first: ListResult;
}

/** Asks for the first page of a list. Rejects as `ask` does. */
export async function beginList(list: ListBody, signal: AbortSignal): Promise<BegunList> {
  const load = async (limit: number): Promise<BegunList> => {
    const body = { ...list, limit };
    return { body, first: await ask<ListResult>(LIST_PATH, body, signal) };
  };
  return load(PAGE_ROWS).catch((error: unknown) => {
    if (isTooLarge(error)) return load(PAGE_ROWS_LARGE);
    throw error;
  });
}

/** Reports whether an answer was refused because its events are too large. */
function isTooLarge(error: unknown): boolean {
  return error instanceof Fault && error.message.includes('query_memory_mb');
}

/** Rows of a list, loaded in pages as they are looked at. A new list has a table of its own. */
export class Rows {
  /** Counts changes of what is there. */
  readonly version = signal(0);
  readonly fault = signal<Fault | undefined>(undefined);
  /** Rows of the whole list, as its first page told. */
  readonly total: number;
  readonly #body: ListBody;
  #pageRows: number;
  readonly #pages = new Map<number, readonly ListedEvent[]>();
  readonly #loading = new Map<number, AbortController>();
  #wanted: number[] = [];
  /** Pages that were needed last, and since when. */
  #needed = '';
  #neededMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ body, first }: BegunList) {
    this.#body = body;
    this.#pageRows = body.limit ?? PAGE_ROWS;
    this.total = first.total ?? first.events.length;
    this.#pages.set(0, first.events);
  }

  /** Rows that can be looked at. */
  get reachable(): number {
    return this.#body.orderBy === undefined
      ? this.total
      : Math.min(this.total, SKIP_MAX + PAGE_ROWS_LARGE);
  }

  /** The event of a row; `undefined` when it is not loaded. */
  at(row: number): ListedEvent | undefined {
    return this.#pages.get(this.#pageOf(row))?.[row % this.#pageRows];
  }

  /** Loads the pages of these rows, before others that were wanted. */
  need(from: number, to: number): void {
    const pages: number[] = [];
    const last = this.#pageOf(Math.min(to, this.reachable - 1));
    for (let page = this.#pageOf(Math.max(0, from)); page <= last; page++) {
      if (!this.#pages.has(page)) pages.push(page);
    }
    for (const [page, abort] of this.#loading) {
      if (pages.includes(page)) continue;
      abort.abort();
      this.#loading.delete(page);
    }
    const needed = pages.join();
    if (needed === this.#needed) return;
    const isPassing = performance.now() - this.#neededMs < PASSING_MS;
    this.#needed = needed;
    this.#neededMs = performance.now();
    this.#wanted = [];
    clearTimeout(this.#timer);
    const load = (): void => {
      this.#wanted = pages.filter((page) => !this.#loading.has(page));
      this.#next();
    };
    if (isPassing) this.#timer = setTimeout(load, PASSING_MS);
    else load();
  }

  /** Ends what is loading. */
  close(): void {
    this.#wanted = [];
    clearTimeout(this.#timer);
    for (const abort of this.#loading.values()) abort.abort();
    this.#loading.clear();
  }

  #next(): void {
    while (this.#loading.size < LOADS_MAX) {
      const page = this.#wanted.shift();
      if (page === undefined) return;
      void this.#load(page);
    }
  }

  async #load(page: number): Promise<void> {
    const abort = new AbortController();
    this.#loading.set(page, abort);
    const [skip, limit] = [page * this.#pageRows, this.#pageRows];
    const body = { ...this.#body, skip, limit, total: false, explain: false };
    try {
      const { events } = await ask<ListResult>(LIST_PATH, body, abort.signal);
      if (abort.signal.aborted) return;
      this.#keep(page, events);
      this.fault.value = undefined;
    } catch (error) {
      if (abort.signal.aborted) return;
      this.#needed = '';
      if (isTooLarge(error) && limit > PAGE_ROWS_LARGE) this.#shortenPages();
      else if (error instanceof Fault) this.fault.value = error;
    } finally {
      if (this.#loading.get(page) === abort) this.#loading.delete(page);
      this.#next();
    }
  }

  #pageOf(row: number): number {
    return Math.floor(row / this.#pageRows);
  }

  /** Begins anew with pages that large events fit into. */
  #shortenPages(): void {
    this.close();
    this.#pages.clear();
    this.#pageRows = PAGE_ROWS_LARGE;
    this.version.value++;
  }

  #keep(page: number, events: readonly ListedEvent[]): void {
    const most = this.#pageRows === PAGE_ROWS ? PAGES_KEPT : PAGES_KEPT_LARGE;
    this.#pages.set(page, events);
    for (const other of this.#pages.keys()) {
      if (this.#pages.size <= most) break;
      if (Math.abs(other - page) > most / 2) this.#pages.delete(other);
    }
    this.version.value++;
  }
}
