// biome-ignore format: a name a line would be a page.
import {
  BACKSLASH, LETTER_U, NODE_PATH, NODE_RANK, nodeField, QUOTE, SIDE, SIDE_BYTES,
  SLOT_DETAIL, SLOT_KIND, SLOT_LENGTH, SLOT_PATH, SLOT_START, SLOTS, SOURCE, SOURCE_BYTES,
  SPREAD, setDateSlot, setLineNode, setSide, setSlot, setSlotValue, sourceByte,
} from './memory.as.ts';
import { escaped, escapedPoint, NO_POINT, plainEnd } from './text.as.ts';

/** The values of the line in progress, one a slot, and the side, to which texts go that do not stand in the source. */

/** Values of the line in progress. */
let slotCount: u32 = 0;
/** Hash of the nodes of its values. */
let formHash: u32 = 0;
/** Values that may be dates. */
let dateCount: u32 = 0;
/** Bytes of the side in use, and what is added to offsets there. */
let sideBytes: u32 = 0;
let sideBase: u32 = 0;

/** Empties the side, whose offsets get `base` added. */
export function beginSide(base: u32): void {
  sideBytes = 0;
  sideBase = base;
}

/** Sets the bytes of the side in use. */
// @inline
function setSideBytes(bytes: u32): void {
  sideBytes = bytes;
}

/** Start of a text at `at` of the side, as a slot has it. */
// @inline
function sideStart(at: u32): u32 {
  return ~(sideBase + at);
}

/** Begins a line. */
// @inline
function beginSlots(): void {
  slotCount = 0;
  formHash = 0;
  dateCount = 0;
}

/** Notes that the next value of the line is that of a node. */
// @inline
function addToForm(node: u32): void {
  formHash = (rotl(formHash, 5) ^ node) * SPREAD;
}

/** Fills the next slot but its value and detail. */
// @inline
function endSlot(node: u32, kind: u32, start: u32, length: u32): void {
  setSlot(slotCount, SLOT_START, start);
  setSlot(slotCount, SLOT_LENGTH, length);
  setSlot(slotCount, SLOT_PATH, nodeField(node, NODE_PATH));
  setSlot(slotCount, SLOT_KIND, kind);
  setLineNode(slotCount, node);
  if (nodeField(node, NODE_RANK) !== 0) setDateSlot(dateCount++, slotCount);
  slotCount++;
}

/** Fills the next slot with the value of a node; false when there is none. */
// @inline
function addSlot(node: u32, kind: u32, start: u32, length: u32, value: f64, detail: u32): bool {
  if (slotCount === SLOTS) return false;
  setSlotValue(slotCount, value);
  setSlot(slotCount, SLOT_DETAIL, detail);
  endSlot(node, kind, start, length);
  addToForm(node);
  return true;
}

/** Copies `[from, end)` of the source to the side. */
export function copyToSide(from: u32, end: u32): void {
  assert(from <= end && end <= SOURCE_BYTES && sideBytes + (end - from) <= SIDE_BYTES);
  memory.copy(SIDE + sideBytes, SOURCE + from, end - from);
  sideBytes += end - from;
}

/** Copies a string to the side, its escapes undone; the offset of the quote that ends it, or 0. */
export function unescaped(from: u32, end: u32): u32 {
  let at = from;
  let to = sideBytes;
  while (at < end) {
    const stop = plainEnd(at, end);
    if (stop >= end) return 0;
    assert(to + (stop - at) <= SIDE_BYTES);
    memory.copy(SIDE + to, SOURCE + at, stop - at);
    to += stop - at;
    const byte = sourceByte(stop);
    if (byte === QUOTE) {
      sideBytes = to;
      return stop;
    }
    if (byte !== BACKSLASH) return 0;
    const letter = sourceByte(stop + 1);
    if (letter === LETTER_U) {
      const point = stop + 6 <= end ? escapedPoint(stop + 2) : NO_POINT;
      if (point === NO_POINT) return 0;
      to = putPoint(to, point);
      at = stop + 6;
    } else {
      const meant = escaped(letter);
      if (meant === 0) return 0;
      setSide(to++, meant);
      at = stop + 2;
    }
  }
  return 0;
}

/** Writes a code point below 0x10000 to the side as UTF-8; the offset behind it. */
function putPoint(at: u32, point: u32): u32 {
  if (point < 0x80) {
    setSide(at, point);
    return at + 1;
  }
  if (point < 0x800) {
    setSide(at, 0xc0 | (point >> 6));
    setSide(at + 1, 0x80 | (point & 0x3f));
    return at + 2;
  }
  setSide(at, 0xe0 | (point >> 12));
  setSide(at + 1, 0x80 | ((point >> 6) & 0x3f));
  setSide(at + 2, 0x80 | (point & 0x3f));
  return at + 3;
}

export {
  addSlot,
  addToForm,
  beginSlots,
  dateCount,
  endSlot,
  formHash,
  setSideBytes,
  sideBase,
  sideBytes,
  sideStart,
  slotCount,
};
