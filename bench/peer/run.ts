import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eachBody } from '../corpus/bodies.ts';
import { CORPUS_START_MS, CORPUS_STEP_MS } from '../corpus/clock.ts';
import { compareAnswers, type Difference } from './compare.ts';
import { folderBytes } from './disk.ts';
import { Sample } from './parameters.ts';
import { type Clocks, isRefusal, type Parameters, type Row } from './peer.ts';
import type { PeerEntry } from './peers.ts';
import { QUESTIONS, type Question } from './questions.ts';
import { type Opened, RemotePeer } from './remote.ts';
import { wireFault } from './wire.ts';

/** Loads the same events into each peer, asks all the same questions, and compares the answers. */

/** Events of the sample that parameters are taken from. */
const SAMPLE_EVENTS = 200_000;
const PART_EVENTS = 200_000;
/** Bytes that are made before they are written: of fewer objects the collector has less to do. */
const PIECE_BYTES = 65_536;
/** A question that took so long is not asked again, when it was asked ASKED_LEAST times. */
const ASKED_MS = 3_000;
const ASKED_LEAST = 3;
/** The corpus has a random step: its end is within this share of the mean. */
const RANGE_MARGIN = 1.02;
const MINUTE_MS = 60_000;
/** The part of a peer's time that loading takes, roughly. */
const LOAD_SHARE = 0.7;

/** What to run. */
export interface RunOptions {
  peers: readonly PeerEntry[];
  /** The source of the events, lines of JSON with an access log's attributes; every call starts anew. */
  make(): () => string;
  events: number;
  questions: readonly Question[];
  /** How often each question is asked, at most; a slow one is asked ASKED_LEAST times. */
  repeats: number;
  /** From so many milliseconds on a question is asked as often again, timed by the store too. */
  clockFromMs: number;
  /** `done` is the part of all, 0 to 1. */
  progress(text: string, done: number): void;
}

/** What loading cost, until acknowledged and until settled: CPU seconds, bytes on disk, memory in MB. */
export interface LoadFigures {
  events: number;
  seconds: number;
  cpuSeconds: number;
  settledCpuSeconds: number;
  bytes: number;
  peakMegabytes: number;
}

/** What came of a question: `fault` or `cannot` is there when nothing did. Times are milliseconds, one a run. */
export interface Asked {
  question: string;
  ms: number[];
  /** Of the store's process, the mean of the runs; its clock ticks in 10 ms. */
  cpuMs: number;
  /** Runs that were timed by the store too; empty when it tells no time. */
  clocks: Clocks[];
  rows: Row[];
  cannot?: string;
  fault?: string;
  /** Where the answer parts from that of `reference`. */
  difference?: Difference;
  reference?: string;
}

/** What came of a peer: `missing` says what it was not started without, `fault` why there is no more. */
export interface PeerResult {
  name: string;
  opened?: Opened;
  load?: LoadFigures;
  asked: Asked[];
  missing?: string;
  fault?: string;
}

/** Runs the peers one after the other. A peer that fails is a result with a fault, never a rejection. */
export async function runPeers(options: RunOptions): Promise<PeerResult[]> {
  options.progress('choosing what to ask for', 0);
  const parameters = sampleOf(options);
  const results: PeerResult[] = [];
  for (const [place, entry] of options.peers.entries()) {
    const progress = (text: string, done: number): void =>
      options.progress(`${entry.name}: ${text}`, (place + done) / options.peers.length);
    results.push(await runPeer(entry, parameters, { ...options, progress }));
  }
  compareAll(results);
  return results;
}

/** What to ask about the events of these options. */
export function sampleOf(options: Pick<RunOptions, 'make' | 'events'>): Parameters {
  const sample = new Sample();
  const next = options.make();
  for (let event = 0; event < Math.min(options.events, SAMPLE_EVENTS); event++) sample.add(next());
  const lastMs = CORPUS_START_MS + options.events * CORPUS_STEP_MS * RANGE_MARGIN + MINUTE_MS;
  return sample.parameters(CORPUS_START_MS, lastMs);
}

async function runPeer(
  entry: PeerEntry,
  parameters: Parameters,
  options: RunOptions,
): Promise<PeerResult> {
  const result: PeerResult = { name: entry.name, asked: [] };
  if (entry.binary !== undefined && (process.env[entry.binary] ?? '') === '')
    return { ...result, missing: `${entry.binary} names no binary` };
  const folder = mkdtempSync(join(tmpdir(), `logseam-peer-${entry.name}-`));
  const own = join(folder, 'store');
  mkdirSync(own);
  const peer = new RemotePeer(entry.module, own);
  try {
    result.opened = await peer.open();
    result.load = await load(peer, folder, options);
    for (const [place, { name }] of options.questions.entries()) {
      options.progress(name, LOAD_SHARE + ((1 - LOAD_SHARE) * place) / options.questions.length);
      result.asked.push(await ask(peer, entry, name, parameters, options));
    }
  } catch (error) {
    result.fault = wireFault(error);
  } finally {
    await peer.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return result;
}

/** Loads a part at a time, so that neither memory nor a file grows with the events. */
async function load(peer: RemotePeer, folder: string, options: RunOptions): Promise<LoadFigures> {
  const next = options.make();
  const file = join(folder, 'part.ndjson');
  const startedCpu = peer.cpuSeconds();
  let seconds = 0;
  for (let sent = 0; sent < options.events; ) {
    const events = Math.min(PART_EVENTS, options.events - sent);
    writePart(file, next, events);
    seconds += (await peer.load({ file, events })) / 1000;
    sent += events;
    const text = `${sent} of ${options.events} events loaded`;
    options.progress(text, (LOAD_SHARE * sent) / options.events);
  }
  rmSync(file, { force: true });
  const cpuSeconds = peer.cpuSeconds() - startedCpu;
  options.progress('settling', LOAD_SHARE);
  await peer.settle(options.events);
  return {
    events: options.events,
    seconds,
    cpuSeconds,
    settledCpuSeconds: peer.cpuSeconds() - startedCpu,
    bytes: folderBytes(folder),
    peakMegabytes: peer.peakMegabytes(),
  };
}

function writePart(path: string, next: () => string, events: number): void {
  const file = openSync(path, 'w');
  for (const { body } of eachBody(next, events, PIECE_BYTES)) writeSync(file, body);
  closeSync(file);
}

async function ask(
  peer: RemotePeer,
  entry: PeerEntry,
  question: string,
  parameters: Parameters,
  { repeats, clockFromMs }: RunOptions,
): Promise<Asked> {
  const asked: Asked = { question, ms: [], cpuMs: 0, clocks: [], rows: [] };
  const words = entry.texts[question]?.(parameters) ?? { cannot: 'the question is unknown' };
  if (isRefusal(words)) return { ...asked, cannot: words.cannot };
  let askedCount = 0;
  try {
    const startedCpu = peer.cpuSeconds();
    let totalMs = 0;
    for (let run = 0; run < repeats; run++) {
      if (run >= ASKED_LEAST && totalMs > ASKED_MS) break;
      const answer = await peer.ask(question, parameters);
      asked.ms.push(answer.ms);
      totalMs += answer.ms;
      asked.rows = answer.rows;
    }
    askedCount = asked.ms.length;
    asked.cpuMs = ((peer.cpuSeconds() - startedCpu) * 1000) / askedCount;
    if (Math.min(...asked.ms) < clockFromMs) return asked;
    for (let run = 0; run < askedCount; run++) {
      const clocks = await peer.clocks(question, parameters);
      if (clocks === undefined) break;
      asked.clocks.push(clocks);
    }
    return asked;
  } catch (error) {
    const ms = askedCount > 0 ? asked.ms : [];
    return { ...asked, ms, fault: wireFault(error) };
  }
}

/** Sets each answer beside that of the first peer that has one. */
function compareAll(results: readonly PeerResult[]): void {
  for (const { name, comparison } of QUESTIONS) {
    const answers = results.flatMap((result) =>
      result.asked
        .filter((asked) => asked.question === name && asked.ms.length > 0)
        .map((asked) => ({ peer: result.name, asked })),
    );
    const [reference, ...others] = answers;
    for (const { asked } of others) {
      const difference = compareAnswers(comparison, reference.asked.rows, asked.rows);
      if (difference === undefined) continue;
      asked.difference = difference;
      asked.reference = reference.peer;
    }
  }
}
