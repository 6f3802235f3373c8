import {
  LITERAL_END,
  setTextFound,
  TEXT_COUNT_MAX,
  TEXT_FOUND,
  TEXT_NONE,
  TEXT_UNSURE,
  textByte,
  textClear,
  textFound,
  textStart,
} from './literal.as.ts';

/**
 * Kernel of the match of whole texts by an automaton of bytes, in the memory of literal.as.ts, in which the texts lie;
 * the plain form is `ByteAutomaton`. States are numbered from the one from which no text matches, 0; behind it come
 * those from which on the last character tells all, and then, from `stops` on, the others. Regions behind those of
 * literal.as.ts:
 *
 * | region | holds |
 * |---|---|
 * | step | by state and ASCII character the next state (u8) |
 * | accepts | by state 1 when a text may end in it (u8) |
 * | last | by state below `stops` and ASCII character 1 when a text matches that goes on and ends with it (u8) |
 * | ends | by ASCII character 1 when a text may end with it (u8) |
 * | left | texts that may match (u32) |
 */

const STATES: u32 = 128;
const CHARACTERS: u32 = 128;
/** The state from which no text matches. */
const DEAD: u32 = 0;
/** Characters by which texts are told to be none before the others are looked at. */
const FIRST: u32 = 2;

const STEP: u32 = LITERAL_END;
const ACCEPTS: u32 = STEP + STATES * CHARACTERS;
const LAST: u32 = ACCEPTS + STATES;
const ENDS: u32 = LAST + STATES * CHARACTERS;
const LEFT: u32 = ENDS + CHARACTERS;
const END: u32 = LEFT + 4 * TEXT_COUNT_MAX;

// @inline
function stepOf(state: u32, character: u32): u32 {
  assert(state < STATES && character < CHARACTERS);
  return load<u8>(STEP + state * CHARACTERS + character);
}
// @inline
function acceptsOf(state: u32): u32 {
  assert(state < STATES);
  return load<u8>(ACCEPTS + state);
}
// @inline
function lastOf(state: u32, character: u32): u32 {
  assert(state < STATES && character < CHARACTERS);
  return load<u8>(LAST + state * CHARACTERS + character);
}
// @inline
function mayEnd(character: u32): u32 {
  assert(character < CHARACTERS);
  return load<u8>(ENDS + character);
}
// @inline
function leftOf(at: u32): u32 {
  assert(at < TEXT_COUNT_MAX);
  return load<u32>(LEFT + 4 * at);
}
// @inline
function setLeft(at: u32, text: u32): void {
  assert(at < TEXT_COUNT_MAX);
  store<u32>(LEFT + 4 * at, text);
}

/** The states of the automaton: where a text begins, and the first behind those in which its last character tells. */
let begin: u32 = 0;
let stops: u32 = 0;

/** Matches the text `[start, end)`; TEXT_UNSURE when a character beyond ASCII has to be known. */
function match(start: u32, end: u32): u32 {
  let state = begin;
  for (let at = start; at < end; at++) {
    const byte = textByte(at);
    if (byte >= CHARACTERS) return TEXT_UNSURE;
    state = stepOf(state, byte);
    if (state === DEAD) return TEXT_NONE;
  }
  return acceptsOf(state) !== 0 ? TEXT_FOUND : TEXT_NONE;
}

/** The same of a text of ASCII characters. */
function matchAscii(start: u32, end: u32): u32 {
  let state = begin;
  for (let at = start; at < end; at++) {
    if (state < stops) return lastOf(state, textByte(end - 1));
    state = stepOf(state, textByte(at));
  }
  return acceptsOf(state);
}

/** Leaves those of `count` texts, which are found by now, or all, that end with a character with which some match. */
function leaveByEnd(count: u32, base: u32, all: bool): u32 {
  let leftCount: u32 = 0;
  let end: u32 = 0;
  for (let text: u32 = 0; text < count; text++) {
    const start = end;
    end = textStart(text + 1) - base;
    const isAsked = all || textFound(text) === TEXT_FOUND ? <u32>1 : 0;
    setLeft(leftCount, text);
    leftCount += isAsked & (start === end ? acceptsOf(begin) : mayEnd(textByte(end - 1)));
    setTextFound(text, TEXT_NONE);
  }
  return leftCount;
}

/** Leaves those of the texts that are left whose first characters may be of one that matches. */
function leaveByBegin(count: u32, base: u32): u32 {
  let leftCount: u32 = 0;
  for (let at: u32 = 0; at < count; at++) {
    const text = leftOf(at);
    const start = textStart(text) - base;
    const end = min(start + FIRST, textStart(text + 1) - base);
    let state = begin;
    for (let from = start; from < end; from++) state = stepOf(state, textByte(from));
    setLeft(leftCount, text);
    leftCount += state !== DEAD ? <u32>1 : 0;
  }
  return leftCount;
}

/**
 * Matches those of `count` texts that are found by now, or all. `isAscii`: none has another character, so that most
 * that do not match are told by their ends.
 */
export function automatonMatch(count: u32, isAscii: bool, all: bool, from: u32, stop: u32): void {
  begin = from;
  stops = stop;
  const base = textStart(0);
  if (all) textClear(count);
  if (!isAscii) {
    for (let text: u32 = 0; text < count; text++) {
      if (!all && textFound(text) !== TEXT_FOUND) continue;
      setTextFound(text, match(textStart(text) - base, textStart(text + 1) - base));
    }
    return;
  }
  const leftCount = leaveByBegin(leaveByEnd(count, base, all), base);
  for (let at: u32 = 0; at < leftCount; at++) {
    const text = leftOf(at);
    setTextFound(text, matchAscii(textStart(text) - base, textStart(text + 1) - base));
  }
}

/** Makes room for all regions, those of literal.as.ts too; 0 when there is none. */
export function searchBegin(): u32 {
  const wanted = <i32>((END + 0xffff) >> 16);
  return memory.size() >= wanted || memory.grow(wanted - memory.size()) >= 0 ? 1 : 0;
}

/** Offset of a region by its number in search-kernel.ts. */
export function automatonPlace(number: u32): u32 {
  if (number === 0) return STEP;
  if (number === 1) return ACCEPTS;
  return number === 2 ? LAST : ENDS;
}
