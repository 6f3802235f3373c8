import { corpusOf } from '../corpus/index.ts';
import type { Bench, Workload } from '../harness.ts';
import { printCount } from '../report/number.ts';
import type { Asked } from './asking.ts';
import { PEERS } from './peers.ts';
import { printRow, QUESTIONS, type Question } from './questions.ts';
import { type PeerResult, runPeers } from './run.ts';

/** Questions to Logseam and to its peers over the same events, in one run. */

/**
 * Runs of a question that is not slow. The first one, which reads files and plans, is a figure of its own, and the
 * first half is not in the others: a store that compiles what runs often is warm behind it.
 */
const REPEATS = 40;
const SEED = 1;
/** From here on a time of ours must agree with the store's own, within OWN_SHARE. */
const OWN_FROM_MS = 50;
const OWN_SHARE = 0.1;
/** CPU of all runs of a question together, below which clock ticks of 10 ms tell too little. */
const CPU_FROM_MS = 200;
/**
 * On two cores: starting all stores and settling, loading a million events, asking a question over a million events.
 */
const SECONDS_ALONE = 45;
const SECONDS_LOADED = 26;
const SECONDS_ASKED = 1.3;

/** Questions, and the peers that they are put to. */
export interface Asking {
  peers?: readonly string[];
  questions?: readonly Question[];
}

/**
 * The workload over an access log: each store is loaded once, and asked all questions unless less is asked for whenever
 * it has as many events as a stage says (at scale 1). It is named by the last one. A peer without its package or
 * binary, one that crashes, and an answer that differs are remarks.
 */
export function peersWorkload(
  corpus: string,
  stages: readonly number[],
  { peers = PEERS.map(({ name }) => name), questions = QUESTIONS }: Asking = {},
): Workload {
  const last = stages.at(-1) ?? 0;
  const counts = stages.map(printCount).join(', ');
  const asked = stages.reduce((sum, events) => sum + events, 0) * questions.length;
  return {
    name: `peers-${corpus}-${printCount(last).toLowerCase()}`,
    what: `${questions.length} questions to each store over ${counts} events of ${corpus}, one at a time, warm`,
    seconds: ({ scale }) =>
      SECONDS_ALONE + (scale * (SECONDS_LOADED * last + SECONDS_ASKED * asked)) / 1e6,
    run: async (bench) => {
      const results = await runPeers({
        peers: PEERS.filter(({ name }) => peers.includes(name)),
        make: () => corpusOf(corpus).make(SEED),
        stages: stages.map((events) => Math.round(events * bench.scale)),
        questions,
        repeats: REPEATS,
        clockFromMs: OWN_FROM_MS,
        progress: bench.progress,
      });
      for (const result of results) report(bench, result, corpus);
    },
  };
}

/** Which data the figures are of. */
interface Data {
  corpus: string;
  events: number;
}

/** Results of a peer, as figures and remarks. */
export function report(bench: Bench, result: PeerResult, corpus: string): void {
  const { name: system, opened, stages, missing, fault } = result;
  if (opened !== undefined)
    bench.version(system, `${opened.version} (${opened.settings.join(' ')})`);
  for (const { events, load, asked } of stages) {
    const data = { corpus, events };
    const figure = (name: string, unit: string, sample: number): void =>
      bench.record({ name, unit, samples: [sample], system, ...data });
    const millions = events / 1e6;
    figure('loading', 'events/s', events / load.seconds);
    figure('loading, CPU acknowledged', 's/M events', load.cpuSeconds / millions);
    figure('loading, CPU settled', 's/M events', load.settledCpuSeconds / millions);
    figure('loading, disk', 'bytes/event', load.bytes / events);
    figure('loading, peak memory', 'MB', load.peakMegabytes);
    for (const one of asked) reportAsked(bench, system, one, data);
  }
  // Of no other stage, as words do not hang on the number of events.
  for (const { question: name, cannot } of stages[0]?.asked ?? [])
    if (cannot !== undefined) bench.remark({ kind: 'not measured', system, name, text: cannot });
  if (missing !== undefined) bench.remark({ kind: 'not measured', system, text: missing });
  if (fault !== undefined) bench.remark({ kind: 'failed', system, text: fault });
}

function reportAsked(bench: Bench, system: string, asked: Asked, data: Data): void {
  const { question: name, ms, cpuMs, clocks, fault, difference, reference } = asked;
  const { events } = data;
  if (fault !== undefined) bench.remark({ kind: 'failed', system, name, events, text: fault });
  if (ms.length === 0) return;
  const warm = ms.slice(Math.ceil(ms.length / 2));
  bench.record({ name, unit: 'ms first', samples: [ms[0]], system, ...data });
  if (warm.length > 0) bench.record({ name, unit: 'ms', samples: warm, system, ...data });
  if (cpuMs * ms.length >= CPU_FROM_MS)
    bench.record({ name, unit: 'ms CPU', samples: [cpuMs], system, ...data });
  if (difference !== undefined) {
    const text = `${difference.what}: ${printRow(difference.found)}, ${reference} has ${printRow(difference.expected)}`;
    bench.remark({ kind: 'differs', system, name, events, text });
  }
  if (clocks === undefined || Math.abs(clocks.ms - clocks.ownMs) <= OWN_SHARE * clocks.ms) return;
  const text = `${clocks.ms.toFixed(1)} ms here, ${clocks.ownMs.toFixed(1)} ms by its own clock`;
  bench.remark({ kind: 'differs', system, name, events, text });
}
