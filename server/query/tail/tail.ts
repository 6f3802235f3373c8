import type { BlockChanges, ListColumn, Snapshot } from '../../../engine/engine.ts';
import type { Predicate } from '../../../engine/query/model/predicate.ts';
import type { TailAnswer, TailJob } from '../job.ts';
import { QueryRefused } from '../refusal.ts';
import { droppedText } from './tail-answer.ts';
import type { TailPlace, TailTokens } from './tail-token.ts';

/** Jobs of a tail begin so far apart, that a busy service is not read block by block. */
const JOB_EVERY_MS = 100;
/** The HTTP library cuts a connection on which nothing is written for 10 s. */
const HEARTBEAT_MS = 5_000;
/** Number of attempts at a job that was refused for a passing reason, and the pause between them. */
const RETRIES_MAX = 10;
const RETRY_MS = 1_000;
/** Events that one job gives, and that a tail holds for a client that does not read. */
const PART_EVENTS_MAX = 500;
const PART_CHARACTERS_MAX = 2 ** 19;
/** Events that a resumed tail gets of those that came meanwhile, and how far back they go. */
const MISSED_EVENTS_MAX = 10_000;
const MISSED_MS = 3_600_000;
/** Time by which clocks may be set without missing sealed events. */
const CLOCK_MS = 300_000;
/** A comment, which pushes what was kept back on its way. */
const COMMENT = ':\n\n';
/** Time that a browser waits before it connects again. */
const RECONNECT_MS = 2_000;

/** Tails' view of the committed blocks; the catalog gives it. */
export interface TailBlocks {
  /** Number of the state of this moment. */
  readonly version: number;
  /** The sequence above all rows that were ever visible; those that come later have it or higher ones. */
  readonly end: number;
  /** Changes from the state of number `since` to this one: see `Catalog.changes`. */
  changes(since: number | undefined): BlockChanges | undefined;
  /** Calls `changed` after each change. */
  watch(changed: () => void): void;
}

/** Sources of tails. */
export interface TailSources {
  blocks: TailBlocks;
  /** When a sealed segment was sealed; `undefined` for one that is gone. */
  sealedMs(segment: number): number | undefined;
  tokens: TailTokens;
  /** Runs a job in a query worker. Rejects as the query pool does. */
  run(job: TailJob, signal: AbortSignal, key: string): Promise<TailAnswer>;
  nowMs(): number;
}

/** Why a tail ends, in the words of its last event. */
export type TailEnd = 'stopping' | 'key_deleted' | 'filter_changed';

/** Stream to which a tail is written. */
export interface TailStream {
  /**
   * Resolves when the next part may come, and says whether the client was behind: then the end of the part may be kept
   * back until more is written. Rejects when the client is gone.
   */
  write(part: string): Promise<boolean>;
}

/** Request for a tail. */
export interface TailRequest {
  /** Id of the read key. */
  key: string;
  predicate: Predicate;
  event: boolean;
  columns: ListColumn[];
  /** Zone of dates. */
  zone: string;
  /** Events that are shown in a second, at least 1. */
  perSecondMax: number;
  /** Place at which it goes on; from now when left out. */
  place?: TailPlace;
  /** Why it may not go on, `undefined` while it may. Asked again and again. */
  refusal(): TailEnd | undefined;
  /** Aborted when the client goes away. */
  signal: AbortSignal;
}

/**
 * A live tail. One job at a time asks a query worker for the events that were committed since the last one, and the
 * next begins when the client has taken them. So nothing is queued for a slow client: the job counts the events that
 * are too many for it, or for a second. Owned by the front thread.
 */
export class Tail {
  readonly #sources: TailSources;
  readonly #request: TailRequest;
  /** Position below which all sequences were told. */
  #position: number;
  /** State of the blocks, and a time, at which all that was visible lay before the position. */
  #version: number | undefined;
  #placeMs: number;
  /** Missed events that may still come; `undefined` when the tail is live. */
  #missedLeft: number | undefined;
  #missedFromMs = Number.NEGATIVE_INFINITY;
  /** Events that may come now by `perSecondMax`, at `#allowedMs`. */
  #allowance: number;
  #allowedMs: number;
  #parts: string[] = [];
  #isRunning = false;
  /** Set when the last look found nothing to tell. */
  #isIdle = false;
  #notBeforeMs = 0;
  #retries = 0;
  #writtenMs = 0;
  #wake: () => void = () => {};
  #failure: { error: unknown } | undefined;
  #end: TailEnd | undefined;
  readonly #ended = Promise.withResolvers<void>();
  readonly #abort = new AbortController();

  constructor(sources: TailSources, request: TailRequest) {
    this.#sources = sources;
    this.#request = request;
    this.#allowance = request.perSecondMax;
    this.#allowedMs = performance.now();
    const { blocks } = sources;
    const nowMs = sources.nowMs();
    const { place } = request;
    if (place === undefined) {
      this.#position = blocks.end;
      this.#version = blocks.version;
      this.#placeMs = nowMs;
      return;
    }
    // That of a token is beyond the end when an older copy of the folder was put in place.
    this.#position = Math.min(place.position, blocks.end);
    this.#placeMs = Math.min(place.timeMs, nowMs);
    this.#missedLeft = MISSED_EVENTS_MAX;
    this.#missedFromMs = nowMs - MISSED_MS;
    // Whether anything came before is not looked at: that would tell of events that are hidden.
    if (this.#placeMs >= this.#missedFromMs) return;
    const before = new Date(this.#missedFromMs).toISOString();
    this.#parts.push(droppedText(this.#token(), { before }));
  }

  /** Writes the tail until it ends. Rejects when the client goes away, or with what made a job fail. */
  async stream(sink: TailStream): Promise<void> {
    const { signal } = this.#request;
    const gone = (): void => this.#stop();
    signal.addEventListener('abort', gone);
    if (signal.aborted) gone();
    this.#parts.unshift(`retry: ${RECONNECT_MS}\nid: ${this.#token()}\n\n`);
    try {
      while (!this.#abort.signal.aborted) {
        const part = this.#parts.shift() ?? this.#heartbeat();
        if (part !== undefined) await this.#write(sink, part);
        else await this.#woken(this.#begin());
      }
      if (this.#failure !== undefined) throw this.#failure.error;
      // Not waited for: the client may not be reading.
      if (this.#end !== undefined && !signal.aborted)
        sink.write(endText(this.#end)).catch(() => {});
    } finally {
      signal.removeEventListener('abort', gone);
      this.#stop();
    }
  }

  /** Something was committed, or sealed. */
  committed(): void {
    if (this.#isIdle) this.#wake();
  }

  /** Ends the tail when it may not go on. */
  check(): void {
    const reason = this.#request.refusal();
    if (reason !== undefined) this.end(reason);
  }

  /** Ends the tail and tells the client why. */
  end(reason: TailEnd): void {
    this.#end ??= reason;
    this.#stop();
  }

  #stop(): void {
    this.#abort.abort();
    this.#ended.resolve();
    this.#wake();
  }

  /** Resolves when the client may be given more, or the tail is at its end. */
  async #write(sink: TailStream, part: string): Promise<void> {
    this.#writtenMs = performance.now();
    const wasBehind = await Promise.race([sink.write(part), this.#ended.promise]);
    if (wasBehind === true && this.#parts.length === 0) this.#parts.push(COMMENT);
  }

  /** A comment with the token of this place, when it is time for one. */
  #heartbeat(): string | undefined {
    if (performance.now() - this.#writtenMs < HEARTBEAT_MS) return undefined;
    return `:\nid: ${this.#token()}\n\n`;
  }

  #woken(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#abort.signal.aborted) this.#wake();
    });
  }

  /** Begins a job when it is time for one; the time until something is to be done, unless something happens. */
  #begin(): number {
    const nowMs = performance.now();
    const heartbeatMs = Math.max(this.#writtenMs + HEARTBEAT_MS - nowMs, 0);
    this.#isIdle = false;
    if (this.#isRunning) return heartbeatMs;
    if (!this.#hasNews()) {
      this.#rest();
      return heartbeatMs;
    }
    this.#allow(nowMs);
    const missing = this.#missedLeft === undefined ? 1 - this.#allowance : 0;
    const allowedMs = nowMs + (missing * 1_000) / this.#request.perSecondMax;
    const dueMs = Math.max(this.#notBeforeMs, allowedMs) - nowMs;
    if (dueMs > 0) return Math.min(Math.ceil(dueMs), heartbeatMs);
    this.#notBeforeMs = nowMs + JOB_EVERY_MS;
    const job = this.#nextJob();
    if (job !== undefined) void this.#run(job);
    return job === undefined ? 0 : heartbeatMs;
  }

  /** Notes that everything was told, so that the place is one of this moment, however long ago the last event came. */
  #rest(): void {
    this.#isIdle = true;
    this.#missedLeft = undefined;
    this.#version = this.#sources.blocks.version;
    this.#placeMs = this.#sources.nowMs();
  }

  /**
   * The job for the events that were committed since the place; `undefined` when there are none, and the place moves
   * on.
   */
  #nextJob(): TailJob | undefined {
    const { blocks, nowMs } = this.#sources;
    const { predicate, event, columns, zone } = this.#request;
    const { added, isWhole } = blocks.changes(this.#version) ?? { added: [], isWhole: false };
    const unseen = added.filter((block) => this.#mayBeNew(block, isWhole));
    const to = blocks.end;
    if (unseen.length === 0) {
      this.#position = to;
      return undefined;
    }
    const isMissed = this.#missedLeft !== undefined;
    return {
      type: 'tail',
      query: {
        from: this.#position,
        to,
        receivedFromMs: isMissed ? this.#missedFromMs : Number.NEGATIVE_INFINITY,
        predicate,
        limit: this.#missedLeft ?? Math.max(Math.floor(this.#allowance), 1),
        eventsMax: PART_EVENTS_MAX,
        charactersMax: PART_CHARACTERS_MAX,
        event,
        columns,
      },
      blocks: unseen,
      fromMs: this.#placeMs,
      toMs: nowMs(),
      zone,
    };
  }

  /**
   * Reports whether a block may have rows behind the place. Sealed blocks hold only rows that were visible before they
   * were sealed. In a whole list, those sealed before the place have none; among blocks that came since the place any
   * may have some, whatever the clock says.
   */
  #mayBeNew(block: Snapshot['blocks'][number], isWhole: boolean): boolean {
    const { sealed, segment, endSequence } = block;
    if (!sealed) return endSequence > this.#position;
    if (!isWhole) return true;
    const sealedMs = this.#sources.sealedMs(segment) ?? Number.POSITIVE_INFINITY;
    return sealedMs >= Math.max(this.#placeMs, this.#missedFromMs) - CLOCK_MS;
  }

  async #run(job: TailJob): Promise<void> {
    const { version } = this.#sources.blocks;
    this.#isRunning = true;
    try {
      this.#take(await this.#sources.run(job, this.#abort.signal, this.#request.key), job, version);
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      if (!(error instanceof QueryRefused) || this.#retries === RETRIES_MAX) {
        this.#failure = { error };
        this.#stop();
        return;
      }
      this.#retries++;
      this.#notBeforeMs = performance.now() + RETRY_MS;
    }
    this.#isRunning = false;
    this.#wake();
  }

  #take(answer: TailAnswer, job: TailJob, version: number): void {
    const { text, eventCount, position, isWhole } = answer;
    this.#retries = 0;
    if (text !== '') this.#parts.push(text);
    this.#position = position;
    if (this.#missedLeft === undefined) this.#allowance -= eventCount;
    else this.#missedLeft = isWhole ? undefined : this.#missedLeft - eventCount;
    // The rest is in the same blocks, or in what they became, and is not to wait.
    if (!isWhole) this.#notBeforeMs = 0;
    else {
      this.#version = version;
      this.#placeMs = job.toMs;
    }
  }

  /** Reports whether rows became visible behind the position. */
  #hasNews(): boolean {
    return this.#sources.blocks.end > this.#position;
  }

  #allow(nowMs: number): void {
    const { perSecondMax } = this.#request;
    const more = ((nowMs - this.#allowedMs) / 1_000) * perSecondMax;
    this.#allowance = Math.min(this.#allowance + more, perSecondMax);
    this.#allowedMs = nowMs;
  }

  #token(): string {
    const { tokens } = this.#sources;
    return tokens.encode({ position: this.#position, timeMs: this.#placeMs });
  }
}

function endText(reason: TailEnd): string {
  return `event: end\ndata: ${JSON.stringify({ reason })}\n\n`;
}
