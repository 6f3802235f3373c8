import { LINE_FEED, NUL, trimmedEnd } from '../../../engine/base/ascii.ts';
import type { Address } from '../../address.ts';
import type { Intake } from '../../ingest/intake.ts';
import { LINES_SLOT_BYTES, type LineOrigin, type LineSource } from '../../ingest/worker-handle.ts';
import type { Sender } from '../../registry/senders.ts';
import { plainAddress } from '../header.ts';
import { type KernelSocket, kernelSockets } from '../kernel-sockets.ts';
import { listenFault } from '../listen-fault.ts';
import { endLinesAtNuls } from '../record-splitter.ts';
import { DATAGRAM_BYTES_MAX, type DatagramSink } from './datagram-reader.ts';
import { DatagramSocket } from './datagram-socket.ts';

/** Dependencies of a listener for datagrams. Its port may be 0: any free one. */
export interface UdpOptions extends Address {
  /** The setting that errors name. */
  setting: string;
  intake: Pick<Intake, 'leastBusy'>;
  /** Receives failures; the listener goes on. */
  failed: (error: Error) => void;
  /** The cell of the write key that the listener is bound to; without it each datagram brings its own key. */
  cell?: () => number;
  /** Is told now and then from where a datagram came, and the word that it begins with. */
  met?: (sender: Sender, word: string) => void;
}

/** An open UDP listener. */
export interface UdpListener {
  readonly port: number;
  readonly counts: UdpCounts;
  /** Datagrams that the kernel dropped as its buffer was full; `undefined` when it does not tell. */
  kernelDropCount(): number | undefined;
  /** Takes no more datagrams. */
  close(): Promise<void>;
}

/** Sums since the start. */
export interface UdpCounts {
  datagrams: number;
  /** Datagrams among them for which there was no room. */
  datagramsDropped: number;
}

/** Time that a line waits for others that fill a slot. */
const BATCH_MS = 20;
/** The same of slots that are filled faster. */
const SLOT_PATIENCE_MS = 100;
/** A sender is told that often at most. */
const MET_MS = 50;
/** Bytes at the beginning of a datagram that may be a key. */
const WORD_BYTES = 64;
const NOTHING = new Uint8Array(0);

/**
 * Listens for datagrams with lines: the first begins with the write key, later ones may. Nothing is ever sent. What
 * there is no room for is dropped and counted. Rejects with USAGE when the address cannot be had; its cause has the
 * code, EACCES without the right to the port. Source: INTERFACE.md 4.4.
 */
export async function listenUdp(options: UdpOptions): Promise<UdpListener> {
  const { setting, failed } = options;
  const receiver = new Receiver(options);
  const socket = await DatagramSocket.bind(options, receiver, failed).catch((cause) => {
    throw listenFault(setting, options, cause, 'udp');
  });
  return {
    port: socket.port,
    counts: receiver.counts,
    kernelDropCount: () => dropsOf(kernelSockets('udp', socket.port)),
    close: async () => {
      await socket.close();
      receiver.close();
    },
  };
}

/** A datagram of several lines within a batch, its last line feed included. */
interface Lines {
  start: number;
  end: number;
}

/**
 * Takes datagrams, for which no sender waits. They are handed over many at a time, so that a worker has one task and
 * few messages for many events.
 */
class Receiver implements LineSource, DatagramSink {
  readonly origin: LineOrigin;
  readonly counts: UdpCounts = { datagrams: 0, datagramsDropped: 0 };
  /** Lines that were not handed over, each with its line feed, and room for a datagram and its line feed. */
  readonly #bytes = Buffer.alloc(LINES_SLOT_BYTES + DATAGRAM_BYTES_MAX + 1);
  #end = 0;
  readonly #intake: UdpOptions['intake'];
  #spans: Lines[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #met: UdpOptions['met'];
  #metMs = Number.NEGATIVE_INFINITY;

  constructor({ intake, cell, met }: UdpOptions) {
    this.#intake = intake;
    this.#met = met;
    const common = { channel: 'udp', patienceMs: SLOT_PATIENCE_MS } as const;
    this.origin = cell === undefined ? common : { ...common, cell };
  }

  read(): void {}

  settled(): void {}

  take(datagram: Buffer, from: number, to: number, address?: string): void {
    this.counts.datagrams++;
    const bytes = this.#bytes;
    const start = this.#end;
    let end = start + datagram.copy(bytes, start, from, to);
    if (address !== undefined) this.#meet(address, start, end);
    // So that the search for NULs ends there.
    bytes[end] = NUL;
    endLinesAtNuls(bytes, start, end);
    end = trimmedEnd(bytes, start, end);
    if (end === start) return;
    bytes[end++] = LINE_FEED;
    if (end <= LINES_SLOT_BYTES) this.#add(start, end);
    else if (!this.handOver()) this.counts.datagramsDropped++;
    else this.#add(0, bytes.copy(bytes, 0, start, end));
  }

  /** Adds the lines of a datagram, which lie behind the others. */
  #add(start: number, end: number): void {
    if (this.#bytes.indexOf(LINE_FEED, start) < end - 1) this.#spans.push({ start, end });
    this.#end = end;
    this.#timer ??= setTimeout(() => this.handOver(true), BATCH_MS);
  }

  #meet(address: string, start: number, end: number): void {
    const nowMs = performance.now();
    if (this.#met === undefined || nowMs - this.#metMs < MET_MS) return;
    this.#metMs = nowMs;
    const wordEnd = Math.min(start + WORD_BYTES, end);
    const [word = ''] = this.#bytes.toString('latin1', start, wordEnd).split(' ', 1);
    this.#met({ channel: 'udp', peer: plainAddress(address) }, word);
  }

  /**
   * Hands the collected lines to a worker, which is told at once when they have waited. False when there is no room for
   * them: they stay, and are tried again later.
   */
  handOver(haveWaited = false): boolean {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#end === 0) return true;
    const thread = this.#intake.leastBusy();
    if (!thread.roomForLines(this.#end, this.origin)) {
      this.#timer = setTimeout(() => this.handOver(true), BATCH_MS);
      return false;
    }
    let at = 0;
    for (const { start, end } of this.#spans) {
      if (start > at) thread.appendLines(NOTHING, this.#bytes.subarray(at, start), false, this);
      thread.appendLines(NOTHING, this.#bytes.subarray(start, end), false, this, 'datagram');
      at = end;
    }
    const rest = this.#bytes.subarray(at, this.#end);
    if (rest.length > 0) thread.appendLines(NOTHING, rest, false, this);
    this.#spans = [];
    this.#end = 0;
    if (haveWaited) thread.flush();
    return true;
  }

  /** Hands over what there is room for; the rest is lost. */
  close(): void {
    this.handOver(true);
    clearTimeout(this.#timer);
  }
}

/** Sum of the datagrams that the kernel dropped on sockets; `undefined` when there is none. */
export function dropsOf(sockets: readonly KernelSocket[]): number | undefined {
  if (sockets.length === 0) return undefined;
  return sockets.reduce((sum, { drops }) => sum + Number(drops), 0);
}
