/**
 * Failures of operation, as opposed to bugs. CORRUPTION: bytes on disk are not the bytes that were written. MISMATCH:
 * a file made from others lacks some of their rows. LIMIT: a documented bound was reached. MEMORY: a query would
 * exceed its memory. IO: the operating system refused. USAGE: the caller asked for something impossible. CLOSED: the
 * object is no longer open. CANCELLED: the client left or the time ran out.
 */
export type EngineErrorCode =
  | 'CORRUPTION'
  | 'MISMATCH'
  | 'LIMIT'
  | 'MEMORY'
  | 'IO'
  | 'USAGE'
  | 'CLOSED'
  | 'CANCELLED';

/** An operating error of the engine. Callers match on `code`, never on the message. */
export class EngineError extends Error {
  readonly code: EngineErrorCode;

  constructor(code: EngineErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'EngineError';
    this.code = code;
  }
}

/** Throws CORRUPTION with the message `what`. */
export function damaged(what: string): never {
  throw new EngineError('CORRUPTION', what);
}
