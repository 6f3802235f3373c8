import { closeSync, openSync, readSync } from 'node:fs';
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads';
import type { Corpus } from './index.ts';

const PIECE_BYTES = 1_000_000;
/** A longer line would be refused by the service, and a whole body with it. */
const LINE_BYTES_MAX = 1_000_000;
/** A thread that gives nothing for so long is dead. */
const WAIT_MS_MAX = 60_000;
const NEWLINE = 10;
const RETURN = 13;
const GZIP = Buffer.from([0x1f, 0x8b]);

/** The data of the thread that unpacks a file. */
export interface InflateJob {
  path: string;
  port: MessagePort;
  /** One shared cell: whose turn it is. */
  turn: Int32Array;
}

/**
 * Values of the cell: the reader waits for a piece, or has it, and the thread waits until the next one is asked for.
 */
export const ASKED = 0;
export const GIVEN = 1;

/** A message to the reader: a piece of the content, or how it ended. */
export type Inflated = { piece: Uint8Array } | { end: true } | { error: string };

/** Gives the next piece of a file's content; none at its end. It is valid until the next call. */
type Pieces = () => Uint8Array | undefined;

/** Bytes of `path` from `position` on, at most as many as `target` holds; opens the file for this alone. */
function readAt(path: string, target: Buffer, position: number): Buffer {
  const file = openSync(path, 'r');
  try {
    return target.subarray(0, readSync(file, target, 0, target.length, position));
  } finally {
    closeSync(file);
  }
}

function plainPieces(path: string): Pieces {
  const target = Buffer.allocUnsafe(PIECE_BYTES);
  let position = 0;
  return () => {
    const piece = readAt(path, target, position);
    position += piece.length;
    return piece.length > 0 ? piece : undefined;
  };
}

/** Pieces of a file in gzip. A thread unpacks it while this one waits, because lines are asked for one by one. */
function inflatedPieces(path: string): Pieces {
  const { port1, port2 } = new MessageChannel();
  const turn = new Int32Array(new SharedArrayBuffer(4));
  turn[0] = GIVEN;
  const workerData: InflateJob = { path, port: port2, turn };
  const thread = new Worker(new URL('inflate-thread.ts', import.meta.url), {
    workerData,
    transferList: [port2],
  });
  thread.unref();
  return () => {
    Atomics.store(turn, 0, ASKED);
    Atomics.notify(turn, 0);
    Atomics.wait(turn, 0, ASKED, WAIT_MS_MAX);
    const inflated: Inflated | undefined = receiveMessageOnPort(port1)?.message;
    if (inflated === undefined) throw new Error(`nothing came of ${path}`);
    if ('piece' in inflated) return inflated.piece;
    port1.close();
    if ('error' in inflated) throw new Error(`${path}: ${inflated.error}`);
    return undefined;
  };
}

/** Lines out of pieces, those that are empty left out. Keeps a piece and a line. */
class Lines {
  readonly #pieces: Pieces;
  #piece: Buffer = Buffer.alloc(0);
  #at = 0;
  /** The beginning of a line that goes on in the next piece. */
  readonly #begun = Buffer.allocUnsafe(LINE_BYTES_MAX);
  #begunBytes = 0;

  constructor(pieces: Pieces) {
    this.#pieces = pieces;
  }

  /** The next line; none at the end. */
  next(): string | undefined {
    for (;;) {
      const end = this.#piece.indexOf(NEWLINE, this.#at);
      this.#take(end < 0 ? this.#piece.length : end);
      if (end >= 0) {
        this.#at = end + 1;
        const line = this.#finish();
        if (line !== '') return line;
      } else {
        const piece = this.#pieces();
        if (piece === undefined) return this.#finish() || undefined;
        this.#piece = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
        this.#at = 0;
      }
    }
  }

  /** Adds what lies before `end` to the line that is begun, as far as there is room. */
  #take(end: number): void {
    const stop = Math.min(end, this.#at + LINE_BYTES_MAX - this.#begunBytes);
    this.#begunBytes += this.#piece.copy(this.#begun, this.#begunBytes, this.#at, stop);
    this.#at = end;
  }

  #finish(): string {
    const bytes = this.#begunBytes;
    this.#begunBytes = 0;
    const isReturn = bytes > 0 && this.#begun[bytes - 1] === RETURN;
    return this.#begun.toString('utf8', 0, isReturn ? bytes - 1 : bytes);
  }
}

/**
 * A user's own file as a corpus: its lines, from the first one on and again when more are asked for, whatever the seed.
 * It is read a megabyte at a time, and unpacked when it is in gzip. Lines are cut at 1,000,000 bytes, empty ones are
 * left out, and what is not UTF-8 becomes U+FFFD. A source that unpacks keeps its thread until the file or the process
 * ends. Throws when the file cannot be read or has no line; the source throws when it can no more be read or unpacked.
 */
export function fileCorpus(path: string): Corpus {
  const isGzip = readAt(path, Buffer.alloc(GZIP.length), 0).equals(GZIP);
  const open = (): Lines => new Lines(isGzip ? inflatedPieces(path) : plainPieces(path));
  const make = (): (() => string) => {
    let lines = open();
    return () => {
      let line = lines.next();
      if (line === undefined) {
        lines = open();
        line = lines.next();
      }
      if (line === undefined) throw new Error(`${path} has no line`);
      return line;
    };
  };
  make()();
  return {
    name: 'file',
    what: `lines of ${path}`,
    bound: 'what `node bench/corpora.ts --file` says of them',
    format: 'mixed',
    attributes: [],
    make,
  };
}
