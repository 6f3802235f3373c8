import { constants, crc32, deflateRawSync } from 'node:zlib';
import type { AnswerPieces } from './answer/answer-writer.ts';
import type { JobAnswer } from './job.ts';
import type { QueryUnits } from './scheduler.ts';

/** Bytes of an answer up to which it is sent as it is. */
const PLAIN_BYTES_MAX = 1_000;

const encoder = new TextEncoder();
const BEGIN = encoder.encode('{"result":');
const END = encoder.encode('}');
/** The beginning of a gzip member without a name and a date. Source: RFC 1952, 2.3. */
const HEAD = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);
/** Checksum and length of the uncompressed bytes. */
const TAIL_BYTES = 8;
/** The fastest: the thread has other queries to answer. */
const LEVEL = 1;

/**
 * The pieces as one gzip member, a piece a unit. Each is compressed on its own, so that the member is never in one
 * place.
 */
function* gzip(pieces: readonly Uint8Array[]): QueryUnits<AnswerPieces> {
  const packed: AnswerPieces = [HEAD.slice()];
  let checksum = 0;
  let length = 0;
  for (const [at, piece] of pieces.entries()) {
    const isLast = at === pieces.length - 1;
    const finishFlush = isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH;
    packed.push(new Uint8Array(deflateRawSync(piece, { level: LEVEL, finishFlush })));
    checksum = crc32(piece, checksum);
    length += piece.length;
    yield undefined;
  }
  const tail = new DataView(new ArrayBuffer(TAIL_BYTES));
  tail.setUint32(0, checksum, true);
  tail.setUint32(4, length, true);
  packed.push(new Uint8Array(tail.buffer));
  return packed;
}

/** Recognises an answer that is a gzip member: no JSON text begins like one. */
export function isGzip(answer: readonly Uint8Array[]): boolean {
  const [first] = answer;
  return first !== undefined && first[0] === HEAD[0] && first[1] === HEAD[1];
}

/** The whole text of a reply, whose `result` is the pieces. */
export function wholeText(result: readonly Uint8Array[]): Uint8Array[] {
  return [BEGIN, ...result, END];
}

/** The answer, or the whole text of its reply as gzip when that is large. */
export function* packed(units: QueryUnits<JobAnswer>): QueryUnits<JobAnswer> {
  const answer = yield* units;
  if (answer === undefined) return undefined;
  const bytes = answer.reduce((sum, { length }) => sum + length, 0);
  if (bytes <= PLAIN_BYTES_MAX) return answer;
  if (answer.length > 1) return yield* gzip(wholeText(answer));
  return yield* gzip([Buffer.concat(wholeText(answer))]);
}
