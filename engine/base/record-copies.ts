import { must } from './assert.ts';
import { EngineError } from './errors.ts';
import { findRecord, recordAt, type StoredRecord, unpackRecord } from './record.ts';

/** A copy of a record file as it was read; `bytes` is absent when there is no file. */
export interface CopyContent {
  path: string;
  bytes?: Uint8Array;
}

/** State of a copy beside the common content: equal; equal with further bytes behind; anything else. */
export type CopyState = 'whole' | 'tail' | 'stale';

/** The records that the copies of a file hold together. */
export interface MergedRecords {
  records: unknown[];
  /** All of them as they stand in a whole copy. */
  bytes: Uint8Array;
  /** Number of rewrites of the file. */
  generation: number;
  /** The checksum of the last record; of none the generation. */
  last: number;
  /** States by copy. */
  states: CopyState[];
  /** Damage that the other copy heals, a sentence each. What a stop leaves is none. */
  remarks: string[];
}

/**
 * Puts the copies of a record file together: each record is taken from a copy in which it is whole. Appends reach one
 * copy after the other, so that a stop tears one of them at most, and the other ends where the records end.
 * Throws CORRUPTION, which says what can be done, when a record is whole in no copy or when the copies are of different
 * files. Source: FORMAT.md 6.
 */
export function mergeCopies(copies: readonly CopyContent[]): MergedRecords {
  const sources = newestOf(copies);
  const records: unknown[] = [];
  const parts: Uint8Array[] = [];
  let at = 0;
  let generation = 0;
  let last: number | undefined;
  for (;;) {
    const found = sharedRecord(sources, at, records.length, last);
    if (found === undefined) break;
    if (last === undefined) generation = found.record.previous;
    last = found.record.checksum;
    records.push(unpackRecord(found.record.payload));
    parts.push(found.bytes);
    at += found.record.bytes;
  }
  checkEnd(sources, at, records.length);
  const bytes = Uint8Array.from(Buffer.concat(parts));
  const states = copies.map((copy) => stateOf(copy, bytes));
  const lastBytes = parts.at(-1)?.length ?? 0;
  const remarks = copies.flatMap((copy, place) =>
    states[place] === 'stale' && records.length > 0
      ? remarkOn(copy, sources, bytes, place > 0 ? at - lastBytes : at)
      : [],
  );
  return { records, bytes, generation, last: last ?? generation, states, remarks };
}

/** The copies of the latest rewriting. A stop during a rewriting leaves an older one behind, which says the same. */
function newestOf(copies: readonly CopyContent[]): CopyContent[] {
  const generations = copies.map(({ bytes }) => {
    const first = bytes === undefined ? undefined : recordAt(bytes, 0);
    return first?.number === 0 ? first.previous : undefined;
  });
  const newest = Math.max(...generations.map((generation) => generation ?? 0));
  return copies.filter((_, place) => (generations[place] ?? newest) === newest);
}

/** The record that stands at `at` in the copies and follows on `last`. Throws CORRUPTION when they differ. */
function sharedRecord(
  copies: readonly CopyContent[],
  at: number,
  number: number,
  last: number | undefined,
): { record: StoredRecord; bytes: Uint8Array } | undefined {
  let shared: { record: StoredRecord; bytes: Uint8Array } | undefined;
  for (const { bytes = new Uint8Array() } of copies) {
    const record = recordAt(bytes, at);
    if (record?.number !== number || record.previous !== (last ?? record.previous)) continue;
    if (shared !== undefined && shared.record.checksum !== record.checksum) {
      throw new EngineError(
        'CORRUPTION',
        `${namesOf(copies)}: record ${number} at ${at} differs, they are of different files: ` +
          'move the one away that does not belong here',
      );
    }
    shared ??= { record, bytes: bytes.subarray(at, at + record.bytes) };
  }
  return shared;
}

/**
 * Throws CORRUPTION unless the records end at `at`, before record `number`: then a copy ends there or there are no
 * bytes.
 */
function checkEnd(copies: readonly CopyContent[], at: number, number: number): void {
  const longer = copies.filter(({ bytes }) => (bytes?.length ?? 0) > at);
  const names = namesOf(copies);
  for (const { path, bytes } of longer) {
    const next = findRecord(must(bytes, path), at + 1, number + 1);
    if (next === undefined) continue;
    throw new EngineError(
      'CORRUPTION',
      `${names}: record ${number} at ${at} is whole in none of them, and more follow in ${path} at ${next}: ` +
        'put one of them back from a backup and move the other away',
    );
  }
  if (longer.length === 0 || copies.some(({ bytes }) => bytes?.length === at)) return;
  if (number === 0) {
    throw new EngineError(
      'CORRUPTION',
      `${names}: record 0 is whole in none of them: put one of them back from a backup and move the other away; ` +
        'files of earlier drafts of the format are not read',
    );
  }
  throw new EngineError(
    'CORRUPTION',
    `${names}: record ${number} at ${at}, the last one, is whole in none of them: put one of them back from a ` +
      `backup and move the other away, or, to do without that record, cut both to ${at} bytes`,
  );
}

function stateOf({ bytes }: CopyContent, whole: Uint8Array): CopyState {
  if (bytes === undefined || differenceOf(bytes, whole) < whole.length) return 'stale';
  return bytes.length === whole.length ? 'whole' : 'tail';
}

/**
 * The remark about a stale copy. There is none when a stop explains it: both are equal up to `sureBytes`, or the copy
 * is the file before a rewrite.
 */
function remarkOn(
  { path, bytes }: CopyContent,
  sources: readonly CopyContent[],
  whole: Uint8Array,
  sureBytes: number,
): string[] {
  if (bytes === undefined) return [`${path} was missing`];
  if (!sources.some((source) => source.path === path)) return [];
  const at = differenceOf(bytes, whole);
  if (at >= sureBytes) return [];
  return [at === bytes.length ? `${path} was cut at ${at}` : `${path} was damaged at ${at}`];
}

/** The first place where two contents differ; the length of the shorter one when they do not up to there. */
function differenceOf(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  if (Buffer.compare(left.subarray(0, length), right.subarray(0, length)) === 0) return length;
  let at = 0;
  while (left[at] === right[at]) at++;
  return at;
}

function namesOf(copies: readonly CopyContent[]): string {
  return copies.map(({ path }) => path).join(' and ');
}
