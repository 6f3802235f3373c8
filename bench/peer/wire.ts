import type { Parameters, Part } from './peer.ts';

/** Messages between the benchmark and the worker of a peer. */

/** A request to a worker. */
export type Action =
  | { action: 'open' }
  | { action: 'load'; part: Part }
  | { action: 'settle'; events: number }
  | { action: 'ask'; question: string; parameters: Parameters }
  | { action: 'clocks'; question: string; parameters: Parameters }
  | { action: 'close' };

/** An action and the number that its reply has too. */
export type Request = Action & { id: number };

/** `fault` is there when the action failed. */
export interface Reply {
  id: number;
  value?: unknown;
  fault?: string;
}

const FAULT_MAX = 300;

/** The first line of what went wrong, short enough for a table. */
export function wireFault(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.trim().split('\n')[0] ?? '').slice(0, FAULT_MAX);
}
