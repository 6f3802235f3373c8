import type { CORPORA } from '../../bench/corpus/index.ts';
import type { Draw } from '../../bench/corpus/random.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { Decoder } from '../../server/decode/decoder.ts';
import { isSameRow } from '../../server/decode/template/same-row.ts';
import {
  makeTemplates,
  type ReferenceLine,
  type TemplateCounts,
} from '../../server/decode/template/templates.ts';
import type { CompiledStep } from '../../server/extend/compile.ts';
import { Extender } from '../../server/extend/extender.ts';

/** Time at which all lines come. */
export const RECEIVED_MS = Date.UTC(2026, 10, 23);

/** Decodes bodies over one path table twice, by the reference alone and with the kernel, and compares all rows. */
export class Twice {
  readonly counts: TemplateCounts = { rows: 0, faults: 0 };
  rowCount = 0;
  readonly #paths = new PathTable();
  readonly #plainRows = new Rows();
  readonly #plain = new Decoder(this.#paths, this.#plainRows);
  readonly #fastRows = new Rows();
  readonly #fast = new Decoder(this.#paths, this.#fastRows);

  /** `steps` extend the events of both. */
  constructor(steps: readonly CompiledStep[] = []) {
    if (steps.length > 0) {
      extend(this.#plain, this.#paths, this.#plainRows, steps);
      extend(this.#fast, this.#paths, this.#fastRows, steps);
    }
    this.#fast.known.templates = makeTemplates(
      this.#paths,
      referenceOf(this.#paths),
      this.counts,
      (error) => {
        throw error;
      },
    );
  }

  /** The first line that is read otherwise; `undefined` when there is none. */
  difference(lines: readonly Buffer[], lineEnd = '\n'): string | undefined {
    const body = Buffer.concat(lines.flatMap((line) => [line, Buffer.from(lineEnd)]));
    return this.#differenceOf(lines, body, false);
  }

  /** The same of lines that are elements of an array, with `between` them. */
  differenceInArray(lines: readonly Buffer[], between: string): string | undefined {
    const body = Buffer.from(`[${lines.join(between)}]`);
    return this.#differenceOf(lines, body, true);
  }

  #differenceOf(lines: readonly Buffer[], body: Buffer, isJson: boolean): string | undefined {
    read(this.#plain, body, isJson);
    read(this.#fast, body, isJson);
    const { rowCount } = this.#plainRows;
    this.rowCount += rowCount;
    if (rowCount !== this.#fastRows.rowCount) return `${rowCount} rows, not as many`;
    for (let row = 0; row < rowCount; row++) {
      if (isSameRow(this.#plainRows, row, this.#fastRows, row)) continue;
      return lines.filter((line) => line.length > 0)[row].toString();
    }
    return JSON.stringify(this.#plain.counters) === JSON.stringify(this.#fast.counters)
      ? undefined
      : 'counters differ';
  }
}

/** Reads single lines over a path table by the reference alone. */
export function referenceOf(paths: PathTable): ReferenceLine {
  const rows = new Rows();
  const reference = new Decoder(paths, rows);
  return (source, receivedMs, start, end) => {
    reference.begin(source, receivedMs, undefined, start, end);
    reference.line(start, end);
    return rows;
  };
}

function extend(
  decoder: Decoder,
  paths: PathTable,
  rows: Rows,
  steps: readonly CompiledStep[],
): void {
  const extender = new Extender(steps, paths, rows, decoder.counters, { failed });
  decoder.extension = (hasDate) => extender.extendRow(hasDate);
}

/** Throws the fault of an extension. */
export function failed(id: string, cause: unknown): never {
  throw new Error(id, { cause });
}

function read(decoder: Decoder, body: Buffer, isJson: boolean): void {
  decoder.begin(body, RECEIVED_MS, undefined);
  decoder.beginBody(0, body.length, isJson);
  const all = { events: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  while (!decoder.readBody(all));
}

/** The first lines of a corpus. */
export function linesOf(corpus: (typeof CORPORA)[number], count: number): Buffer[] {
  const next = corpus.make(7);
  return Array.from({ length: count }, () => Buffer.from(next()));
}

/** A copy of a line in which up to two bytes are others, drawn from `bytes`. */
export function mutatedLine(line: Buffer, bytes: Buffer, draw: Draw): Buffer {
  const copy = Buffer.from(line);
  for (let count = draw.below(3); count > 0; count--) {
    copy[draw.below(copy.length)] = bytes[draw.below(bytes.length)];
  }
  return copy;
}
