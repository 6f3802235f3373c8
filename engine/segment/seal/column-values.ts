import { unreachable } from '../../base/assert.ts';
import { BLOCK_ROWS_MAX } from '../../base/limits.ts';
import type { Builder } from '../../column/batch.ts';
import { BooleanBuilder } from '../../column/booleans.ts';
import { DateBuilder, type DateChunk } from '../../column/dates.ts';
import { Kind } from '../../column/kind.ts';
import type { NumberChunk } from '../../column/number-chunk.ts';
import { NumberBuilder } from '../../column/numbers.ts';
import { NUMBER_AS_TEXT } from '../../column/rows.ts';
import { free } from '../../packed/growth.ts';
import type { DenseColumn } from '../block/dense-column.ts';
import type { ColumnRoom } from './column-room.ts';
import { type Selection, selected, selectedPlace } from './segment-rows.ts';

/** Memory of the values of a builder that do not lie one after the other: of a thread one is in use at a time. */
const numbersTaken = new Float64Array(BLOCK_ROWS_MAX);
const detailsTaken = new Uint16Array(BLOCK_ROWS_MAX);
const bytesTaken = new Uint8Array(BLOCK_ROWS_MAX);

/** Values of a column of numbers, dates or booleans while they are put in order. Owned by the sealing of a segment. */
export interface ColumnValues {
  /** Keeps the values of a source: value i at `targets[i]`. `eventMs` is by row of the source. */
  take(column: DenseColumn, targets: Uint32Array, eventMs: () => Float64Array): void;
  /** The selected values as a builder, as `BlockEncoder` takes them. Good until the next call. */
  builder(path: number, selection: Selection): Builder;
}

class NumberValues implements ColumnValues {
  readonly #values: Float64Array<ArrayBuffer>;
  readonly #details: Uint16Array<ArrayBuffer>;
  readonly #texts = new Map<number, Uint8Array>();

  constructor(room: ColumnRoom, capacity: number) {
    room.begin(capacity * 8, capacity * 2);
    this.#values = room.part(Float64Array<ArrayBuffer>, capacity);
    this.#details = room.part(Uint16Array<ArrayBuffer>, capacity);
  }

  take(column: DenseColumn, targets: Uint32Array): void {
    if (column.kind === Kind.NUMBER) this.#take(column.chunk, targets);
  }

  #take(chunk: NumberChunk, targets: Uint32Array): void {
    const { values, details, texts } = chunk.parts();
    for (let index = 0; index < targets.length; index++) {
      this.#values[targets[index]] = values[index];
      this.#details[targets[index]] = details[index];
    }
    for (const [index, text] of texts) {
      this.#texts.set(targets[index], Buffer.from(text, 'latin1'));
    }
  }

  builder(path: number, selection: Selection): NumberBuilder {
    const { rows } = selection;
    const builder = new NumberBuilder(path);
    const values = selected(this.#values, numbersTaken, selection);
    const details = selected(this.#details, detailsTaken, selection);
    if (this.#texts.size > 0) {
      for (let index = 0; index < rows.length; index++) {
        if (details[index] !== NUMBER_AS_TEXT) continue;
        const text = this.#texts.get(selectedPlace(selection, index));
        if (text !== undefined) builder.texts.add(text, 0, text.length);
      }
    }
    builder.rows = rows as Uint16Array<ArrayBuffer>;
    builder.count = rows.length;
    builder.values = values;
    builder.details = details;
    return builder;
  }
}

class DateValues implements ColumnValues {
  readonly #values: Float64Array<ArrayBuffer>;
  readonly #forms: Uint16Array<ArrayBuffer>;

  constructor(room: ColumnRoom, capacity: number) {
    room.begin(capacity * 8, capacity * 2);
    this.#values = room.part(Float64Array<ArrayBuffer>, capacity);
    this.#forms = room.part(Uint16Array<ArrayBuffer>, capacity);
  }

  take(column: DenseColumn, targets: Uint32Array, eventMs: () => Float64Array): void {
    if (column.kind === Kind.DATE) this.#take(column.chunk, column.rows, targets, eventMs());
  }

  #take(
    chunk: DateChunk,
    rows: Uint32Array | undefined,
    targets: Uint32Array,
    eventMs: Float64Array,
  ): void {
    let ownMs = eventMs;
    if (rows !== undefined) {
      ownMs = new Float64Array(rows.length);
      for (let index = 0; index < rows.length; index++) ownMs[index] = eventMs[rows[index]];
    }
    const { values, forms } = chunk.parts(ownMs);
    for (let index = 0; index < targets.length; index++) {
      this.#values[targets[index]] = values[index];
      this.#forms[targets[index]] = forms[index];
    }
    free(values, forms, rows === undefined ? undefined : ownMs);
  }

  builder(path: number, selection: Selection): DateBuilder {
    const builder = new DateBuilder(path);
    builder.rows = selection.rows as Uint16Array<ArrayBuffer>;
    builder.count = selection.rows.length;
    builder.values = selected(this.#values, numbersTaken, selection);
    builder.forms = selected(this.#forms, detailsTaken, selection);
    return builder;
  }
}

class BooleanValues implements ColumnValues {
  readonly #values: Uint8Array<ArrayBuffer>;

  constructor(room: ColumnRoom, capacity: number) {
    room.begin(capacity);
    this.#values = room.part(Uint8Array<ArrayBuffer>, capacity);
  }

  take(column: DenseColumn, targets: Uint32Array): void {
    if (column.kind !== Kind.BOOLEAN) return;
    const { values } = column;
    for (let index = 0; index < targets.length; index++) {
      this.#values[targets[index]] = values[index];
    }
  }

  builder(path: number, selection: Selection): BooleanBuilder {
    const builder = new BooleanBuilder(path);
    builder.rows = selection.rows as Uint16Array<ArrayBuffer>;
    builder.count = selection.rows.length;
    builder.values = selected(this.#values, bytesTaken, selection);
    return builder;
  }
}

/** `capacity` values of a kind that is not made of strings, in `room`, which is used for nothing else meanwhile. */
export function columnValues(
  kind: typeof Kind.NUMBER | typeof Kind.DATE | typeof Kind.BOOLEAN,
  room: ColumnRoom,
  capacity: number,
): ColumnValues {
  switch (kind) {
    case Kind.NUMBER:
      return new NumberValues(room, capacity);
    case Kind.DATE:
      return new DateValues(room, capacity);
    case Kind.BOOLEAN:
      return new BooleanValues(room, capacity);
    default:
      return unreachable(kind);
  }
}
