// biome-ignore format: a name a line would be a page.
import {
  literalWord, NAME, NAME_PLACES, NODE_CONTAINER, NODE_LENGTH, NODE_LITERAL, NODES, nameAt,
  nodeField, PART, PARTS, PREDICTION_SHIFT, prediction, SPREAD, setNameAt, setNode,
  setPartNode, setPrediction, sourceWord,
} from '../template/memory.as.ts';
import { formHash } from '../template/slots.as.ts';
import { isLiteral } from '../template/text.as.ts';

/**
 * The names of syslog lines that are known: each is a node, whose literal is the name and what ends it, and lies in the
 * object at a path. They may come in any order, so they are found by their hash; the one that is likely is tried first.
 */

/** Bits of a hash that are not in its place: 64 less those of NAME_PLACES. */
const NAME_SHIFT: u64 = 51;
const WORD_BYTES: u32 = 8;
const SPREAD_WORD: u64 = ((<u64>SPREAD) << 32) | 0x7f4a7c15;
/** Places at which a name may lie, so that names whose hashes were chosen to be alike cost no more than others. */
const PLACES_TRIED: u32 = 16;

/** Secret of the hashes. */
let secret: u64 = 0;

/** Place of a name of `length` bytes, its first and last eight: of a shorter one `first` has them all. */
// @inline
function placeOf(container: u32, length: u32, first: u64, last: u64): u32 {
  const whole = length < WORD_BYTES ? first << (<u64>(64 - 8 * length)) : first;
  const end = length < WORD_BYTES ? 0 : last;
  const low = (whole ^ secret) * SPREAD_WORD;
  const high = (end ^ rotl<u64>(low, 29) ^ (((<u64>container) << 32) | <u64>length)) * SPREAD_WORD;
  return <u32>(((high ^ (high >>> 32)) * SPREAD_WORD) >>> NAME_SHIFT);
}

/** Reports whether the literal of `node` stands at `at` of the source. */
// @inline
function isNameAt(node: u32, at: u32): bool {
  return isLiteral(at, nodeField(node, NODE_LITERAL), nodeField(node, NODE_LENGTH));
}

/**
 * The node of the name that stands with what ends it in `length` bytes at `at`, in the object at `container`; 0 when it
 * is new.
 */
export function nameNode(container: u32, at: u32, length: u32): u32 {
  const last = length < WORD_BYTES ? 0 : sourceWord(at + length - WORD_BYTES);
  let place = placeOf(container, length, sourceWord(at), last);
  for (let tried: u32 = 0; tried < PLACES_TRIED; tried++) {
    const node = nameAt(place);
    if (node === 0) return 0;
    const isSame =
      nodeField(node, NODE_LENGTH) === length && nodeField(node, NODE_CONTAINER) === container;
    if (isSame && isNameAt(node, at)) return node;
    place = (place + 1) & (NAME_PLACES - 1);
  }
  return 0;
}

/** The node that came behind `node` when a line was last the same so far; 0 when none did. */
// @inline
function likelyNode(node: u32): u32 {
  const likely = prediction(((formHash ^ node) * SPREAD) >>> PREDICTION_SHIFT);
  return likely >>> 16 === node ? likely & 0xffff : 0;
}

/** Notes that `follower` comes behind `node` in a line that is as this one so far. */
// @inline
function setLikely(node: u32, follower: u32): void {
  setPrediction(((formHash ^ node) * SPREAD) >>> PREDICTION_SHIFT, node, follower);
}

/** Makes a node the name that its literal is, in the object at `container`; false when there is no room. */
export function addName(node: u32, container: u32): bool {
  assert(node < NODES);
  const length = nodeField(node, NODE_LENGTH);
  const literal = nodeField(node, NODE_LITERAL);
  const last = length < WORD_BYTES ? 0 : literalWord(literal + length - WORD_BYTES);
  let place = placeOf(container, length, literalWord(literal), last);
  for (let tried: u32 = 0; tried < PLACES_TRIED; tried++) {
    if (nameAt(place) === 0) {
      setNode(node, NODE_CONTAINER, container);
      setNameAt(place, node);
      return true;
    }
    place = (place + 1) & (NAME_PLACES - 1);
  }
  return false;
}

/** Makes a node that of a part of headers. */
export function setPart(part: u32, node: u32): void {
  setPartNode(part, node);
}

/** Forgets all names and parts. */
export function resetNames(): void {
  memory.fill(NAME, 0, 2 * NAME_PLACES);
  memory.fill(PART, 0, 4 * PARTS);
}

/** Sets the secret of the hashes, before the first name. */
export function setNameSecret(value: u32): void {
  secret = <u64>value * SPREAD_WORD;
}

export { isNameAt, likelyNode, setLikely };
