import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CORPUS_START_MS, CORPUS_STEP_MS } from '../corpus/clock.ts';
import { type Asked, ask, type Repeats } from './asking.ts';
import { compareAnswers } from './compare.ts';
import { folderBytes } from './disk.ts';
import { Sample } from './parameters.ts';
import { PartFiles } from './parts.ts';
import type { Parameters } from './peer.ts';
import type { PeerEntry } from './peers.ts';
import { QUESTIONS, type Question } from './questions.ts';
import { type Opened, RemotePeer } from './remote.ts';
import { wireFault } from './wire.ts';

/** Loads the same events into each peer, asks all the same questions at each stage, and compares the answers. */

/** Events of the sample that parameters are taken from. */
const SAMPLE_EVENTS = 200_000;
/** The corpus has a random step: its end is within this share of the mean. */
const RANGE_MARGIN = 1.02;
const MINUTE_MS = 60_000;
/** The part of a peer's time that loading takes, roughly. */
const LOAD_SHARE = 0.5;

/** Peers and questions to run. */
export interface RunOptions extends Repeats {
  peers: readonly PeerEntry[];
  /** The source of the events, lines of JSON with an access log's attributes; every call starts anew. */
  make(): () => string;
  /** Counts of events, ascending: when a peer has so many, it is asked. */
  stages: readonly number[];
  questions: readonly Question[];
  /** `done` is the part of all, 0 to 1. */
  progress(text: string, done: number): void;
}

/** Cost of loading up to a stage, until acknowledged and until settled: CPU seconds, bytes on disk, memory in MB. */
export interface LoadFigures {
  seconds: number;
  cpuSeconds: number;
  settledCpuSeconds: number;
  bytes: number;
  peakMegabytes: number;
}

/** Results of a peer when it had so many events. */
export interface Stage {
  events: number;
  load: LoadFigures;
  asked: Asked[];
}

/** Results of a peer: `missing` says what it was not started without, `fault` why there is no more. */
export interface PeerResult {
  name: string;
  opened?: Opened;
  stages: Stage[];
  missing?: string;
  fault?: string;
}

/** Parts that all peers of a run share. */
interface Common extends RunOptions {
  folder: string;
  parts: PartFiles;
  /** One a stage. */
  parameters: readonly Parameters[];
}

/** Runs the peers one after the other. A peer that fails is a result with a fault, never a rejection. */
export async function runPeers(options: RunOptions): Promise<PeerResult[]> {
  options.progress('choosing what to ask for', 0);
  const parameters = sampleOf(options);
  const folder = mkdtempSync(join(tmpdir(), 'logseam-peers-'));
  try {
    const parts = new PartFiles(folder, options.make(), options.stages);
    const results: PeerResult[] = [];
    for (const [place, entry] of options.peers.entries()) {
      const progress = (text: string, done: number): void =>
        options.progress(`${entry.name}: ${text}`, (place + done) / options.peers.length);
      results.push(await runPeer(entry, { ...options, folder, parts, parameters, progress }));
    }
    for (const stage of options.stages.keys()) compareStage(results, stage);
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Parameters of questions about the events of each stage: values that the first one has, and so all of them. */
export function sampleOf({ make, stages }: Pick<RunOptions, 'make' | 'stages'>): Parameters[] {
  const sample = new Sample();
  const next = make();
  for (let event = 0; event < Math.min(stages[0], SAMPLE_EVENTS); event++) sample.add(next());
  return stages.map((events) => {
    const lastMs = CORPUS_START_MS + events * CORPUS_STEP_MS * RANGE_MARGIN + MINUTE_MS;
    return sample.parameters(CORPUS_START_MS, lastMs);
  });
}

async function runPeer(entry: PeerEntry, common: Common): Promise<PeerResult> {
  const result: PeerResult = { name: entry.name, stages: [] };
  if (entry.binary !== undefined && (process.env[entry.binary] ?? '') === '')
    return { ...result, missing: `${entry.binary} names no binary` };
  const folder = join(common.folder, entry.name);
  mkdirSync(folder);
  const peer = new RemotePeer(entry.module, folder);
  try {
    result.opened = await peer.open();
    const { stages, questions } = common;
    for (const [at, events] of stages.entries()) {
      const progress = (text: string, share: number): void => {
        const before = stages[at - 1] ?? 0;
        const done = (before + share * (events - before)) / (stages.at(-1) ?? events);
        common.progress(text, done);
      };
      const load = await loadStage(peer, folder, at, result.stages.at(-1)?.load, {
        ...common,
        progress,
      });
      const asked: Asked[] = [];
      result.stages.push({ events, load, asked });
      for (const [place, { name }] of questions.entries()) {
        progress(name, LOAD_SHARE + ((1 - LOAD_SHARE) * place) / questions.length);
        asked.push(await ask(peer, entry, name, common.parameters[at], common));
      }
    }
  } catch (error) {
    result.fault = wireFault(error);
  } finally {
    await peer.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return result;
}

/**
 * Loads up to a stage and settles. Gives what loading cost from the first event on, without the questions asked
 * meanwhile.
 */
async function loadStage(
  peer: RemotePeer,
  folder: string,
  at: number,
  before: LoadFigures | undefined,
  { parts, stages, progress }: Common,
): Promise<LoadFigures> {
  const startedCpu = peer.cpuSeconds();
  peer.forgetPeak();
  let seconds = before?.seconds ?? 0;
  let loaded = stages[at - 1] ?? 0;
  const wanted = stages[at] - loaded;
  for (const part of parts.ofStage(at)) {
    seconds += (await peer.load(part)) / 1000;
    loaded += part.events;
    const share = 1 - (stages[at] - loaded) / wanted;
    progress(`${loaded} of ${stages[at]} events loaded`, LOAD_SHARE * share);
  }
  const acknowledgedCpu = peer.cpuSeconds();
  progress('settling', LOAD_SHARE);
  await peer.settle(stages[at]);
  return {
    seconds,
    cpuSeconds: (before?.cpuSeconds ?? 0) + acknowledgedCpu - startedCpu,
    settledCpuSeconds: (before?.settledCpuSeconds ?? 0) + peer.cpuSeconds() - startedCpu,
    bytes: folderBytes(folder),
    peakMegabytes: Math.max(before?.peakMegabytes ?? 0, peer.peakMegabytes()),
  };
}

/** Sets each answer of a stage beside that of the first peer that has one. */
function compareStage(results: readonly PeerResult[], stage: number): void {
  for (const { name, comparison } of QUESTIONS) {
    const answers = results.flatMap((result) =>
      (result.stages[stage]?.asked ?? [])
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
