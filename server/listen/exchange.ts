import type { Reply } from '../api/reply.ts';
import type { RequestHead } from './request-head.ts';

/** The one who asked for the body of a request. */
export interface BodyTaker {
  /** Takes a chunk, which is valid during the call; the last may be empty. */
  take(chunk: Uint8Array, isLast: boolean): void;
  /** Is called once, when the client goes away before the answer. */
  gone(): void;
}

/** A request and the way to answer it once, whatever library brought it. */
export interface Exchange {
  readonly head: RequestHead;
  /** The peer's address as text. */
  readonly peer: string;
  /** Bytes of the body when the request says so. */
  readonly contentBytes: number | undefined;
  /**
   * Has the body taken. Must be called before the handler returns, unless the request was answered by then. Nothing
   * comes after an answer.
   */
  read(taker: BodyTaker): void;
  /** Answers; does nothing when the client is gone or an answer was given. `close` ends the connection with it. */
  answer(reply: Reply, close?: boolean): void;
}
