import { BODY_EVENTS_MAX } from '../../engine/base/limits.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { previewEvents } from '../../engine/engine.ts';
import { Decoder } from '../decode/decoder.ts';
import type { CompiledStep } from '../extend/compile.ts';
import { Extender, type ExtenderOptions, type ExtensionMatch } from '../extend/extender.ts';
import { decodePieces } from './content.ts';
import {
  DRY_BYTES_MAX,
  DRY_CHARACTERS_MAX,
  DRY_EVENTS_MAX,
  DRY_TOO_LONG,
  DRY_TOO_MANY,
} from './dry.ts';
import type { BodyTask, DryRun } from './protocol.ts';
import type { Refusal } from './refusal.ts';

/** Time after which no other pass of a rehearsal begins; the first ones run code that is not compiled yet. */
const PASSES_MS = 60;
const PASSES_MAX = 40;

type DryTask = Pick<BodyTask, 'form' | 'receivedMs' | 'enrichment'>;

/**
 * Tries `steps` as `dryRun` does, and tells each event as it is without them. Runs them several times to tell their
 * cost, while that takes little time.
 */
export function rehearse(
  task: DryTask,
  source: Uint8Array,
  steps: readonly CompiledStep[],
  options: ExtenderOptions,
): DryRun | Refusal {
  const plain = dryRun(task, source, [], options);
  if ('status' in plain) return plain;
  const beganMs = performance.now();
  const leastMs: number[] = [];
  let dry = dryRun(task, source, steps, options, leastMs);
  for (let pass = 1; pass < PASSES_MAX && performance.now() - beganMs < PASSES_MS; pass++) {
    options.budget?.begin();
    dry = dryRun(task, source, steps, options, leastMs);
  }
  if ('status' in dry) return dry;
  return {
    ...dry,
    events: dry.events.map((event, row) => ({ ...event, before: plain.events[row] })),
  };
}

/**
 * Decodes a body of a dry run, `source`, with a decoder of its own, so that nothing of it stays or is counted.
 * Refuses too many events and too long ones. `leastMs` keeps the least time of each event's extensions, over
 * all runs that share it. Throws what `decodePieces` throws.
 */
export function dryRun(
  { form, receivedMs, enrichment }: DryTask,
  source: Uint8Array,
  steps: readonly CompiledStep[],
  options: ExtenderOptions,
  leastMs: number[] = [],
): DryRun | Refusal {
  const paths = new PathTable();
  const rows = new Rows();
  const decoder = new Decoder(paths, rows);
  const matches: ExtensionMatch[][] = [];
  const matched = (row: number, match: ExtensionMatch): void => {
    matches[row].push(match);
  };
  const extender = new Extender(steps, paths, rows, decoder.counters, { ...options, matched });
  if (options.isWriteKey !== undefined) decoder.isWriteKey = options.isWriteKey;
  decoder.extension = (hasDate) => {
    // A row may come a second time, when what began like JSON turns out to be text.
    matches[rows.rowCount - 1] = [];
    const rowBeganMs = performance.now();
    extender.extendRow(hasDate);
    const rowMs = performance.now() - rowBeganMs;
    leastMs[rows.rowCount - 1] = Math.min(rowMs, leastMs[rows.rowCount - 1] ?? rowMs);
  };
  const beganMs = performance.now();
  decoder.begin(source, receivedMs, enrichment);
  const isSpent = (): boolean => rows.rowCount > DRY_EVENTS_MAX;
  const size = { events: BODY_EVENTS_MAX, bytes: DRY_BYTES_MAX, isSpent };
  for (const kind of decodePieces(decoder, source, form, size)) {
    if (kind === 'more') return DRY_TOO_MANY;
  }
  const tookMs = performance.now() - beganMs;
  if (rows.rowCount > DRY_EVENTS_MAX) return DRY_TOO_MANY;
  const texts = previewEvents(rows, paths);
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (characters > DRY_CHARACTERS_MAX) return DRY_TOO_LONG;
  const events = texts.map((event, row) => {
    return { timeMs: rows.timeMs[row], event, matches: matches[row] };
  });
  const { extensionsFailed, patternsOverBudget } = decoder.counters;
  const extendMs = leastMs.reduce((sum, ms) => sum + ms, 0);
  return { events, tookMs, extendMs, failed: extensionsFailed + patternsOverBudget };
}
