/**
 * What can go wrong while operating, as opposed to a bug:
 * CORRUPTION bytes on disk are not what was written; MISMATCH a file that was made of others does not hold their rows; LIMIT a documented bound was reached;
 * MEMORY a query would take more memory than it may;
 * IO the operating system refused; USAGE the caller asked for something impossible;
 * CLOSED the thing is no longer open; CANCELLED the asker went away or the time ran out.
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
