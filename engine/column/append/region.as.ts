// biome-ignore format: a name a line would be longer.
import {
  idMax, idMin, STREAM_COUNT, STREAM_EXTENT, STREAM_LOW, STREAM_VALUES, STREAM_WORDS,
  streamExtent, streamIdExtent, streamPack, streamRelative, streamSteps,
} from '../../packed/stream.as.ts';
// biome-ignore format: a name a line would be longer.
import {
  BLOCK_META, BLOCK_META_BYTES, BLOCK_OUT, BLOCK_OUT_BYTES, BLOCK_PAD, BLOCK_REGION,
  BLOCK_REGION_BYTES, BLOCK_REGIONS, runHead, runStart, setRegion, setRunHead, setRunStart,
} from './memory.as.ts';

/**
 * Regions of a block that encode.as.ts writes, and the streams of numbers in them, as RegionWriter and integers.ts make
 * them. Memory: see memory.as.ts.
 */

// Heads of streams: integers.ts.
const CONSTANT: u32 = 0;
const PACKED: u32 = 1;
const DELTA: u32 = 2;
const RUNS: u32 = 3;
const BASE_NEGATIVE: u32 = 8;
const STEP_NEGATIVE: u32 = 16;
const WORD_BITS: u32 = 32;
const SAFE_MAX: f64 = 9007199254740991;

// Rules of integers.ts and chunk.ts.
const RUN_START_BITS: u32 = 16;
const RUNS_OVERHEAD_BITS: u32 = 128;
const INLINE_BYTES_MAX: u32 = 128;
const REGION_ALIGNMENT: u32 = 8;

/** The most that a varint takes. */
const VARINT_BYTES: u32 = 8;

/** Bytes of the meta, of the region that is being written, and of the regions that lie outside of the meta. */
let blockMetaBytes: u32 = 0;
let regionBytes: u32 = 0;
let blockOutBytes: u32 = 0;
/** Regions outside of the meta. */
let blockRegions: u32 = 0;
/** Set when something of the column had no room. */
let isOver: bool = false;

/** Least and greatest number of the last stream. */
let streamLeast: f64 = 0;
let streamGreatest: f64 = 0;
/** Bytes and regions before the column that is being written. */
let keptMetaBytes: u32 = 0;
let keptOutBytes: u32 = 0;
let keptRegions: u32 = 0;

/** Begins a part of a block. */
function beginRegions(): void {
  blockMetaBytes = 0;
  blockOutBytes = 0;
  blockRegions = 0;
}
/** Begins a column. */
function keepRegions(): void {
  keptMetaBytes = blockMetaBytes;
  keptOutBytes = blockOutBytes;
  keptRegions = blockRegions;
  regionBytes = 0;
  isOver = false;
}
/** Forgets what was written since. */
function dropRegions(): void {
  blockMetaBytes = keptMetaBytes;
  blockOutBytes = keptOutBytes;
  blockRegions = keptRegions;
}
function giveUp(): void {
  isOver = true;
}

/** Address of the next `bytes` bytes of the meta. */
function metaAt(bytes: u32): u32 {
  assert(blockMetaBytes + bytes <= BLOCK_META_BYTES + BLOCK_PAD);
  return BLOCK_META + blockMetaBytes;
}
/** Address of the next `bytes` bytes of the region. */
function regionAt(bytes: u32): u32 {
  assert(regionBytes + bytes <= BLOCK_REGION_BYTES + BLOCK_PAD);
  return BLOCK_REGION + regionBytes;
}
/** The same, and the region has them. */
function takeRegion(bytes: u32): u32 {
  const at = regionAt(bytes);
  regionBytes += bytes;
  return at;
}
/** Address of the next `bytes` bytes outside of the meta. */
function outAt(bytes: u32): u32 {
  assert(blockOutBytes + bytes <= BLOCK_OUT_BYTES + BLOCK_PAD);
  return BLOCK_OUT + blockOutBytes;
}
/** Says that as many bytes were put there. */
function takeOut(bytes: u32): void {
  blockOutBytes += bytes;
}
/** Address of number `index` of a stream. */
function valueAt(index: u32): u32 {
  assert(index < STREAM_COUNT);
  return STREAM_VALUES + 8 * index;
}
function setId(index: u32, id: u32): void {
  assert(index < STREAM_COUNT);
  store<u32>(STREAM_LOW + 4 * index, id);
}
function idAt(index: u32): u32 {
  assert(index < STREAM_COUNT);
  return load<u32>(STREAM_LOW + 4 * index);
}

/** Writes a LEB128; how many bytes it has. */
function putVarint(to: u32, value: u64): u32 {
  let at = to;
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) store<u8>(at++, <u8>(rest | 0x80));
  store<u8>(at++, <u8>rest);
  return at - to;
}
function metaVarint(value: u32): void {
  blockMetaBytes += putVarint(metaAt(VARINT_BYTES), value);
}
function metaByte(value: u32): void {
  store<u8>(metaAt(1), <u8>value);
  blockMetaBytes++;
}
function metaNumber(value: f64): void {
  store<f64>(metaAt(8), value);
  blockMetaBytes += 8;
}
function varint(value: u64): void {
  regionBytes += putVarint(regionAt(VARINT_BYTES), value);
}
function byte(value: u32): void {
  store<u8>(regionAt(1), <u8>value);
  regionBytes++;
}

/** Adds the region to the block, and empties it, as `RegionWriter.end` does. */
function endRegion(): void {
  const bytes = regionBytes;
  regionBytes = 0;
  if (bytes <= INLINE_BYTES_MAX) {
    metaVarint(bytes * 2 + 1);
    memory.copy(metaAt(bytes), BLOCK_REGION, bytes);
    blockMetaBytes += bytes;
    return;
  }
  const at = (blockOutBytes + REGION_ALIGNMENT - 1) & ~(REGION_ALIGNMENT - 1);
  if (at + bytes > BLOCK_OUT_BYTES || blockRegions === BLOCK_REGIONS) {
    isOver = true;
    return;
  }
  metaVarint(bytes * 2);
  setRegion(blockRegions++, blockMetaBytes, at, bytes);
  metaAt(4);
  blockMetaBytes += 4;
  memory.fill(BLOCK_OUT + blockOutBytes, 0, at - blockOutBytes);
  memory.copy(BLOCK_OUT + at, BLOCK_REGION, bytes);
  blockOutBytes = at + bytes;
}

/** Bits of a whole number below 2^53. */
function bitsOf(value: f64): u32 {
  return 64 - <u32>clz<u64>(<u64>value);
}

/** Packs the numbers of the stream kernel, as `writeLess` does. */
function putWords(count: u32, width: u32, base: u32): void {
  byte(width);
  while (regionBytes & 3) byte(0);
  putPart(false, count, min(width, WORD_BITS), base);
  if (width > WORD_BITS) putPart(true, count, width - WORD_BITS, 0);
}

function putPart(isHigh: bool, count: u32, width: u32, base: u32): void {
  const bytes = streamPack(isHigh, count, width, base);
  memory.copy(takeRegion(bytes), STREAM_WORDS, bytes);
}

/** Writes the first `count` numbers, at whose extent was looked, as `writePackable` does. */
function putPackable(count: u32, isOrdered: bool): void {
  const least = load<f64>(STREAM_EXTENT);
  const range = load<f64>(STREAM_EXTENT + 8) - least;
  const leastStep = load<f64>(STREAM_EXTENT + 16);
  const stepRange = load<f64>(STREAM_EXTENT + 24) - leastStep;
  if (range === 0) {
    byte(CONSTANT | (least < 0 ? BASE_NEGATIVE : 0));
    varint(<u64>abs(least));
  } else if (isOrdered && stepRange < range / 2) {
    const first = load<f64>(valueAt(0));
    const width = bitsOf(stepRange);
    streamSteps(count - 1, leastStep, width > WORD_BITS);
    byte(DELTA | (first < 0 ? BASE_NEGATIVE : 0) | (leastStep < 0 ? STEP_NEGATIVE : 0));
    varint(<u64>abs(first));
    varint(<u64>abs(leastStep));
    putWords(count - 1, width, 0);
  } else {
    const width = bitsOf(range);
    streamRelative(count, least, width > WORD_BITS);
    byte(PACKED | (least < 0 ? BASE_NEGATIVE : 0));
    varint(<u64>abs(least));
    putWords(count, width, 0);
  }
}

/** Writes the first `count` numbers as runs, as `writeRunStream` does. */
function putRuns(count: u32, runs: u32): void {
  let run: u32 = 0;
  let before = load<f64>(valueAt(0));
  setRunStart(0, 0);
  setRunHead(0, before);
  for (let index: u32 = 1; index < count; index++) {
    const value = load<f64>(valueAt(index));
    if (value === before) continue;
    run++;
    setRunStart(run, index);
    setRunHead(run, value);
    before = value;
  }
  byte(RUNS);
  varint(runs);
  for (let at: u32 = 0; at < runs; at++) store<f64>(valueAt(at), runStart(at));
  streamExtent(runs);
  putPackable(runs, true);
  for (let at: u32 = 0; at < runs; at++) store<f64>(valueAt(at), runHead(at));
  streamExtent(runs);
  putPackable(runs, true);
}

/** Writes the first `count` numbers as `writeIntegers` does; false for those that are stored as doubles. */
function putStream(count: u32, isIds: bool): bool {
  const found = streamExtent(count);
  const runs = found >>> 1;
  streamLeast = load<f64>(STREAM_EXTENT);
  streamGreatest = load<f64>(STREAM_EXTENT + 8);
  const range = streamGreatest - streamLeast;
  const isSafe = streamLeast >= -SAFE_MAX && streamGreatest <= SAFE_MAX && range <= SAFE_MAX;
  if ((found & 1) === 0 || !isSafe) return false;
  const isOrdered = !isIds && count > 1;
  const stepRange = load<f64>(STREAM_EXTENT + 24) - load<f64>(STREAM_EXTENT + 16);
  const width = bitsOf(isOrdered ? min(stepRange, range) : range);
  const runBits = runs * (RUN_START_BITS + bitsOf(range)) + RUNS_OVERHEAD_BITS;
  if (runs > 1 && runBits < count * width) putRuns(count, runs);
  else putPackable(count, isOrdered);
  return true;
}

/** Writes the first `count` ids, at least one, as `writeIds` does. */
function putIds(count: u32): void {
  const runs = streamIdExtent(count);
  const width = WORD_BITS - clz<u32>(idMax - idMin);
  if (idMin !== idMax && runs * (RUN_START_BITS + width) + RUNS_OVERHEAD_BITS < count * width) {
    for (let index: u32 = 0; index < count; index++) store<f64>(valueAt(index), idAt(index));
    putRuns(count, runs);
    return;
  }
  byte(idMin === idMax ? CONSTANT : PACKED);
  varint(idMin);
  if (idMin !== idMax) putWords(count, width, idMin);
}

// biome-ignore format: a name a line would be longer.
export {
  beginRegions, blockMetaBytes, blockOutBytes, blockRegions, byte, dropRegions, endRegion, giveUp,
  isOver, keepRegions, metaByte, metaNumber, metaVarint, outAt, putIds, putStream, regionBytes,
  SAFE_MAX, setId, streamGreatest, streamLeast, takeOut, takeRegion, valueAt, varint,
};
