import type { Disk } from '../../engine/base/file.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';
import { pathOfSegment } from '../../engine/store/filename.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';

/** A segment in memory whose bytes can be damaged in place. */
export interface SmallSegment {
  name: string;
  disk: Disk;
  segment: number;
  refs: readonly BlockRef[];
  bytes: Uint8Array;
}

const START_MS = 1_700_000_000_000;
/** Number of a row that is far off in time. */
const FAR_ROW = 155;
/** Rows from which a segment has dictionaries, and words of them. */
const DICTIONARY_ROWS = 4_100;

const string = (name: string, text: string): TestLeaf => ({
  ...{ names: ['custom', name], kind: 'string', text },
});
const number = (name: string, text: string): TestLeaf => ({
  ...{ names: ['custom', name], kind: 'number', text },
});

/** Numbers in all forms in which they are written, and all forms of streams. */
function numbersOf(row: number): TestLeaf[] {
  return [
    number('same', '7'),
    number('fixed', (row / 100).toFixed(3)),
    number('shortest', String(row / 8)),
    number('point', row % 2 === 0 ? `${row}.0` : `${row}.25`),
    number('double', String(Math.sqrt(row + 2))),
    number('odd', row % 60 === 5 ? '1e400' : '-7'),
    number('wide', String((row % 16) * 2 ** 41 * (row % 2 ? 1 : -1))),
    number('steps', String(Math.floor(row / 60) * 1e9)),
    number('falling', String(-row * 1_000 - (row % 3))),
    number('code', ['200', '304', '404', '90000'][(row * row) % 4]),
    number('patched', String(((row * row) % 97) + (row % 40 === 3 ? 1e6 + row : 0))),
  ];
}

/** Strings, arrays, dates and booleans in all encodings that few rows have. */
function othersOf(row: number, timeMs: number): TestLeaf[] {
  const iso = new Date(timeMs).toISOString();
  const leaves: TestLeaf[] = [
    { names: ['custom', '@marker'], kind: 'array', text: '["a",1,null]' },
    { names: ['custom', 'list'], kind: 'array', text: `[${row % 3}]` },
    { names: ['custom', 'date'], kind: 'date', text: iso },
    { names: ['custom', 'day'], kind: 'date', text: `2020-01-0${1 + (row % 9)}T00:00:00.123456Z` },
    { names: ['custom', 'flag'], kind: 'boolean', value: row % 3 === 1 },
    string('verb', ['GET', 'POST', 'é\ud800'][row % 3]),
    string('address', `10.0.${row % 200}.${(row * 7) & 255}`),
    string('own', `value ${(row * 7_919) % 1_000} of ${row}`),
  ];
  if (row % 2 === 0) leaves.push(string('half', `h${row % 5}`), number('halfNumber', `${row}`));
  if (row % 3 !== 0) leaves.push(string('mixed', `${row}`));
  else leaves.push(number('mixed', `${row}`));
  if (row % 50 === 7) leaves.push(string('rare', `r${row}`));
  if (row % 50 === 7) leaves.push({ names: ['custom', 'rareFlag'], kind: 'boolean', value: true });
  if (row % 11 === 0) leaves.push({ names: ['custom', 'nothing'], kind: 'null' });
  if (row % 13 === 0) leaves.push({ names: ['custom', 'empty'], kind: 'object' });
  // An order of leaves that most rows do not have.
  return row % 17 === 0 ? leaves.reverse() : leaves;
}

/** Rows that use every encoding but those of dictionaries and words. */
function variedRows(count: number, first: number): TestRow[] {
  return Array.from({ length: count }, (_, index): TestRow => {
    const row = first + index;
    // Dates are not told by their distance from such a time.
    const timeMs = row === FAR_ROW ? 2 ** 46 : START_MS + row * 13 - (row % 7) * 40;
    const leaves = [...numbersOf(row), ...othersOf(row, timeMs)];
    leaves.push({ names: ['syslog', 'appname'], kind: 'string', text: 'app' });
    const own = leaves.find(({ names }) => names[1] === 'own');
    const text = own !== undefined && 'text' in own ? own.text : '';
    leaves.push({ names: ['message'], kind: 'string', text: `at ${text}` });
    return { timeMs, leaves };
  });
}

/** Rows of dictionaries, two of which have the same ids, and of messages that are derived of them. */
function dictionaryRows(count: number): TestRow[] {
  return Array.from({ length: count }, (_, row): TestRow => {
    const entry = (row * row) % 61;
    const leaves = [string('key', `key ${entry}`), string('twin', `${entry} b`)];
    leaves.push(number('n', String(row)), string('empty', ''));
    if (row % 3 !== 0) leaves.push(string('gaps', `g ${row % 5}`));
    leaves.push({ names: ['custom', 'list'], kind: 'array', text: `["a",${row % 3}]` });
    leaves.push({ names: ['message'], kind: 'string', text: `${row}: key ${entry}` });
    return { timeMs: START_MS + row, leaves };
  });
}

/** Rows of a dictionary with words. */
function wordRows(count: number): TestRow[] {
  return Array.from({ length: count }, (_, row): TestRow => {
    const entry = row % 3_100;
    const text = `${((entry * 7_919) % 104_729).toString(36)} ${entry % 40 === 0 ? 'seldom' : 'often'}`;
    return { timeMs: START_MS + row, leaves: [string('words', text)] };
  });
}

/** Rows of short texts with words, every second one from `first` on. */
function textRows(count: number, first: number): TestRow[] {
  return Array.from({ length: count }, (_, index): TestRow => {
    const row = first + index * 2;
    const text = `${(row * 7_919) % 104_729} ${row % 7 === 0 ? 'seventh' : 'other'}`;
    return {
      timeMs: START_MS + row,
      leaves: [{ names: ['message'], kind: 'string', text }, string('id', `i${row}`)],
    };
  });
}

/** The path of the file of a segment. */
export function segmentPathOf({ refs, segment }: SmallSegment): string {
  return pathOfSegment(refs[0].sealed, segment);
}

/** One segment of a shelf, whose bytes are the file itself. */
function opened(shelf: Shelf, name: string, refs: readonly BlockRef[]): SmallSegment {
  const [{ sealed, segment }] = refs;
  let bytes: Uint8Array = new Uint8Array(0);
  shelf.disk.damage(pathOfSegment(sealed, segment), (content) => {
    bytes = content;
    return content;
  });
  return { name, disk: shelf.disk, segment, refs, bytes };
}

async function sealed(
  name: string,
  blocks: readonly TestRow[][],
  columnsMax?: number,
): Promise<SmallSegment> {
  const shelf = new Shelf(columnsMax);
  for (const [number, rows] of blocks.entries()) await shelf.add(rows, 3 - number, 1_000 * number);
  const { segments } = await shelf.seal(shelf.refs);
  if (segments.length !== 1) throw new Error(`${segments.length} segments of ${name}`);
  return opened(shelf, name, segments[0].blocks);
}

/** A segment with a dictionary that has words, which is not so small. */
export function wordSegment(): Promise<SmallSegment> {
  return sealed('words of a dictionary', [wordRows(7_000)]);
}

/** Small segments that together have every encoding, but for words of a dictionary. */
export async function smallSegments(): Promise<SmallSegment[]> {
  const shelf = new Shelf();
  const ref = await shelf.add(variedRows(140, 0), 1, 2 ** 33);
  return [
    opened(shelf, 'a log block', [ref]),
    await sealed('every kind', [variedRows(200, 0), variedRows(60, 100)]),
    await sealed('an overflow map', [variedRows(60, 0)], 3),
    await sealed('dictionaries', [dictionaryRows(DICTIONARY_ROWS)]),
    await sealed('texts', [textRows(DICTIONARY_ROWS / 2, 0), textRows(DICTIONARY_ROWS / 2, 1)]),
  ];
}
