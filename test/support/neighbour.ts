import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import { must } from '../../engine/base/assert.ts';
import { listAll, type Service } from './service.ts';

/** One who does all as it should be, beside one who does not: for tests of what strangers may cost. */

const ROUND_MS = 20;
const ROUND_EVENTS = 5;
/** Times of a neighbour alone from which it is known what is usual. */
const ALONE_COUNT = 100;
/**
 * Beside an attack 99 % come within so many times what 99 % took alone, and what other suites on the machine may cost.
 */
const BESIDE_TIMES = 10;
const BUSY_MS = 2_000;
/** An answer that takes longer counts as none. */
const ANSWER_MAX_MS = 60_000;

/** Numbers of a neighbour: several of one service have their own. */
const NUMBERS = 10_000_000;
let firstNumber = 0;

/** Answers to a good neighbour. */
export interface Told {
  /** Numbers of events that were acknowledged. */
  acknowledged: number[];
  /** All other answers, by what they were: a status, the code of an error. */
  refused: Map<string, number>;
  /** Of times until requests were acknowledged, the one that 99 % do not exceed. */
  p99Ms: number;
}

/** How a neighbour sends. */
export interface NeighbourOptions {
  /** The write key; that of the service when it is not given. */
  writeKey?: string;
  /** An address of the loopback network, for limits that hold for a peer. */
  from?: string;
}

/**
 * A sender of numbered events at a steady pace, from its making on: requests over HTTP, connections over TCP that are
 * closed to be acknowledged, and one connection that stays open. Those who would have come while one waits count too: a
 * service that stands still for a second is late for all of that second.
 */
export class Neighbour {
  readonly #service: Service;
  readonly #writeKey: string;
  readonly #from: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #refused = new Map<string, number>();
  readonly #acknowledged: number[] = [];
  #timesMs: number[] = [];
  /** The 99th percentile when it was alone. */
  #aloneMs: number | undefined;
  readonly #senders: Promise<void>[];
  #number = firstNumber;
  #isOver = false;

  constructor(service: Service, { writeKey, from }: NeighbourOptions = {}) {
    firstNumber += NUMBERS;
    this.#service = service;
    this.#writeKey = writeKey ?? service.writeKey;
    this.#from = from ?? '127.0.0.1';
    this.#senders = [
      this.#rounds((numbers) => this.#post(numbers)),
      this.#rounds((numbers) => this.#connection((socket) => socket.end(this.#lines(numbers)))),
      this.#stay(),
    ];
  }

  /** Resolves when it is known how long 99 % take while nobody else is there: an attack begins behind that. */
  async alone(): Promise<void> {
    while (this.#timesMs.length < ALONE_COUNT) await pause(ROUND_MS);
    this.#aloneMs = p99Of(this.#timesMs);
    this.#timesMs = [];
  }

  /** Resolves when so many more events were acknowledged. */
  async more(count: number): Promise<void> {
    const goal = this.#acknowledged.length + count;
    while (this.#acknowledged.length < goal) await pause(ROUND_MS);
  }

  /** Ends what was begun; what the neighbour was told. */
  async end(): Promise<Told> {
    this.#isOver = true;
    await Promise.all(this.#senders);
    this.#agent.destroy();
    return {
      acknowledged: this.#acknowledged,
      refused: this.#refused,
      p99Ms: p99Of(this.#timesMs),
    };
  }

  /**
   * Ends; tests that nothing was refused, that each event is stored once, and that 99 % took about as long as `alone`.
   */
  async check(t: Test): Promise<void> {
    const { acknowledged, refused, p99Ms } = await this.end();
    const aloneMs = must(this.#aloneMs, 'how long it takes alone');
    const told = `99 % within ${p99Ms.toFixed(0)} ms, alone within ${aloneMs.toFixed(0)} ms`;
    t.comment(`neighbour: ${acknowledged.length} events, ${told}`);
    t.same([...refused], [], 'the neighbour was refused nothing');
    await checkStored(t, this.#service, acknowledged);
    t.ok(p99Ms <= BESIDE_TIMES * aloneMs + BUSY_MS, told);
  }

  async #rounds(send: (numbers: number[]) => Promise<string>): Promise<void> {
    while (!this.#isOver) {
      const numbers = this.#take();
      const startedMs = performance.now();
      const answer = await send(numbers);
      const tookMs = performance.now() - startedMs;
      if (this.#note(answer, numbers)) this.#timesMs.push(...roundsIn(tookMs));
      await pause(Math.max(0, ROUND_MS - tookMs));
    }
  }

  #take(): number[] {
    return Array.from({ length: ROUND_EVENTS }, () => this.#number++);
  }

  #note(answer: string, numbers: readonly number[]): boolean {
    if (answer === '') for (const number of numbers) this.#acknowledged.push(number);
    else this.#refused.set(answer, (this.#refused.get(answer) ?? 0) + 1);
    return answer === '';
  }

  #lines(numbers: readonly number[]): string {
    return numbers.map((number) => `${this.#writeKey} {"neighbour":${number}}\n`).join('');
  }

  #post(numbers: readonly number[]): Promise<string> {
    return new Promise((resolve) => {
      const posted = request(`${this.#service.http}/v1/input/${this.#writeKey}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        agent: this.#agent,
        localAddress: this.#from,
        timeout: ANSWER_MAX_MS,
      });
      posted.on('response', (response) => {
        response.resume();
        const answer = response.statusCode === 200 ? '' : `HTTP ${response.statusCode}`;
        response.on('close', () => resolve(response.complete ? answer : 'HTTP cut'));
      });
      posted.on('timeout', () => posted.destroy());
      posted.on('error', (error: NodeJS.ErrnoException) => resolve(`HTTP ${error.code}`));
      posted.end(JSON.stringify(numbers.map((number) => ({ neighbour: number }))));
    });
  }

  /** A connection that `begin` writes to and ends; how the service closes it. */
  #connection(begin: (socket: Socket) => void): Promise<string> {
    return new Promise((resolve) => {
      const address = { port: this.#service.tcpPort, host: '127.0.0.1', localAddress: this.#from };
      const socket = connect({ ...address, allowHalfOpen: true });
      socket.setTimeout(ANSWER_MAX_MS, () => socket.destroy());
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(`TCP ${error.code}`));
      socket.on('end', () => {
        resolve(socket.writableEnded ? '' : 'TCP end');
        socket.destroy();
      });
      socket.on('close', () => resolve('TCP close'));
      // While nobody listens on a port of the range that clients get theirs from, the kernel may connect one to itself.
      socket.on('connect', () => {
        if (socket.localPort !== socket.remotePort) return;
        resolve('TCP ECONNREFUSED');
        socket.destroy();
      });
      socket.resume();
      begin(socket);
    });
  }

  async #stay(): Promise<void> {
    const numbers: number[] = [];
    const answer = await this.#connection((socket) => {
      const timer = setInterval(() => {
        const more = this.#take();
        numbers.push(...more);
        const lines = this.#lines(more);
        if (!this.#isOver) return void socket.write(lines);
        clearInterval(timer);
        socket.end(lines);
      }, ROUND_MS);
      socket.on('close', () => clearInterval(timer));
    });
    this.#note(answer, numbers);
  }
}

/** The time that 99 % do not exceed. */
function p99Of(timesMs: readonly number[]): number {
  const ordered = timesMs.toSorted((a, b) => a - b);
  return ordered[Math.ceil(ordered.length * 0.99) - 1] ?? 0;
}

/** The time of a round, and what those would have taken that were due meanwhile. */
function roundsIn(tookMs: number): number[] {
  const count = 1 + Math.floor(tookMs / ROUND_MS);
  return Array.from({ length: count }, (_, later) => tookMs - later * ROUND_MS);
}

/** Tests that the events of neighbours that were acknowledged are stored, and none of their events twice. */
export async function checkStored(
  t: Test,
  service: Service,
  acknowledged: readonly number[],
): Promise<void> {
  const events = await listAll(service, { filters: [{ search: 'neighbour:*' }] });
  const stored = events.map(({ event }) => event.custom['neighbour']);
  const there = new Set(stored);
  t.equal(there.size, stored.length, 'no event of the neighbour is there twice');
  t.same(
    acknowledged.filter((number) => !there.has(number)),
    [],
    'all that was acknowledged is there',
  );
}
