import type { Difference } from './compare.ts';
import { type Clocks, isRefusal, type Parameters, type Row } from './peer.ts';
import type { PeerEntry } from './peers.ts';
import type { RemotePeer } from './remote.ts';
import { wireFault } from './wire.ts';

/** Asks a peer a question, as often as its time allows. */

/** A question that took so long in all is not asked again, when it was asked ASKED_LEAST times. */
const ASKED_MS = 3_000;
const ASKED_LEAST = 2;

/** How often a question is asked. */
export interface Repeats {
  /** At most; a slow question is asked ASKED_LEAST times. */
  repeats: number;
  /** From so many milliseconds on it is asked once more, timed by the store too. */
  clockFromMs: number;
}

/** Result of a question: `fault` or `cannot` is there when nothing did. Times are milliseconds, one a run. */
export interface Asked {
  question: string;
  ms: number[];
  /** Of the store's process, the mean of the runs; its clock ticks in 10 ms. */
  cpuMs: number;
  /** One more run, timed by the store too; absent when it was not slow, and where the store tells no time. */
  clocks?: Clocks | undefined;
  rows: Row[];
  cannot?: string;
  fault?: string;
  /** Where the answer parts from that of `reference`. */
  difference?: Difference;
  reference?: string;
}

/** Puts a question to a peer. What goes wrong is told in what it resolves with. */
export async function ask(
  peer: RemotePeer,
  entry: PeerEntry,
  question: string,
  parameters: Parameters,
  { repeats, clockFromMs }: Repeats,
): Promise<Asked> {
  const asked: Asked = { question, ms: [], cpuMs: 0, rows: [] };
  const words = entry.texts[question]?.(parameters) ?? { cannot: 'the question is unknown' };
  if (isRefusal(words)) return { ...asked, cannot: words.cannot };
  try {
    const ms: number[] = [];
    const startedCpu = peer.cpuSeconds();
    for (let totalMs = 0; ms.length < repeats; ) {
      if (ms.length >= ASKED_LEAST && totalMs > ASKED_MS) break;
      const answer = await peer.ask(question, parameters);
      ms.push(answer.ms);
      totalMs += answer.ms;
      asked.rows = answer.rows;
    }
    asked.cpuMs = ((peer.cpuSeconds() - startedCpu) * 1000) / ms.length;
    asked.ms = ms;
    if (Math.min(...ms) >= clockFromMs) asked.clocks = await peer.clocks(question, parameters);
    return asked;
  } catch (error) {
    return { ...asked, fault: wireFault(error) };
  }
}
