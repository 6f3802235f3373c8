/** A store that is measured beside Logseam. Each runs in a worker process of its own (`worker.ts`). */

/** A value of an answer. */
export type Cell = string | number | boolean | null;
/** A row of an answer, its cells in the order that the question names. */
export type Row = readonly Cell[];

/** Events to load: a file of NDJSON, one event a line, and their number. */
export interface Part {
  file: string;
  events: number;
}

/** The answer of a peer, and the wall milliseconds until the whole answer was in the worker's memory. */
export interface Answer {
  rows: Row[];
  ms: number;
}

/** The milliseconds of one run by the worker's clock and by the store's own. */
export interface Clocks {
  ms: number;
  ownMs: number;
}

/** A store that is open and empty. */
export interface Peer {
  version: string;
  /** Its settings, as a reader would type them. */
  settings: readonly string[];
  /** The process whose CPU seconds and memory are the store's: the worker itself for a library. */
  pid: number;
  /**
   * Resolves when the store has acknowledged the events, with the milliseconds from the first byte that it was given.
   * Rejects when it refuses any.
   */
  load(part: Part): Promise<number>;
  /** Resolves when all `events` answer queries and no work in the background goes on because of them. */
  settle(events: number): Promise<void>;
  /** Asks a question of `questions.ts`. Rejects with the store's own words when it cannot answer. */
  ask(question: string, parameters: Parameters): Promise<Answer>;
  /** One more run, timed by both clocks; absent where the store tells no time. */
  clocks?(question: string, parameters: Parameters): Promise<Clocks>;
  close(): Promise<void>;
}

/** Export of a peer's module: `folder` is empty and the peer's own. */
export interface PeerModule {
  openPeer(folder: string): Promise<Peer>;
}

/** The values that questions ask for, taken from the data (`parameters.ts`). */
export interface Parameters {
  /** A word of `message` in about 3.5 % of the events. */
  commonWord: string;
  /** True when no longer word of the sample contains `commonWord`, so that finding the text is finding the word. */
  commonWordStandsAlone: boolean;
  /** A word of a few events in a million. */
  rareWord: string;
  /** Letters inside a word of many messages, and of no case but lower. */
  substring: string;
  /** A client address of a few events in a million. */
  rareAddress: string;
  /** A request that the sample has once. */
  rareRequest: string;
  /** A host of many events. */
  host: string;
  /** A regular expression for whole requests: of the syntax that all peers share. */
  requestPattern: string;
  /** Epoch milliseconds: all events lie from `fromMs` to before `toMs`, whole minutes both. */
  fromMs: number;
  toMs: number;
}

/** A question that a store has no words for, and why. */
export interface Refusal {
  cannot: string;
}

/** The milliseconds until what `work` began is done. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The request of a question to a store: T is its own way of saying it, a text of SQL or an HTTP request. */
export type Texts<T> = Readonly<Record<string, (parameters: Parameters) => T | Refusal>>;

/** The words of a store for a question; throws when it has none. */
export function wordsFor<T extends string | object>(
  texts: Texts<T>,
  question: string,
  parameters: Parameters,
): T {
  const words = texts[question]?.(parameters) ?? { cannot: 'the question is unknown' };
  if (isRefusal(words)) throw new Error(words.cannot);
  return words as T;
}

/** True when the store has no words. */
export function isRefusal(words: string | object): words is Refusal {
  return typeof words === 'object' && 'cannot' in words;
}
