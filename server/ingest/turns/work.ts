import { assert, must } from '../../../engine/base/assert.ts';
import { ATTRIBUTES_MAX, EVENT_BYTES_MIN, PATHS_MAX } from '../../../engine/base/limits.ts';
import {
  type GatheredRows,
  gatherRows,
  type KeyUsage,
  type RowWriter,
} from '../../../engine/engine.ts';
import { BadBody, EventTooLarge, type PieceSize, TooManyEvents } from '../../decode/body.ts';
import type { PatternBudget } from '../../extend/pattern-budget.ts';
import { dayOf, type UsageCells } from '../../registry/usage.ts';
import type { TaskEnds } from '../acknowledge.ts';
import { decodeText } from '../charset.ts';
import { decodePieces } from '../content.ts';
import { DRY_BYTES_MAX, DRY_TOO_LARGE } from '../dry.ts';
import { dryRun, rehearse } from '../dry-run.ts';
import { BodyTooLarge, BrokenBody, inflate } from '../inflate.ts';
import type { NameBudget } from '../name-budget.ts';
import type { BodyTask, DryOptions, IngestTask, LinesTask } from '../protocol.ts';
import type { LinesPlace } from '../raw.ts';
import { NOT_STORED, type Refusal, refusalOf } from '../refusal.ts';
import { Reservation } from '../reservation.ts';
import type { StatCells } from '../stats.ts';
import { BODY_MALFORMED, BODY_TOO_LARGE, type TroubleNotes } from '../trouble.ts';
import type { Decoding, Decodings } from './decodings.ts';
import { isSmallBody, JOINED_BYTES_MAX, JoinedBodies, SMALL_BYTES } from './joined-bodies.ts';
import { BodyWait, NO_EVENTS, refuse } from './waiting-bodies.ts';

/** Dependencies of the work on its thread. */
export interface WorkOptions {
  memory: Uint8Array;
  cells: UsageCells;
  stats: StatCells;
  troubles: TroubleNotes;
  names: NameBudget;
  budget: PatternBudget;
  decodings: Decodings;
  writer: RowWriter;
  /** The id of the write key with that cell. */
  idOf: (cell: number) => string;
  /** Receives bugs. */
  fault: (error: Error) => void;
  /** Is called when something became durable or failed. */
  stored: () => void;
}

/** A task in progress. At each yield others have their turn; `large` says that a body is of several pieces. */
export type TaskRun = Generator<'piece' | 'large', void, boolean | undefined>;

/** A piece of a body, beside PIECE_EVENTS_MAX events. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** Events that are decoded in one go. */
const PIECE_EVENTS_MAX = 4_096;
/** Memory that a piece may take beside its source: what escapes and extensions make of it. */
const PIECE_SIDE_BYTES = 16 * 1024 * 1024;
const WHOLE: PieceSize = { events: SMALL_BYTES, bytes: SMALL_BYTES };
/** The path table is begun anew when less than a few hostile events' worth of it is left. */
const PATHS_RENEW = PATHS_MAX - 4 * ATTRIBUTES_MAX;
/** The same for bodies that are joined: a new name takes four bytes or more. */
const PATHS_JOINED = PATHS_MAX - JOINED_BYTES_MAX / 4;
/** Part of its quota that a key has left while its bodies are joined: their events, and others meanwhile, take less. */
const QUOTA_LEFT_BYTES = 32 * 1024 * 1024;
const NOTHING = new Uint8Array(0);
const BROKEN: Refusal = { status: 500, message: 'internal error' };

/** Sums of a body so far. */
interface BodySum {
  decoding: Decoding;
  /** The pieces before the last one, when there is more than one. */
  gathered: GatheredRows | undefined;
  events: number;
}

/**
 * Does the tasks of an ingest thread, each in pieces of at most 4,096 events, and has what comes of them made durable.
 */
export class Work {
  readonly #options: WorkOptions;
  readonly #joined: JoinedBodies;
  readonly #waiting: BodyWait;

  constructor(options: WorkOptions) {
    this.#options = options;
    this.#joined = new JoinedBodies(options.memory);
    this.#waiting = new BodyWait(options);
  }

  /** Begins a task, whose end is told to `ends`; `undefined` when nothing of it is left to be done. */
  begin(task: IngestTask, ends: TaskEnds): TaskRun | undefined {
    const { decodings, writer } = this.#options;
    if (decodings.current.paths.count > PATHS_RENEW) {
      decodings.renew();
      writer.replacePaths(decodings.current.paths);
    }
    if (task.type === 'lines') return this.#lines(task, ends);
    if (task.dry === undefined && !this.#isSmall(task)) return this.#body(task, ends);
    if (task.dry === undefined) this.#smallBody(task, ends);
    else this.#dry(task, task.dry, ends);
    return undefined;
  }

  #isSmall(task: BodyTask): boolean {
    return isSmallBody(task) && this.#options.decodings.steps.length === 0;
  }

  /** Makes a test of further tasks: which go with those before it and `task`, into one call of `bodies`. */
  joining(task: IngestTask): ((next: IngestTask) => boolean) | undefined {
    const joined = this.#joined;
    if (this.#options.decodings.steps.length > 0 || task.type !== 'body') return undefined;
    if (!joined.joins(task, task, 0) || !this.#mayJoin(task)) return undefined;
    let bytes = task.bytes + 1;
    return (next) => {
      const goes = joined.joins(task, next, bytes);
      if (goes) bytes += next.bytes + 1;
      return goes;
    };
  }

  /** Reports whether neither the quota nor the table of paths may be reached within bodies that are joined. */
  #mayJoin({ key, receivedMs }: BodyTask): boolean {
    const { cells, decodings } = this.#options;
    if (decodings.current.paths.count > PATHS_JOINED) return false;
    return cells.hasLeft(key.cell, QUOTA_LEFT_BYTES, dayOf(receivedMs));
  }

  /**
   * Decodes bodies of lines that `joining` has taken together and has their rows stored, in one go: each for itself
   * costs a third more. A fault is that of one of them, so that each is then decoded for itself.
   */
  bodies(tasks: readonly BodyTask[], ends: TaskEnds): void {
    const { cells, decodings } = this.#options;
    const last = must(tasks.at(-1), 'body');
    const { cell } = last.key;
    const day = dayOf(last.receivedMs);
    const reservation = new Reservation(day);
    const granted: BodyTask[] = [];
    for (const task of tasks) {
      if (isRefused(task, cells.reserve(cell, task.bytes, day), ends)) continue;
      reservation.add(cell, task.bytes, 0);
      granted.push(task);
    }
    if (granted.length === 0) return;
    const decoding = decodings.current;
    const counts: number[] = [];
    try {
      const source = this.#joined.join(granted);
      this.#begin(last, source, decoding);
      decoding.decoder.readLinesOf(this.#joined.ends, counts);
    } catch {
      reservation.release(cells);
      for (const task of granted) this.#smallBody(task, ends);
      return;
    }
    this.#storeBodies(granted, counts, decoding, reservation, ends);
  }

  /** Shows what would become of a body; its quota is left alone. */
  #dry(task: BodyTask, { steps, rehearses }: DryOptions, ends: TaskEnds): void {
    const { decodings, budget, troubles } = this.#options;
    troubles.turnTo(task.channel, task.key.id);
    try {
      const source = this.#source(task, DRY_BYTES_MAX);
      if (source.length > DRY_BYTES_MAX) {
        refuse(task, DRY_TOO_LARGE, ends);
        return;
      }
      const run = steps === undefined ? decodings.steps : decodings.compile(steps);
      budget.begin();
      const tried = rehearses === true ? rehearse : dryRun;
      const dry = tried(task, source, run, decodings.extending);
      if ('status' in dry) refuse(task, dry, ends);
      else ends.done({ task: task.task, status: 200, message: '', ...NO_EVENTS, dry });
    } catch (error) {
      const refused = contentRefusal(error);
      if (refused === undefined) this.#fault(task, error, ends);
      else refuse(task, refused, ends);
    }
  }

  *#body(task: BodyTask, ends: TaskEnds): TaskRun {
    const { cells, decodings } = this.#options;
    const { cell } = task.key;
    const day = dayOf(task.receivedMs);
    const reservation = new Reservation(day);
    const sum: BodySum = { decoding: decodings.current, gathered: undefined, events: 0 };
    let source: Uint8Array = NOTHING;
    try {
      // A key that is off or spent has nothing inflated.
      const isOn = cells.reserve(cell, 0, day);
      if (isOn === 'ok') {
        const small = this.#smallSource(task);
        if (small === undefined && (yield 'large') === false) return;
        source = small ?? this.#source(task);
        sum.decoding = decodings.current;
      }
      const granted = isOn === 'ok' ? cells.reserve(cell, source.length, day) : isOn;
      if (isRefused(task, granted, ends)) return;
      reservation.add(cell, source.length, 0);
      if (!(yield* this.#decode(task, source, sum))) {
        reservation.release(cells);
        return;
      }
      this.#storeBody(task, source.length, sum, reservation, ends);
    } catch (error) {
      this.#fail(task, source, error, reservation, ends);
    } finally {
      this.#end(task, sum);
    }
  }

  /** Decodes a small body and has its rows stored, in one go: what keeps a place between pieces would cost more. */
  #smallBody(task: BodyTask, ends: TaskEnds): void {
    const { cells, decodings } = this.#options;
    const { cell } = task.key;
    const day = dayOf(task.receivedMs);
    const reservation = new Reservation(day);
    const source = this.#source(task);
    try {
      if (isRefused(task, cells.reserve(cell, source.length, day), ends)) return;
      reservation.add(cell, source.length, 0);
      const decoding = decodings.current;
      const { decoder, rows } = decoding;
      this.#begin(task, source, decoding);
      decoder.beginBody(0, source.length, task.form === 'json');
      assert(decoder.readBody(WHOLE), 'a small body is one piece');
      const sum = { decoding, gathered: undefined, events: rows.rowCount };
      this.#storeBody(task, source.length, sum, reservation, ends);
    } catch (error) {
      this.#fail(task, source, error, reservation, ends);
    }
  }

  /** Turns the decoder to a body. */
  #begin(task: BodyTask, source: Uint8Array, decoding: Decoding): void {
    const { decoder } = decoding;
    decoder.unquotes = false;
    this.#turnTo(task, decoding);
    this.#options.budget.begin();
    decoder.begin(source, task.receivedMs, task.enrichment);
  }

  /** A body is not stored, as there is an error in it or here. */
  #fail(
    task: BodyTask,
    source: Uint8Array,
    error: unknown,
    reservation: Reservation,
    ends: TaskEnds,
  ): void {
    reservation.release(this.#options.cells);
    const refused = contentRefusal(error);
    if (refused === undefined) this.#fault(task, error, ends);
    else {
      this.#noteRefusal(task, source, refused, error);
      refuse(task, refused, ends);
    }
  }

  /** Decodes a body; false when it has a second piece and may not go on now. */
  *#decode(
    task: BodyTask,
    source: Uint8Array,
    sum: BodySum,
  ): Generator<'piece' | 'large', boolean, boolean | undefined> {
    const { decodings, budget } = this.#options;
    const { decoder, rows, paths } = sum.decoding;
    this.#begin(task, source, sum.decoding);
    const isSpent = (): boolean => budget.isPieceSpent || rows.sideBytes > PIECE_SIDE_BYTES;
    const size = { events: PIECE_EVENTS_MAX, bytes: PIECE_BYTES, isSpent };
    for (const kind of decodePieces(decoder, source, task.form, size)) {
      if (kind === 'anew') {
        if (sum.gathered !== undefined) sum.gathered = gatherRows(paths);
        continue;
      }
      const isFirst = sum.gathered === undefined;
      sum.gathered ??= gatherRows(paths);
      sum.gathered.add(rows);
      const { leftSteps } = budget;
      if (isFirst) decodings.lend();
      const goesOn = yield isFirst ? 'large' : 'piece';
      if (goesOn === false) return false;
      this.#turnTo(task, sum.decoding);
      budget.begin(leftSteps);
    }
    sum.gathered?.add(rows);
    sum.events = sum.gathered?.rowCount ?? rows.rowCount;
    return true;
  }

  /** Turns to the names of a body's write key. */
  #turnTo(task: BodyTask, { paths, ownPaths }: Decoding): void {
    const { names } = this.#options;
    names.usePaths(paths, ownPaths);
    names.begin(task.key.cell, dayOf(task.receivedMs));
    this.#options.troubles.turnTo(task.channel, task.key.id);
  }

  #end(task: BodyTask, { decoding, gathered }: BodySum): void {
    // An inflated body goes before the next one comes.
    if (task.compression !== undefined) decoding.decoder.begin(NOTHING, 0, undefined);
    if (gathered !== undefined) this.#options.decodings.giveBack(decoding);
  }

  /** The task's content, unless it is compressed and more than a piece of a body. */
  #smallSource(task: BodyTask): Uint8Array | undefined {
    try {
      return this.#source(task, PIECE_BYTES);
    } catch (error) {
      const { bytesMax = 0 } = task.compression ?? task.decoding ?? {};
      const isLarge = bytesMax > PIECE_BYTES;
      if (error instanceof BodyTooLarge && isLarge) return undefined;
      throw error;
    }
  }

  /** The task's content, inflated and as UTF-8 of at most `bytesMax` and what the task allows. */
  #source(
    { start, bytes, compression, decoding }: BodyTask,
    bytesMax = Number.POSITIVE_INFINITY,
  ): Uint8Array {
    const sent = this.#options.memory.subarray(start, start + bytes);
    const within = <T extends { bytesMax: number }>(order: T): T => {
      return { ...order, bytesMax: Math.min(order.bytesMax, bytesMax) };
    };
    const source = compression === undefined ? sent : inflate(sent, within(compression));
    return decoding === undefined ? source : decodeText(source, within(decoding));
  }

  /** Appends the rows of a body; it is over when they are durable. Its slot is not read any more from here on. */
  #storeBody(
    task: BodyTask,
    sourceBytes: number,
    { decoding, gathered, events }: BodySum,
    reservation: Reservation,
    ends: TaskEnds,
  ): void {
    const { writer, stats, cells } = this.#options;
    const { cell, id } = task.key;
    const lacking = lackingBytes(events, sourceBytes);
    if (lacking > 0) cells.restore(cell, lacking, dayOf(task.receivedMs));
    reservation.add(cell, lacking, events);
    const usage = events === 0 ? [] : reservation.usage(() => id);
    if (events === 0) reservation.release(cells);
    stats.addRows(events);
    const stored =
      gathered === undefined
        ? writer.append(decoding.rows, usage)
        : writer.appendGathered(gathered, usage);
    const bytes = [usage[0]?.bytes ?? 0];
    this.#waiting.add(stored, { tasks: [task], ends, events: [events], bytes, reservation });
  }

  /** Appends the rows of bodies that were decoded together, `counts` of each, as `#storeBody` does. */
  #storeBodies(
    tasks: readonly BodyTask[],
    counts: readonly number[],
    { rows }: Decoding,
    reservation: Reservation,
    ends: TaskEnds,
  ): void {
    const { writer, stats, cells } = this.#options;
    const { key, receivedMs } = tasks[0];
    const day = dayOf(receivedMs);
    const usedBytes: number[] = [];
    for (let at = 0; at < tasks.length; at++) {
      const { bytes } = tasks[at];
      const events = counts[at];
      const lacking = lackingBytes(events, bytes);
      if (lacking > 0) cells.restore(key.cell, lacking, day);
      if (events === 0) cells.release(key.cell, bytes, day);
      reservation.add(key.cell, events === 0 ? -bytes : lacking, events);
      usedBytes.push(events === 0 ? 0 : bytes + lacking);
    }
    const usage = rows.rowCount === 0 ? [] : reservation.usage(() => key.id);
    stats.addRows(rows.rowCount);
    const stored = writer.append(rows, usage, { urgent: true, senders: tasks.length });
    this.#waiting.add(stored, { tasks, ends, events: counts, bytes: usedBytes, reservation });
  }

  /** Decodes lines and has each piece made durable with others; the task is over when all are. */
  *#lines(task: LinesTask, ends: TaskEnds): TaskRun {
    const { decodings, budget, idOf, stats } = this.#options;
    const stored: Promise<void>[] = [];
    const usage: KeyUsage[] = [];
    let events = 0;
    let linesDropped = 0;
    let place: LinesPlace | undefined;
    budget.begin();
    do {
      const { raw, rows, paths, ownPaths } = decodings.current;
      this.#options.names.usePaths(paths, ownPaths);
      this.#options.troubles.turnTo(task.channel);
      try {
        const { reservation, droppedCount, rest } = raw.decode(task, place);
        place = rest;
        const used = rows.rowCount === 0 ? [] : reservation.usage(idOf);
        usage.push(...used);
        events += rows.rowCount;
        linesDropped += droppedCount;
        stats.addRows(rows.rowCount);
        stored.push(this.#appendLines(decodings.current, used, reservation));
      } catch (error) {
        raw.reservation.release(this.#options.cells);
        this.#fault(task, error, ends);
        return;
      }
      if (place !== undefined) {
        const { leftSteps } = budget;
        yield 'piece';
        budget.begin(leftSteps);
      }
    } while (place !== undefined);
    ends.free(task.task, task.bytes);
    Promise.all(stored).then(
      () => {
        ends.done({ task: task.task, status: 200, message: '', events, linesDropped, usage });
        this.#options.stored();
      },
      () => {
        refuse(task, NOT_STORED, ends);
        this.#options.stored();
      },
    );
  }

  async #appendLines(
    { rows }: Decoding,
    usage: readonly KeyUsage[],
    reservation: Reservation,
  ): Promise<void> {
    try {
      await this.#options.writer.append(rows, usage, { urgent: false });
    } catch (error) {
      reservation.release(this.#options.cells);
      throw error;
    }
  }

  #noteRefusal(task: BodyTask, source: Uint8Array, refusal: Refusal, error: unknown): void {
    const kind = refusal.status === 413 ? BODY_TOO_LARGE : BODY_MALFORMED;
    const hasOffset =
      error instanceof BadBody || error instanceof EventTooLarge || error instanceof TooManyEvents;
    const at = hasOffset ? error.offset : 0;
    this.#options.troubles.turnTo(task.channel, task.key.id);
    this.#options.troubles.noteBody(kind, source, at, task.receivedMs, refusal.message);
  }

  #fault(task: IngestTask, error: unknown, ends: TaskEnds): void {
    this.#options.fault(error instanceof Error ? error : new Error(`${error}`));
    refuse(task, BROKEN, ends);
  }
}

/** Bytes that the events of a body count for beside those that were sent. */
function lackingBytes(events: number, sourceBytes: number): number {
  return Math.max(0, events * EVENT_BYTES_MIN - sourceBytes);
}

function isRefused(
  task: BodyTask,
  granted: ReturnType<UsageCells['reserve']>,
  ends: TaskEnds,
): boolean {
  const refusal = refusalOf(granted);
  if (refusal !== undefined) refuse(task, refusal, ends);
  return refusal !== undefined;
}

/** The refusal for a fault of a body; `undefined` when the fault is ours. */
function contentRefusal(error: unknown): Refusal | undefined {
  if (error instanceof BadBody || error instanceof BrokenBody) {
    return { status: 400, message: error.message };
  }
  if (
    error instanceof EventTooLarge ||
    error instanceof BodyTooLarge ||
    error instanceof TooManyEvents
  ) {
    return { status: 413, message: error.message };
  }
  return undefined;
}
