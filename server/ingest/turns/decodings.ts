import { PathTable } from '../../../engine/column/path.ts';
import { Rows } from '../../../engine/column/rows.ts';
import { type DecodeCounters, noDecodeCounters } from '../../decode/counters.ts';
import { Decoder } from '../../decode/decoder.ts';
import {
  type LineTemplates,
  makeTemplates,
  type ReferenceLine,
  type TemplateCounts,
} from '../../decode/template/templates.ts';
import type { WriteKeyTest } from '../../decode/write-key.ts';
import { type CompiledStep, compileSteps } from '../../extend/compile.ts';
import { Extender, type ExtenderOptions } from '../../extend/extender.ts';
import type { ExtensionStep } from '../../extend/extension.ts';
import type { PatternBudget } from '../../extend/pattern-budget.ts';
import type { NameBudget } from '../name-budget.ts';
import type { RawDecoder } from '../raw.ts';
import type { TroubleNotes } from '../trouble.ts';

/** Decoders that share one path table. */
export interface Decoding {
  paths: PathTable;
  /** Paths that the table had at first. */
  ownPaths: number;
  rows: Rows;
  decoder: Decoder;
  raw: RawDecoder;
}

/** Common parts of decodings. */
export interface DecodingsOptions {
  names: NameBudget;
  troubles: TroubleNotes;
  budget: PatternBudget;
  /** The id of the write key with that cell. */
  idOf: (cell: number) => string;
  /** Recognises the write keys that no event keeps. */
  isWriteKey: WriteKeyTest;
  /** Makes the decoder of lines that goes with a decoder. */
  raw: (decoder: Decoder, rows: Rows) => RawDecoder;
  /** Receives each extension that fails, once. */
  failed: (error: Error) => void;
}

/**
 * The decoders of one ingest thread: one for what is decoded in one go, and for a body that comes in pieces one of its
 * own, so that others are decoded in between. They share counts, extensions and, until it is begun anew, the path
 * table.
 */
export class Decodings {
  /** Limits and repairs that all of them applied. */
  readonly counters: DecodeCounters = noDecodeCounters();
  /** Counts of the kernel of known lines for all of them. */
  readonly known: TemplateCounts = { rows: 0, faults: 0 };
  readonly #options: DecodingsOptions;
  #steps: readonly CompiledStep[] = [];
  /** Extensions that have failed since they were set: each is told once. */
  readonly #failedSteps = new Set<string>();
  #current: Decoding;
  /** Was lent, and is to be lent again. */
  #spare: Decoding | undefined;

  constructor(options: DecodingsOptions, steps: readonly ExtensionStep[]) {
    this.#options = options;
    this.#steps = this.compile(steps);
    this.#current = this.#begin();
  }

  /** Decoding of tasks that are decoded in one go. */
  get current(): Decoding {
    return this.#current;
  }

  /** The extensions in force. */
  get steps(): readonly CompiledStep[] {
    return this.#steps;
  }

  /** Takes other extensions for all events that are decoded later. */
  setSteps(steps: readonly ExtensionStep[]): void {
    this.#failedSteps.clear();
    this.#steps = this.compile(steps);
    this.#extend(this.#current);
  }

  /** Makes extensions ready. */
  compile(steps: readonly ExtensionStep[]): CompiledStep[] {
    return compileSteps(steps, this.#stepFailed, this.#options.budget);
  }

  /** Tells that an extension failed. */
  readonly #stepFailed = (id: string, cause: unknown): void => {
    if (this.#failedSteps.has(id)) return;
    this.#failedSteps.add(id);
    this.#options.failed(new Error(`the extension ${id} failed`, { cause }));
  };

  /** Begins the path table anew, which what was lent keeps. */
  renew(): void {
    this.#spare = undefined;
    this.#current = this.#begin();
  }

  /** Options of the extenders of events. */
  get extending(): ExtenderOptions {
    const { budget, isWriteKey } = this.#options;
    return { failed: this.#stepFailed, budget, isWriteKey };
  }

  /** Hands over the current decoding with its rows; another takes its place. */
  lend(): Decoding {
    const lent = this.#current;
    this.#current =
      this.#spare ?? this.#make(lent.paths, lent.decoder.known.templates, lent.ownPaths);
    this.#spare = undefined;
    this.#extend(this.#current);
    return lent;
  }

  /** Takes back what was lent. */
  giveBack(decoding: Decoding): void {
    if (decoding.paths === this.#current.paths) this.#spare = decoding;
  }

  #begin(): Decoding {
    const paths = new PathTable();
    const { isWriteKey, failed } = this.#options;
    const reference = referenceOf(paths, isWriteKey);
    return this.#make(paths, makeTemplates(paths, reference, this.known, failed));
  }

  #make(paths: PathTable, templates: LineTemplates | undefined, ownPaths?: number): Decoding {
    const rows = new Rows();
    const decoder = new Decoder(paths, rows, this.counters);
    decoder.known.templates = templates;
    const { names, troubles, idOf, isWriteKey, raw } = this.#options;
    decoder.isWriteKey = isWriteKey;
    decoder.nameLimit = names;
    decoder.watch = (counters, source, start, end) =>
      troubles.noteCounted(counters, source.subarray(start, end), Date.now(), () =>
        idOf(names.cell),
      );
    const known = ownPaths ?? paths.count;
    const decoding = { paths, ownPaths: known, rows, decoder, raw: raw(decoder, rows) };
    this.#extend(decoding);
    return decoding;
  }

  /** Has the events of a decoding extended by the extensions in force. */
  #extend({ paths, rows, decoder }: Decoding): void {
    if (this.#steps.length === 0) {
      decoder.extension = undefined;
      return;
    }
    const extender = new Extender(this.#steps, paths, rows, decoder.counters, this.extending);
    decoder.extension = (hasDate) => extender.extendRow(hasDate);
  }
}

/** Reads single lines over a path table by the reference alone, which counts nothing. */
function referenceOf(paths: PathTable, isWriteKey: WriteKeyTest): ReferenceLine {
  const rows = new Rows();
  const decoder = new Decoder(paths, rows);
  decoder.isWriteKey = isWriteKey;
  return (source, receivedMs, start, end) => {
    decoder.begin(source, receivedMs, undefined, start, end);
    decoder.line(start, end);
    return rows;
  };
}
