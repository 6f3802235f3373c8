import { assert } from './assert.ts';

/** Rows of one block: row positions fit in 16 bits. Source: FORMAT.md 4. */
export const BLOCK_ROWS_MAX = 65_536;

/** Digits of the length of an octet-counted frame. Source: INTERFACE.md 4.4. */
export const FRAME_DIGITS_MAX = 7;

/** Bytes of the values of one block's rows, as text; names do not count. Bounds what is decoded with a block. */
export const BLOCK_TEXT_BYTES_MAX = 32 * 1024 * 1024;

/** Rows at which ingestion closes its open block; 8 k to 64 k differ by 10 % in CPU, 3 % in size. */
export const BLOCK_ROWS_CLOSE = 32_768;

/**
 * A flush of at least this many rows closes the block: rewriting it later would gain too little. An ordinary body of
 * 1 MB has more: writing its rows again would take a tenth of the CPU that it costs.
 */
export const BLOCK_ROWS_FINAL = 1_536;

/** Bytes of values and leaves at which a flush closes the block likewise: those of as many ordinary rows. */
export const BLOCK_BYTES_FINAL = 750_000;

/** Age at which an open block is written whole, so that a trickle does not leave a block an event. */
export const BLOCK_AGE_MAX_MS = 60_000;

/** Rows of a log segment after which the writer begins the next one. */
export const LOG_SEGMENT_ROWS_MAX = 1_000_000;

/** Bytes of a log segment's file after which the writer begins the next one. */
export const LOG_SEGMENT_BYTES_MAX = 256 * 1024 * 1024;

/** Rows of the batch that a UTC day must have to get a sealed segment of its own. */
export const DAY_ROWS_MIN = 4_096;

/** Age at which a log segment is closed, so that a trickle is sealed too. */
export const SEGMENT_AGE_MAX_MS = 3_600_000;

/** Rows of a text piece: 2 % larger than 4,096 rows, and a fetch decodes a quarter. */
export const TEXT_PIECE_ROWS = 1_024;

/** A column present in fewer than 1 in this many rows stores positions instead of slots. */
export const SPARSE_RATIO = 16;

/** Compression has to save at least this share to be used: 15 %. */
export const COMPRESSION_GAIN_MIN = 0.15;

/** Paths one writer knows before it starts its table anew with the next block. */
export const PATHS_MAX = 65_536;

/** Levels of nesting below `custom` or `syslog`; deeper subtrees become text. INTERFACE.md 8. */
export const DEPTH_MAX = 20;

/** Attributes of one event; those beyond go to `custom._excess`. INTERFACE.md 8. */
export const ATTRIBUTES_MAX = 1_000;

/** Bytes of an attribute's name; an attribute with a longer one goes to `custom._excess`. */
export const NAME_BYTES_MAX = 256;

/** Distinct attribute names that a write key may bring on a UTC day; others go to `custom._excess`. */
export const NAMES_PER_KEY_DAY = 100_000;

/** Bytes of one event or line. INTERFACE.md 8. */
export const EVENT_BYTES_MAX = 1_048_576;

/** Events of one body, lines or elements that turn out to be none included. */
export const BODY_EVENTS_MAX = 1_048_576;

/** Bytes that an event counts as at least, in quotas. */
export const EVENT_BYTES_MIN = 64;

/** Events of one list reply. INTERFACE.md 4.6. */
export const LIST_LIMIT_MAX = 1_000;

/** Distinct values up to which `cardinality` is exact. INTERFACE.md 4.8. */
export const CARDINALITY_EXACT_MAX = 10_000;

assert(BLOCK_ROWS_CLOSE <= BLOCK_ROWS_MAX, 'an open block fits in a block');
assert(BLOCK_ROWS_FINAL < BLOCK_ROWS_CLOSE, 'a small block is smaller than a full one');
assert(4 * EVENT_BYTES_MAX <= BLOCK_TEXT_BYTES_MAX / 2, 'an event fits in half a block');
assert(BLOCK_ROWS_MAX % TEXT_PIECE_ROWS === 0, 'text pieces fill a block');
