import { sameBytes } from '../base/hash.ts';
import {
  literalPart,
  ownPart,
  type TemplatePart,
  type TextTemplate,
  valuePart,
} from './template.ts';

/** A value of a column in the row of a sample. */
export interface SampleValue {
  column: number;
  bytes: Uint8Array;
}

/** A text, and the values of other columns in its row. */
export interface Sample {
  text: Uint8Array;
  values: readonly SampleValue[];
}

/** A text cut into values of columns and the gaps around them, of which there is one more. */
interface Cut {
  columns: number[];
  gaps: Uint8Array[];
}

/** Shorter values are found where they are not meant. */
const VALUE_BYTES_MIN = 2;
/** A template is made for one in so many samples at least. */
const SAMPLE_SHARE = 32;
const TEMPLATES_MAX = 32;
/** Share of the bytes of all samples that values of columns have at least, or templates gain nothing. */
const VALUE_SHARE_MIN = 0.2;
const NOTHING = new Uint8Array(0);

/** Tells bytes of words: of ASCII letters, digits and `_`; all others. */
function isWord(byte: number): boolean {
  if (byte >= 0x80 || byte === 0x5f) return true;
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a);
}

/** Reports that no word goes on from before `at` to behind it. */
function isBoundary(text: Uint8Array, at: number): boolean {
  return at === 0 || at === text.length || !isWord(text[at - 1]) || !isWord(text[at]);
}

/** The longest value that stands at `at`, as a whole. */
function valueAt({ text, values }: Sample, at: number): SampleValue | undefined {
  let found: SampleValue | undefined;
  for (const value of values) {
    const { length } = value.bytes;
    if (length < VALUE_BYTES_MIN || length <= (found?.bytes.length ?? 0)) continue;
    if (at + length > text.length || text[at] !== value.bytes[0]) continue;
    if (isBoundary(text, at + length) && sameBytes(text, at, value.bytes, 0, length)) found = value;
  }
  return found;
}

function cut(sample: Sample): Cut {
  const { text } = sample;
  const columns: number[] = [];
  const gaps: Uint8Array[] = [];
  let gapFrom = 0;
  for (let at = 0; at < text.length; ) {
    const found = isBoundary(text, at) ? valueAt(sample, at) : undefined;
    if (found === undefined) {
      at++;
      continue;
    }
    gaps.push(text.subarray(gapFrom, at));
    columns.push(found.column);
    at += found.bytes.length;
    gapFrom = at;
  }
  gaps.push(text.subarray(gapFrom));
  return { columns, gaps };
}

function sameGap(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && sameBytes(left, 0, right, 0, left.length);
}

/** Bytes that both begin with. */
function commonStart(left: Uint8Array, right: Uint8Array): number {
  const most = Math.min(left.length, right.length);
  let count = 0;
  while (count < most && left[count] === right[count]) count++;
  return count;
}

/** Bytes that both end with. */
function commonEnd(left: Uint8Array, right: Uint8Array): number {
  const most = Math.min(left.length, right.length);
  let count = 0;
  while (count < most && left[left.length - 1 - count] === right[right.length - 1 - count]) count++;
  return count;
}

/** Parts that gaps at one place have in common: whole words at their start and end. */
function gapParts(gaps: readonly Uint8Array[]): TemplatePart[] {
  const [first] = gaps;
  if (gaps.every((gap) => sameGap(gap, first)))
    return first.length === 0 ? [] : [literalPart(first)];
  let start = first.length;
  let end = first.length;
  let least = first.length;
  for (const gap of gaps) {
    start = Math.min(start, commonStart(first, gap));
    end = Math.min(end, commonEnd(first, gap));
    least = Math.min(least, gap.length);
  }
  while (start > 0 && isWord(first[start - 1])) start--;
  end = Math.min(end, least - start);
  while (end > 0 && isWord(first[first.length - end])) end--;
  const parts = [ownPart()];
  if (start > 0) parts.unshift(literalPart(first.subarray(0, start)));
  if (end > 0) parts.push(literalPart(first.subarray(first.length - end)));
  return parts;
}

function templateOf(cuts: readonly Cut[]): TextTemplate {
  const [{ columns }] = cuts;
  const parts: TemplatePart[] = [];
  for (let at = 0; at <= columns.length; at++) {
    parts.push(...gapParts(cuts.map(({ gaps }) => gaps[at] ?? NOTHING)));
    if (at < columns.length) parts.push(valuePart(columns[at]));
  }
  return parts;
}

/** Groups of at least `least` by a text of each, the largest first; all others in `rest`. */
function grouped(
  cuts: readonly Cut[],
  textOf: (cut: Cut) => string,
  least: number,
): { groups: Cut[][]; rest: Cut[] } {
  const byText = new Map<string, Cut[]>();
  for (const each of cuts) {
    const text = textOf(each);
    const known = byText.get(text);
    if (known === undefined) byText.set(text, [each]);
    else known.push(each);
  }
  const all = [...byText.values()].sort((left, right) => right.length - left.length);
  return {
    groups: all.filter(({ length }) => length >= least),
    rest: all.filter(({ length }) => length < least).flat(),
  };
}

const columnsText = ({ columns }: Cut): string => columns.join();
const wholeText = (each: Cut): string =>
  `${columnsText(each)} ${each.gaps.map((gap) => Buffer.from(gap).toString('hex')).join()}`;

/**
 * Finds the templates of which most of the samples are made, those without parts of their own first; none when values
 * of other columns are too little of the samples.
 */
export function findTemplates(samples: readonly Sample[]): TextTemplate[] {
  const cuts = samples.map(cut);
  let bytes = 0;
  let gapBytes = 0;
  for (const [number, { gaps }] of cuts.entries()) {
    bytes += samples[number].text.length;
    for (const gap of gaps) gapBytes += gap.length;
  }
  if (bytes - gapBytes < bytes * VALUE_SHARE_MIN) return [];
  const least = Math.ceil(samples.length / SAMPLE_SHARE);
  const valued = cuts.filter(({ columns }) => columns.length > 0);
  const { groups, rest } = grouped(valued, wholeText, least);
  const loose = grouped(rest, columnsText, least).groups;
  return [...groups, ...loose].slice(0, TEMPLATES_MAX).map(templateOf);
}
