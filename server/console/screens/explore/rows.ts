import { signal } from '@preact/signals';
import { ask, Fault } from '../../api/client.ts';
import type { ListBody, ListedEvent, ListResult } from '../../api/contract.ts';

/** Events of a page. */
export const PAGE_ROWS = 100;
/** Events that can be left out before a page of a list that is not by date. Source: INTERFACE.md 4.6. */
const SKIP_MAX = 100_000;
const PAGES_KEPT = 40;
const LOADS_MAX = 2;
/** Pages that pass within that are not loaded: one scrolls to others. */
const PASSING_MS = 60;

/** Rows of a list, loaded in pages as they are looked at. A new list has a table of its own. */
export class Rows {
  /** Counts changes of what is there. */
  readonly version = signal(0);
  readonly fault = signal<Fault | undefined>(undefined);
  /** Rows of the whole list, as its first page told. */
  readonly total: number;
  readonly #body: ListBody;
  readonly #pages = new Map<number, readonly ListedEvent[]>();
  readonly #loading = new Map<number, AbortController>();
  #wanted: number[] = [];
  /** Pages that were needed last, and since when. */
  #needed = '';
  #neededMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `body` asks for the list without `skip`; `first` is its first page. */
  constructor(body: ListBody, first: ListResult) {
    this.#body = body;
    this.total = first.total ?? first.events.length;
    this.#pages.set(0, first.events);
  }

  /** Rows that can be looked at. */
  get reachable(): number {
    return this.#body.orderBy === undefined
      ? this.total
      : Math.min(this.total, SKIP_MAX + PAGE_ROWS);
  }

  /** The event of a row; `undefined` when it is not loaded. */
  at(row: number): ListedEvent | undefined {
    return this.#pages.get(Math.floor(row / PAGE_ROWS))?.[row % PAGE_ROWS];
  }

  /** The row of an event, among those that are loaded. */
  rowOf(id: string): number | undefined {
    for (const [page, events] of this.#pages) {
      const at = events.findIndex((event) => event.id === id);
      if (at >= 0) return page * PAGE_ROWS + at;
    }
    return undefined;
  }

  /** Loads the pages of these rows, before others that were wanted. */
  need(from: number, to: number): void {
    const pages: number[] = [];
    const last = Math.min(Math.floor(to / PAGE_ROWS), Math.floor((this.reachable - 1) / PAGE_ROWS));
    for (let page = Math.max(0, Math.floor(from / PAGE_ROWS)); page <= last; page++) {
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
    const body = { ...this.#body, skip: page * PAGE_ROWS, total: false, explain: false };
    try {
      const { events } = await ask<ListResult>('/beta/events/list', body, abort.signal);
      this.#keep(page, events);
      this.fault.value = undefined;
    } catch (error) {
      if (abort.signal.aborted) return;
      if (error instanceof Fault) this.fault.value = error;
      this.#needed = '';
    } finally {
      if (this.#loading.get(page) === abort) this.#loading.delete(page);
      this.#next();
    }
  }

  #keep(page: number, events: readonly ListedEvent[]): void {
    this.#pages.set(page, events);
    for (const other of this.#pages.keys()) {
      if (this.#pages.size <= PAGES_KEPT) break;
      if (Math.abs(other - page) > PAGES_KEPT / 2) this.#pages.delete(other);
    }
    this.version.value++;
  }
}
