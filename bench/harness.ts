import { appendFileSync, readFileSync } from 'node:fs';
import { machineName, outFile, ownVersion, workingTree } from './report/origin.ts';
import { ratios } from './report/ratio.ts';
import { writeReport } from './report/report.ts';
import {
  type Figure,
  type FigureRow,
  figureRow,
  type Origin,
  OWN,
  parseRun,
  type Remark,
  type RemarkRow,
} from './report/row.ts';
import { figureLines, hasColor, ratioLines, remarkLines } from './report/terminal.ts';
import { printSeconds, secondsLeft, sum } from './report/time-left.ts';

/** Parts that a workload is given. */
export interface Bench {
  /** Multiplies event counts; 1 is the full size. */
  scale: number;
  runs: number;
  /** Shows how far the work is, overwritten by the next call; `done` is the part of the workload, 0 to 1. */
  progress(text: string, done?: number): void;
  /** A figure of ours, about no corpus of the list. */
  figure(name: string, unit: string, ...samples: number[]): void;
  /** A figure of any system, with what it is about. */
  record(figure: Figure): void;
  /** A difference of answers, or a peer that failed or was not measured. */
  remark(remark: Remark): void;
  /** Says which version of a system takes part; lines that follow have it. */
  version(system: string, version: string): void;
}

/** A named workload. `what` says in a sentence what it stands for. */
export interface Workload {
  name: string;
  what: string;
  /** Seconds that it takes on two cores that do nothing else, roughly. */
  seconds(options: RunOptions): number;
  run(bench: Bench): Promise<void>;
}

/** How large a run is. */
export interface RunOptions {
  scale: number;
  runs: number;
}

/** All of a run that its workloads share. */
interface Session extends RunOptions {
  workloads: readonly Workload[];
  /** Seconds that each of them takes, roughly. */
  seconds: readonly number[];
  origin: Origin;
  file: string;
  startedMs: number;
}

/** The plan of a run with its times, about: a line a workload and one of all. */
export function planLines(workloads: readonly Workload[], options: RunOptions): string[] {
  const seconds = workloads.map((workload) => workload.seconds(options));
  return [
    ...workloads.map(({ name }, at) => `${printSeconds(seconds[at]).padStart(12)}  ${name}`),
    `${printSeconds(sum(seconds)).padStart(12)}  in all, about, on two cores that do nothing else`,
  ];
}

/**
 * Runs the workloads one after the other, prints what is ahead, a table of each and of the ratios to the best peer,
 * appends a JSON line a figure and a remark to `bench/out/<date>.jsonl`, and writes `.md` and `.svg` beside it. A
 * workload that throws is a remark; what comes behind it runs.
 */
export async function runWorkloads(
  workloads: readonly Workload[],
  options: RunOptions,
): Promise<void> {
  const origin: Origin = {
    commit: workingTree(),
    machine: machineName(),
    versions: { logseam: ownVersion(), node: process.versions.node },
    started: new Date().toISOString(),
    scale: options.scale,
  };
  const file = outFile();
  appendFileSync(file, '');
  const { commit, machine } = origin;
  console.log(`commit ${commit} on ${machine}, scale ${options.scale}, runs ${options.runs}\n`);
  console.log(`${planLines(workloads, options).join('\n')}\n`);
  const seconds = workloads.map((workload) => workload.seconds(options));
  const session = { ...options, workloads, seconds, origin, file, startedMs: performance.now() };
  for (const at of workloads.keys()) await runWorkload(session, at);
  const compared = ratios(parseRun(readFileSync(file, 'utf8')).figures);
  if (compared.length > 0)
    console.log(`${ratioLines(compared, hasColor(process.stdout)).join('\n')}\n`);
  console.log(`report: ${writeReport(file)}\nJSON lines: ${file}`);
}

async function runWorkload(session: Session, at: number): Promise<void> {
  const workload = session.workloads[at];
  const startedMs = performance.now();
  const { name, what } = workload;
  console.log(`${name}: ${what}`);
  const figures: FigureRow[] = [];
  const remarks: RemarkRow[] = [];
  const save = (row: FigureRow | RemarkRow): void =>
    appendFileSync(session.file, `${JSON.stringify(row)}\n`);
  const record = (figure: Figure): void => {
    const row = figureRow(name, figure, session.origin);
    figures.push(row);
    save(row);
  };
  const remark = (said: Remark): void => {
    const row = { workload: name, ...said, ...session.origin };
    remarks.push(row);
    save(row);
  };
  try {
    await workload.run({
      scale: session.scale,
      runs: session.runs,
      progress: (text, done = 0) => showProgress(session, at, text, done),
      figure: (figureName, unit, ...samples) => record({ name: figureName, unit, samples }),
      record,
      remark,
      version: (system, version) => {
        session.origin.versions = { ...session.origin.versions, [system]: version };
      },
    });
  } catch (error) {
    process.exitCode = 1;
    remark({ kind: 'failed', system: OWN, text: String(error) });
  }
  clearProgress();
  const lines = [...figureLines(figures), ...remarkLines(remarks, hasColor(process.stdout))];
  const took = printSeconds((performance.now() - startedMs) / 1000);
  console.log(`${lines.join('\n')}\n  ${took}\n`);
}

function showProgress(session: Session, at: number, text: string, done: number): void {
  const left = secondsLeft({
    seconds: session.seconds,
    at,
    done,
    elapsedSeconds: (performance.now() - session.startedMs) / 1000,
  });
  writeProgress(`${text}; about ${printSeconds(left)} left`);
}

/** Writes the line of progress over the last one, on a terminal. */
export function writeProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K  ... ${text}`);
}

/** Removes the line of progress. */
export function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}
