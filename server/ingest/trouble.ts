import type { DecodeCounters } from '../decode/counters.ts';
import type { Refusal } from './refusal.ts';
import { TROUBLE_KEPT_BYTES, troubleLine } from './trouble-line.ts';

/** Kinds of trouble, by the decoders' counters. */
export const DECODE_TROUBLES: Readonly<Record<keyof DecodeCounters, string>> = {
  linesCut: 'line_cut',
  subtreesTooDeep: 'subtree_too_deep',
  eventsTooWide: 'event_too_wide',
  namesRefused: 'name_refused',
  namesOverBudget: 'name_over_budget',
  datesUnread: 'date_unread',
  textsRepaired: 'text_repaired',
  extensionsFailed: 'extension_failed',
  patternsOverBudget: 'pattern_over_budget',
};

/** Trouble with a whole body, or with a line that has no good key. */
export const BODY_MALFORMED = 'body_malformed';
/** An event or a body that is too large. */
export const BODY_TOO_LARGE = 'body_too_large';
/** A line without a valid write key, or whose key is off or spent. */
export const LINE_DROPPED = 'line_dropped';

const REFUSED: ReadonlyMap<number, string> = new Map([
  [400, BODY_MALFORMED],
  [413, BODY_TOO_LARGE],
]);
const COUNTERS = Object.keys(DECODE_TROUBLES) as (keyof DecodeCounters)[];
/** All kinds of trouble, in the order in which they are listed. */
export const TROUBLE_KINDS: readonly string[] = [
  ...COUNTERS.map((name) => DECODE_TROUBLES[name]),
  ...[BODY_MALFORMED, BODY_TOO_LARGE, LINE_DROPPED],
];

/** Before a fault in a body, so that what led to it is seen. */
const BEFORE_FAULT_BYTES = 256;

/** The last trouble of a kind that a worker had. */
export interface TroubleReport {
  kind: string;
  atMs: number;
  /** The line, as `troubleLine` shows it; empty when there is nothing that could be read. */
  line: string;
  /** Fault of a refused body. */
  reason?: string | undefined;
  /** Id of the write key, when it is known. */
  key?: string | undefined;
  /** The channel on which it came. */
  channel?: string | undefined;
  /** Address of who sent a body that was refused. */
  peer?: string | undefined;
}

/** The last line of each kind of trouble, in buffers that never grow. Owned by one ingest thread. */
export class TroubleNotes {
  /** Counts of the decoders when they were last read. */
  readonly #counted = new Float64Array(COUNTERS.length);
  readonly #bytes = new Uint8Array(TROUBLE_KINDS.length * TROUBLE_KEPT_BYTES);
  readonly #lengths = new Int32Array(TROUBLE_KINDS.length);
  readonly #isWhole: boolean[] = [];
  readonly #atMs = new Float64Array(TROUBLE_KINDS.length);
  readonly #reasons: (string | undefined)[] = [];
  readonly #keys: (string | undefined)[] = [];
  readonly #channels: (string | undefined)[] = [];
  readonly #changed = new Uint8Array(TROUBLE_KINDS.length);
  #anyChanged = false;
  #channel: string | undefined;
  #key: string | undefined;

  /** Says on which channel comes what is noted next, and the id of its write key when that is one for all of it. */
  turnTo(channel: string, key?: string): void {
    this.#channel = channel;
    this.#key = key;
  }

  /** Notes the last line of a kind. */
  note(kind: string, line: Uint8Array, atMs: number, reason?: string): void {
    const place = TROUBLE_KINDS.indexOf(kind);
    const kept = line.subarray(0, TROUBLE_KEPT_BYTES);
    this.#bytes.set(kept, place * TROUBLE_KEPT_BYTES);
    this.#lengths[place] = kept.length;
    this.#isWhole[place] = kept.length === line.length;
    this.#atMs[place] = atMs;
    this.#reasons[place] = reason;
    this.#keys[place] = this.#key;
    this.#channels[place] = this.#channel;
    this.#changed[place] = 1;
    this.#anyChanged = true;
  }

  /** Notes a body that was refused for what stands at `fault` of `source`. */
  noteBody(kind: string, source: Uint8Array, fault: number, atMs: number, reason: string): void {
    let start = fault < TROUBLE_KEPT_BYTES / 2 ? 0 : fault - BEFORE_FAULT_BYTES;
    // The first word may be the end of a key.
    while (start > 0 && start < fault && isKeyByte(source[start])) start++;
    this.note(kind, source.subarray(start), atMs, reason);
  }

  /**
   * Notes the last line of each kind that the decoder counted since the last time. `key` gives the id of its write key
   * when that is not the same for all lines.
   */
  noteCounted(
    counters: Readonly<DecodeCounters>,
    line: Uint8Array,
    atMs: number,
    key: () => string | undefined = () => undefined,
  ): void {
    for (const [place, name] of COUNTERS.entries()) {
      if (counters[name] !== this.#counted[place]) {
        this.note(DECODE_TROUBLES[name], line, atMs);
        this.#keys[place] ??= key();
      }
      this.#counted[place] = counters[name];
    }
  }

  /** Troubles noted since the last report; `undefined` when there were none. */
  report(): TroubleReport[] | undefined {
    if (!this.#anyChanged) return undefined;
    const reports: TroubleReport[] = [];
    for (const [place, kind] of TROUBLE_KINDS.entries()) {
      if (this.#changed[place] === 0) continue;
      const start = place * TROUBLE_KEPT_BYTES;
      const bytes = this.#bytes.subarray(start, start + this.#lengths[place]);
      const reason = this.#reasons[place];
      const key = this.#keys[place];
      const channel = this.#channels[place];
      reports.push({
        ...{ kind, atMs: this.#atMs[place], line: troubleLine(bytes, this.#isWhole[place]) },
        ...(reason === undefined ? {} : { reason }),
        ...(key === undefined ? {} : { key }),
        ...(channel === undefined ? {} : { channel }),
      });
    }
    this.#changed.fill(0);
    this.#anyChanged = false;
    return reports;
  }
}

/** The last trouble of each kind that any worker reported, on the front thread. */
export class TroubleLog {
  readonly #last = new Map<string, TroubleReport>();
  /** Who sent the last body that was refused, by the kind of trouble. */
  readonly #peers = new Map<string, string>();

  /** Takes what a worker reported. The report that comes last counts, whatever time it tells: clocks are set back. */
  take(reports: readonly TroubleReport[]): void {
    for (const report of reports) this.#last.set(report.kind, report);
  }

  /** Notes a request that was refused before a worker saw it. Others than malformed and too large are no trouble. */
  refused({ status, message }: Refusal, atMs: number, channel: string): void {
    const kind = REFUSED.get(status);
    if (kind !== undefined) this.take([{ kind, atMs, line: '', reason: message, channel }]);
  }

  /** Notes who sent a body that was refused with a status, whether a worker saw it or not. */
  refusedTo(status: number, peer: string): void {
    const kind = REFUSED.get(status);
    if (kind !== undefined) this.#peers.set(kind, peer);
  }

  /** The last trouble of a kind. */
  last(kind: string): TroubleReport | undefined {
    const last = this.#last.get(kind);
    const peer = this.#peers.get(kind);
    return last === undefined || peer === undefined ? last : { ...last, peer };
  }
}

/** Recognises the bytes of keys. */
function isKeyByte(byte: number): boolean {
  const letter = byte | 0x20;
  const isDigit = byte >= 0x30 && byte <= 0x39;
  return isDigit || (letter >= 0x61 && letter <= 0x7a) || byte === 0x2d || byte === 0x5f;
}
