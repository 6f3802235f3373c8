import { signal } from '@preact/signals';
import { Fault, send } from '../../api/client.ts';
import type { ListedEvent } from '../../api/contract.ts';
import { parseExact } from '../../api/exact.ts';
import { filtersOf } from '../../base/question.ts';
import { findSession } from '../../base/session.ts';
import { STATUS } from '../../base/status.ts';

import type { RowSource } from './reading.ts';

/** Events that are kept, the newest ones. */
const KEPT_MAX = 5_000;
const PER_SECOND_MAX = 500;
/** The screen takes what came in so many times a second. */
const DRAW_MS = 150;
/** The service says something every 5 seconds. */
const SILENCE_MS = 12_000;
const PAUSE_FIRST_MS = 500;
const PAUSE_MAX_MS = 8_000;

/** State of the connection. */
export type LiveState = 'connecting' | 'open' | 'waiting' | 'ended';

/** Events as they come in, newest first. What one reads never moves: new ones wait while it is held. */
export class LiveTail implements RowSource {
  readonly state = signal<LiveState>('connecting');
  /** Why it waits or has ended. */
  readonly reason = signal('');
  /** Counts changes of the rows. */
  readonly version = signal(0);
  /** Events that wait to be shown. */
  readonly waiting = signal(0);
  /** Events that were left out. */
  readonly dropped = signal(0);
  /** The date before which an unknown number was missed. */
  readonly missed = signal<string | undefined>(undefined);
  #rows: ListedEvent[] = [];
  #new: ListedEvent[] = [];
  #isHeld = false;
  #token: string | undefined;
  #drawing: ReturnType<typeof setTimeout> | undefined;
  readonly #abort = new AbortController();

  /** Follows the events that a search finds, until `close`. */
  constructor(query: string, zone: string) {
    void this.#run({ filters: filtersOf(query), timezone: zone });
  }

  get count(): number {
    return this.#rows.length;
  }

  get total(): number {
    return this.#rows.length;
  }

  at(row: number): ListedEvent | undefined {
    return this.#rows[row];
  }

  /** Holds what is shown, or lets go. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld) this.#draw();
  }

  /** Ends it. */
  close(): void {
    this.#abort.abort();
    clearTimeout(this.#drawing);
  }

  /** Connects, and again whenever the connection is lost, behind the last event. */
  async #run(base: object): Promise<void> {
    let pauseMs = PAUSE_FIRST_MS;
    while (!this.#abort.signal.aborted) {
      const began = Date.now();
      const isOver = await this.#follow(base).catch((error: unknown) => this.#failed(error));
      if (isOver || this.#abort.signal.aborted) return;
      this.state.value = 'waiting';
      if (Date.now() - began > PAUSE_MAX_MS) pauseMs = PAUSE_FIRST_MS;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
    }
  }

  /** Takes a failure; true when there is no use in trying again. */
  #failed(error: unknown): boolean {
    const isRefused = error instanceof Fault && error.status >= 400 && error.status < 500;
    if (isRefused && this.#token !== undefined && error.status === 400) this.#token = undefined;
    else if (isRefused && error.status !== 429) {
      this.state.value = 'ended';
      this.reason.value = error.message;
      return true;
    }
    this.reason.value = error instanceof Fault ? error.message : 'the connection was lost';
    return false;
  }

  /** Follows one connection to its end; true when it is not to be made again. */
  async #follow(base: object): Promise<boolean> {
    const silence = new AbortController();
    const signal = AbortSignal.any([this.#abort.signal, silence.signal]);
    const body = {
      ...{ ...base, event: true, columns: [{ field: STATUS }], limit_per_second: PER_SECOND_MAX },
      ...(this.#token === undefined ? {} : { last_event_id: this.#token }),
    };
    const response = await send('POST', '/beta/events/tail', body, signal);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    this.state.value = 'open';
    this.reason.value = '';
    let rest = '';
    for (;;) {
      const timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const part = await reader?.read().finally(() => clearTimeout(timer));
      if (part === undefined || part.done) return false;
      const messages = (rest + part.value).split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages) if (this.#take(message)) return true;
    }
  }

  /** Takes a server-sent event; true when it is the end. */
  #take(message: string): boolean {
    const fields = new Map<string, string>();
    for (const line of message.split('\n')) {
      const at = line.indexOf(':');
      if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).trimStart());
    }
    const id = fields.get('id');
    if (id !== undefined) this.#token = id;
    const data = fields.get('data');
    if (data === undefined) return false;
    const kind = fields.get('event') ?? 'message';
    if (kind === 'message') this.#add(parseExact(data) as ListedEvent);
    else if (kind === 'dropped')
      this.#noteDropped(JSON.parse(data) as { count?: number; before?: string });
    else if (kind === 'end') return this.#ended((JSON.parse(data) as { reason: string }).reason);
    return false;
  }

  #noteDropped({ count, before }: { count?: number; before?: string }): void {
    if (count !== undefined) this.dropped.value += count;
    if (before !== undefined) this.missed.value = before;
  }

  #ended(reason: string): boolean {
    if (reason === 'stopping') {
      this.reason.value = 'the service is stopping';
      return false;
    }
    this.state.value = 'ended';
    this.reason.value =
      reason === 'key_deleted' ? 'the key was deleted' : 'the security filter has changed';
    // A session that is over ends so too: then the login is shown.
    void findSession().catch(() => undefined);
    return true;
  }

  #add(event: ListedEvent): void {
    this.#new.push(event);
    if (this.#new.length > KEPT_MAX) {
      this.dropped.value += this.#new.length - KEPT_MAX;
      this.#new = this.#new.slice(-KEPT_MAX);
    }
    this.#drawing ??= setTimeout(() => {
      this.#drawing = undefined;
      this.#draw();
    }, DRAW_MS);
  }

  #draw(): void {
    if (this.#isHeld) {
      this.waiting.value = this.#new.length;
      return;
    }
    this.waiting.value = 0;
    if (this.#new.length === 0) return;
    this.#rows = [...this.#new.reverse(), ...this.#rows].slice(0, KEPT_MAX);
    this.#new = [];
    this.version.value++;
  }
}
