import { corpusOf } from '../corpus/index.ts';
import type { Bench, Workload } from '../harness.ts';
import { PEERS } from './peers.ts';
import { FOURTEEN, printRow, QUESTIONS, type Question } from './questions.ts';
import { type Asked, type PeerResult, runPeers } from './run.ts';

/** Questions to Logseam and to its peers over the same events, in one run. */

const EVENTS = 1_000_000;
/** Runs of a question that is not slow. The first one, which reads files and plans, is not among the samples. */
const REPEATS = 5;
const SEED = 1;
/** From here on a time of ours must agree with the store's own, within OWN_SHARE. */
const OWN_FROM_MS = 50;
const OWN_SHARE = 0.1;
/** CPU of all runs of a question together, below which clock ticks of 10 ms tell too little. */
const CPU_FROM_MS = 200;
/** Loading a million events and asking all questions, or the fourteen, on two cores. */
const SECONDS = 80;
const SECONDS_FOURTEEN = 60;

/** Questions, and the peers that they are put to. */
export interface Asking {
  peers?: readonly string[];
  questions?: readonly Question[];
}

/**
 * The workload over `events` of an access log (at scale 1): all questions to all peers unless less is asked for. A peer
 * without its package or binary, one that crashes, and an answer that differs are remarks.
 */
export function peersWorkload(
  corpusName: string,
  events = EVENTS,
  { peers = PEERS.map(({ name }) => name), questions = QUESTIONS }: Asking = {},
): Workload {
  const seconds = questions.length > FOURTEEN.length ? SECONDS : SECONDS_FOURTEEN;
  return {
    name: `peers-${corpusName}-${events / 1e6}m`,
    what: `${questions.length} questions to each store over ${events / 1e6}M events of ${corpusName}, one at a time, warm`,
    seconds: (seconds * events) / EVENTS,
    run: async (bench) => {
      const eventCount = Math.round(events * bench.scale);
      const results = await runPeers({
        peers: PEERS.filter(({ name }) => peers.includes(name)),
        make: () => corpusOf(corpusName).make(SEED),
        events: eventCount,
        questions,
        repeats: REPEATS,
        clockFromMs: OWN_FROM_MS,
        progress: bench.progress,
      });
      for (const result of results)
        report(bench, result, { corpus: corpusName, events: eventCount });
    },
  };
}

/** Which data the figures are of. */
interface Data {
  corpus: string;
  events: number;
}

/** What came of a peer, as figures and remarks. */
export function report(bench: Bench, result: PeerResult, data: Data): void {
  const { name: system, opened, load, asked, missing, fault } = result;
  if (opened !== undefined)
    bench.version(system, `${opened.version} (${opened.settings.join(' ')})`);
  if (load !== undefined) {
    const figure = (name: string, unit: string, sample: number): void =>
      bench.record({ name, unit, samples: [sample], system, ...data });
    const millions = load.events / 1e6;
    figure('loading', 'events/s', load.events / load.seconds);
    figure('loading, CPU acknowledged', 's/M events', load.cpuSeconds / millions);
    figure('loading, CPU settled', 's/M events', load.settledCpuSeconds / millions);
    figure('loading, disk', 'bytes/event', load.bytes / load.events);
    figure('loading, peak memory', 'MB', load.peakMegabytes);
  }
  for (const one of asked) reportAsked(bench, system, one, data);
  if (missing !== undefined) bench.remark({ kind: 'not measured', system, text: missing });
  if (fault !== undefined) bench.remark({ kind: 'failed', system, text: fault });
}

function reportAsked(bench: Bench, system: string, asked: Asked, data: Data): void {
  const { question: name, ms, cpuMs, cannot, fault, difference, reference } = asked;
  if (cannot !== undefined) bench.remark({ kind: 'not measured', system, name, text: cannot });
  if (fault !== undefined) bench.remark({ kind: 'failed', system, name, text: fault });
  if (ms.length === 0) return;
  const warm = ms.length > 1 ? ms.slice(1) : ms;
  bench.record({ name, unit: 'ms', samples: warm, system, ...data });
  if (cpuMs * ms.length >= CPU_FROM_MS)
    bench.record({ name: `${name}, CPU`, unit: 'ms', samples: [cpuMs], system, ...data });
  if (difference !== undefined) {
    const text = `${difference.what}: ${printRow(difference.found)}, ${reference} has ${printRow(difference.expected)}`;
    bench.remark({ kind: 'differs', system, name, text });
  }
  reportClocks(bench, system, asked, data);
}

/** The time by the store's own clock, where it matters, and a line when it is not that of the same run by ours. */
function reportClocks(bench: Bench, system: string, asked: Asked, data: Data): void {
  const { question, clocks } = asked;
  const [best] = [...clocks].sort((one, other) => one.ms - other.ms);
  if (best === undefined || best.ms < OWN_FROM_MS) return;
  const samples = clocks.map(({ ownMs }) => ownMs);
  bench.record({ name: `${question}, its own clock`, unit: 'ms', samples, system, ...data });
  if (Math.abs(best.ms - best.ownMs) <= OWN_SHARE * best.ms) return;
  const text = `${best.ms.toFixed(1)} ms here, ${best.ownMs.toFixed(1)} ms by its own clock`;
  bench.remark({ kind: 'differs', system, name: question, text });
}
