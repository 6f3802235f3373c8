import type { Reply } from '../api/reply.ts';

/** A request and the way to answer it once, whatever library brought it. */
export interface Exchange {
  /** Upper-case. */
  readonly method: string;
  /** Path as it was sent, without the query. */
  readonly path: string;
  /** Query as it was sent, without `?`; empty when there is none. */
  readonly query: string;
  /** Names are lower-case; a header that came twice has its last value. */
  readonly headers: Map<string, string>;
  /** The peer's address as text. */
  readonly peer: string;
  /** Bytes of the body when the request says so. */
  readonly contentBytes: number | undefined;
  /**
   * Gives the body in chunks, which are valid during the call; the last may be empty. Must be called before the
   * handler returns, unless the request was answered by then. Nothing comes after an answer.
   */
  read(take: (chunk: Uint8Array, isLast: boolean) => void): void;
  /** Calls `gone` once, when the client goes away before the answer. */
  whenGone(gone: () => void): void;
  /** Answers; does nothing when the client is gone or an answer was given. `close` ends the connection with it. */
  answer(reply: Reply, close?: boolean): void;
}
