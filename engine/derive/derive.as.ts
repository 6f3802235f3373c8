/**
 * Kernel of derived texts, compiled to WebAssembly: finds of which template each text is made, and makes texts again.
 * The references are `PlainMatcher` and `DerivedText`. What is not as it should be is declined.
 *
 * The memory, private to one instance, is an `Arena`: places that JavaScript gives out and fills. Each has VECTOR bytes
 * behind it that may be read.
 *
 * | place | holds |
 * |---|---|
 * | templates | TEMPLATE_BYTES each: see TEMPLATE_ |
 * | parts | PART_BYTES each: see PART_; those of templates, and one for each column whose texts lie far apart |
 * | spans | begin and end (u32) of each own part of a text that was matched, or place and length of each value |
 * | ids | by row the entry + 1 of a column (u32) |
 * | offsets, bytes | strings one after the other: where each begins and the last one ends (u32), and they themselves |
 * | rows | by text, its row (u32) |
 * | numbers | by text, the number of its template (u8) |
 * | own | a length (LEB128) before the bytes of each part of its own |
 */

const TEMPLATE_BYTES: u32 = 16;
const TEMPLATE_PARTS: u32 = 0;
const TEMPLATE_END: u32 = 4;
/** 1 when its texts have something of their own. */
const TEMPLATE_OPEN: u32 = 8;
/** Bytes of its literals. */
const TEMPLATE_LENGTH: u32 = 12;

const PART_BYTES: u32 = 24;
const PART_KIND: u32 = 0;
const PART_IDS: u32 = 4;
const PART_OFFSETS: u32 = 8;
const PART_TEXT: u32 = 12;
/** Bytes of a literal, entries of a column. */
const PART_COUNT: u32 = 16;

// The kinds of template.ts.
const OWN: u32 = 0;
const VALUE: u32 = 1;
const LITERAL: u32 = 2;

const ZERO: u32 = 0x30;
const MINUS: u32 = 0x2d;
const POINT: u32 = 0x2e;
const VARINT_SHIFT_MAX: u32 = 28;
/** Numbers below are printed as eight digits at once, of which some are left out. */
const EIGHT_DIGITS: f64 = 100_000_000;
const DIGITS: u32 = 8;
const ZEROS: u64 = ((<u64>0x30303030) << 32) | 0x30303030;
/** Texts whose values are brought near together, so that the processor waits for memory once for several. */
const TOGETHER: u32 = 16;

let templates: u32 = 0;
let templateCount: u32 = 0;
let spans: u32 = 0;
/** Parts, a value each, of the columns that texts are made of: those whose texts lie far apart. */
let farParts: u32 = 0;
let farCount: u32 = 0;
/** A sum of what was brought near. It is exported, so that no compiler leaves out the reads that nobody needs. */
let near: u32 = 0;
let spanCount: u32 = 0;
/** The bytes of the part that `place` found. */
let partText: u32 = 0;
let partLength: u32 = 0;

// Accessors. `assert` is there in the checked build alone.
function wordAt(address: u32): u32 {
  assert(address + 4 <= (<u32>memory.size()) << 16);
  return load<u32>(address);
}
function byteAt(address: u32): u32 {
  assert(address < (<u32>memory.size()) << 16);
  return load<u8>(address);
}
function setByte(address: u32, byte: u32): void {
  assert(address < (<u32>memory.size()) << 16);
  store<u8>(address, byte);
}
function setWord(address: u32, word: u32): void {
  assert(address + 4 <= (<u32>memory.size()) << 16);
  store<u32>(address, word);
}
function setBytes(address: u32, bytes: u64): void {
  assert(address + 8 <= (<u32>memory.size()) << 16);
  store<u64>(address, bytes);
}

/** Compares `length` bytes; behind both places are others that may be read. */
function isSame(left: u32, right: u32, length: u32): bool {
  assert(
    left + length + 8 <= (<u32>memory.size()) << 16 &&
      right + length + 8 <= (<u32>memory.size()) << 16,
  );
  let at: u32 = 0;
  for (; at + 8 <= length; at += 8) {
    if (load<u64>(left + at) !== load<u64>(right + at)) return false;
  }
  const rest = ((<u64>1) << (8 * (length - at))) - 1;
  return ((load<u64>(left + at) ^ load<u64>(right + at)) & rest) === 0;
}

/** Copies `length` bytes; both places have room for a vector behind them. */
function copy(from: u32, to: u32, length: u32): void {
  assert(from + length <= (<u32>memory.size()) << 16 && to + length <= (<u32>memory.size()) << 16);
  if (length > 64) {
    memory.copy(to, from, length);
    return;
  }
  for (let at: u32 = 0; at < length; at += 16) v128.store(to + at, v128.load(from + at));
}

/** Finds the bytes of a literal, or of the value that a column has in a row; false when it has none. */
function place(part: u32, row: u32): bool {
  if (wordAt(part + PART_KIND) === LITERAL) {
    partText = wordAt(part + PART_TEXT);
    partLength = wordAt(part + PART_COUNT);
    return true;
  }
  const id = wordAt(wordAt(part + PART_IDS) + 4 * row);
  if (id - 1 >= wordAt(part + PART_COUNT)) return false;
  const offset = wordAt(part + PART_OFFSETS) + 4 * id;
  const start = wordAt(offset - 4);
  partText = wordAt(part + PART_TEXT) + start;
  partLength = wordAt(offset) - start;
  return true;
}

/** Reads a byte of each value that `count` texts in these rows may be made of: first where they lie, then them. */
function bringNear(rows: u32, count: u32): void {
  for (let far: u32 = 0; far < farCount; far++) {
    const part = farParts + far * PART_BYTES;
    const entryCount = wordAt(part + PART_COUNT);
    const ids = wordAt(part + PART_IDS);
    const offsets = wordAt(part + PART_OFFSETS);
    const text = wordAt(part + PART_TEXT);
    for (let at: u32 = 0; at < count; at++) {
      const entry = wordAt(ids + 4 * wordAt(rows + 4 * at)) - 1;
      if (entry < entryCount) near += wordAt(offsets + 4 * entry);
    }
    for (let at: u32 = 0; at < count; at++) {
      const entry = wordAt(ids + 4 * wordAt(rows + 4 * at)) - 1;
      if (entry < entryCount) near += byteAt(text + wordAt(offsets + 4 * entry));
    }
  }
}

/** Where the part that was placed stands in the text `[from, end)`; 0 when it does not, or is nothing. */
function find(from: u32, end: u32): u32 {
  if (partLength === 0) return 0;
  const first = byteAt(partText);
  for (let at = from; at + partLength <= end; at++) {
    if (byteAt(at) === first && isSame(at, partText, partLength)) return at;
  }
  return 0;
}

/**
 * Reports that the text `[start, end)` in a row is of a template that has nothing of its own. What its values are is
 * looked up once: first all are asked for their lengths, at which most templates fail, then compared.
 */
function isWhole(template: u32, row: u32, start: u32, end: u32): bool {
  const parts = wordAt(template + TEMPLATE_PARTS);
  const lastPart = wordAt(template + TEMPLATE_END);
  const length = end - start;
  let sum = wordAt(template + TEMPLATE_LENGTH);
  let value = spans;
  for (let part = parts; part < lastPart; part += PART_BYTES) {
    if (wordAt(part + PART_KIND) !== VALUE) continue;
    if (!place(part, row)) return false;
    sum += partLength;
    if (sum > length) return false;
    setWord(value, partText);
    setWord(value + 4, partLength);
    value += 8;
  }
  if (sum !== length) return false;
  value = spans;
  let at = start;
  for (let part = parts; part < lastPart; part += PART_BYTES) {
    let text = wordAt(part + PART_TEXT);
    let bytes = wordAt(part + PART_COUNT);
    if (wordAt(part + PART_KIND) === VALUE) {
      text = wordAt(value);
      bytes = wordAt(value + 4);
      value += 8;
    }
    if (!isSame(at, text, bytes)) return false;
    at += bytes;
  }
  return true;
}

function addSpan(from: u32, end: u32): void {
  setWord(spans + 8 * spanCount, from);
  setWord(spans + 8 * spanCount + 4, end);
  spanCount++;
}

/** Reports that the text `[start, end)` in a row is of a template; its own parts are in the spans then. */
function isOf(template: u32, row: u32, start: u32, end: u32): bool {
  // Literals are compared first: they are at hand, and most other templates have other ones.
  const first = wordAt(template + TEMPLATE_PARTS);
  if (wordAt(first + PART_KIND) === LITERAL) {
    const length = wordAt(first + PART_COUNT);
    if (start + length > end || !isSame(start, wordAt(first + PART_TEXT), length)) return false;
  }
  const lastPart = wordAt(template + TEMPLATE_END);
  const last = lastPart - PART_BYTES;
  if (wordAt(last + PART_KIND) === LITERAL) {
    const length = wordAt(last + PART_COUNT);
    if (start + length > end || !isSame(end - length, wordAt(last + PART_TEXT), length))
      return false;
  }
  spanCount = 0;
  if (wordAt(template + TEMPLATE_OPEN) === 0) return isWhole(template, row, start, end);
  let at = start;
  let ownFrom: u32 = 0;
  for (let part = first; part < lastPart; part += PART_BYTES) {
    if (wordAt(part + PART_KIND) === OWN) {
      ownFrom = at;
      continue;
    }
    if (!place(part, row)) return false;
    if (ownFrom !== 0) {
      at = find(at, end);
      if (at === 0) return false;
      addSpan(ownFrom, at);
      ownFrom = 0;
    } else if (at + partLength > end || !isSame(at, partText, partLength)) return false;
    at += partLength;
  }
  if (ownFrom !== 0) addSpan(ownFrom, end);
  return ownFrom !== 0 || at === end;
}

/** Writes `[from, end)` behind its length; returns where that ends. */
function writeOwn(from: u32, end: u32, to: u32): u32 {
  let rest = end - from;
  let at = to;
  for (; rest >= 0x80; rest >>>= 7) setByte(at++, (rest & 0x7f) | 0x80);
  setByte(at++, rest);
  copy(from, at, end - from);
  return at + end - from;
}

/**
 * Sets the templates that are meant from now on, a place for as many spans as one of them has parts, and the `fars`
 * parts of columns whose texts lie far apart.
 */
export function deriveTemplates(
  address: u32,
  count: u32,
  spanPlace: u32,
  farPlace: u32,
  fars: u32,
): void {
  templates = address;
  templateCount = count;
  spans = spanPlace;
  farParts = farPlace;
  farCount = fars;
}

/**
 * Finds the templates of `count` texts, which become their `numbers`, and writes what they have of their own to `own`;
 * returns its bytes. A text of none has the number behind the last one, and is all its own.
 */
export function deriveMatch(
  count: u32,
  offsets: u32,
  text: u32,
  rows: u32,
  numbers: u32,
  own: u32,
): u32 {
  let ownEnd = own;
  for (let value: u32 = 0; value < count; value++) {
    if (value % TOGETHER === 0) bringNear(rows + 4 * value, min(count - value, TOGETHER));
    const start = text + wordAt(offsets + 4 * value);
    const end = text + wordAt(offsets + 4 * value + 4);
    const row = wordAt(rows + 4 * value);
    let number: u32 = 0;
    while (number < templateCount && !isOf(templates + number * TEMPLATE_BYTES, row, start, end)) {
      number++;
    }
    setByte(numbers + value, number);
    if (number === templateCount) ownEnd = writeOwn(start, end, ownEnd);
    else {
      for (let span: u32 = 0; span < spanCount; span++) {
        const place = spans + 8 * span;
        ownEnd = writeOwn(wordAt(place), wordAt(place + 4), ownEnd);
      }
    }
  }
  return ownEnd - own;
}

let ownAt: u32 = 0;

/** Reads the length of a part of its own that lies at `ownAt`, goes on behind it; false when it ends early. */
function readOwn(ownEnd: u32): bool {
  let length: u32 = 0;
  let shift: u32 = 0;
  while (true) {
    if (ownAt >= ownEnd || shift > VARINT_SHIFT_MAX) return false;
    const byte = byteAt(ownAt++);
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
    shift += 7;
  }
  if (length > ownEnd - ownAt) return false;
  partText = ownAt;
  partLength = length;
  ownAt += length;
  return true;
}

/**
 * Makes `count` texts of the templates `numbers` (u32), which lie at `offsets` of `text`. Returns false when one is not
 * as long as that, or something else is wrong.
 */
export function deriveMake(
  count: u32,
  offsets: u32,
  text: u32,
  rows: u32,
  numbers: u32,
  own: u32,
  ownBytes: u32,
): bool {
  ownAt = own;
  let at = text;
  for (let value: u32 = 0; value < count; value++) {
    if (value % TOGETHER === 0) bringNear(rows + 4 * value, min(count - value, TOGETHER));
    const number = wordAt(numbers + 4 * value);
    if (number >= templateCount) return false;
    const template = templates + number * TEMPLATE_BYTES;
    const row = wordAt(rows + 4 * value);
    const end = text + wordAt(offsets + 4 * value + 4);
    const lastPart = wordAt(template + TEMPLATE_END);
    for (let part = wordAt(template + TEMPLATE_PARTS); part < lastPart; part += PART_BYTES) {
      const isOwn = wordAt(part + PART_KIND) === OWN;
      if (!(isOwn ? readOwn(own + ownBytes) : place(part, row))) return false;
      if (partLength > end - at) return false;
      copy(partText, at, partLength);
      at += partLength;
    }
    if (at !== end) return false;
  }
  return ownAt === own + ownBytes;
}

/** Writes the last `count` digits of a number so that they end at `end`; returns what is left of it. */
function writeDigits(number: u64, count: u32, end: u32): u64 {
  let left = number;
  let place = end;
  const from = end - count;
  while (place > from && left > u32.MAX_VALUE) {
    setByte(--place, ZERO + <u32>(left % 10));
    left /= 10;
  }
  let small = <u32>left;
  if (place === from) return left;
  while (place > from) {
    setByte(--place, ZERO + (small % 10));
    small /= 10;
  }
  return small;
}

/** The eight digits of a number, the first one in the lowest byte: halves, then pairs, then each. */
// @inline
function digitsOf(number: u32): u64 {
  const left = number / 10_000;
  const halves = <u64>left | ((<u64>(number - left * 10_000)) << 32);
  const hundreds = ((halves * 10_486) >>> 20) & 0x0000007f0000007f;
  const pairs = hundreds | ((halves - hundreds * 100) << 16);
  const tens = ((pairs * 103) >>> 10) & 0x000f000f000f000f;
  return tens | ((pairs - tens * 10) << 8);
}

/** Prints a number of up to eight digits as `print` does, with less than eight decimals. */
// @inline
function printShort(number: u32, decimals: u32, at: u32): u32 {
  const digits = digitsOf(number);
  const left = min(<u32>ctz(digits) >>> 3, DIGITS - 1 - decimals);
  const text = (digits | ZEROS) >>> (8 * left);
  setBytes(at, text);
  const whole = DIGITS - left - decimals;
  if (decimals === 0) return at + whole;
  setByte(at + whole, POINT);
  setBytes(at + whole + 1, text >>> (8 * whole));
  return at + whole + 1 + decimals;
}

/** Prints a whole number with its last `decimals` digits behind a point; returns where that ends. */
function print(value: f64, decimals: u32, to: u32): u32 {
  let at = to;
  if (value < 0) setByte(at++, MINUS);
  const size = abs(value);
  if (size < EIGHT_DIGITS && decimals < DIGITS) return printShort(<u32>size, decimals, at);
  const number = <u64>size;
  let digits: u32 = 1;
  for (let above: u64 = 10; number >= above; above *= 10) digits++;
  if (digits <= decimals) digits = decimals + 1;
  if (decimals === 0) {
    writeDigits(number, digits, at + digits);
    return at + digits;
  }
  const end = at + digits + 1;
  const whole = writeDigits(number, decimals, end);
  setByte(end - decimals - 1, POINT);
  writeDigits(whole, digits - decimals, end - decimals - 1);
  return end;
}

/** Prints `count` numbers (f64) with so many decimals (u32) to `text`, where they lie at `offsets`. */
export function derivePrint(count: u32, values: u32, decimals: u32, offsets: u32, text: u32): void {
  let at = text;
  for (let index: u32 = 0; index < count; index++) {
    setWord(offsets + 4 * index, at - text);
    at = print(load<f64>(values + 8 * index), wordAt(decimals + 4 * index), at);
  }
  setWord(offsets + 4 * count, at - text);
}

export { near as deriveNear };
