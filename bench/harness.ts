import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/** What a workload measured: one number with a unit, several samples when it was run several times. */
export interface Figure {
  name: string;
  unit: string;
  samples: number[];
}

/** What a workload is given. */
export interface Bench {
  /** Multiplies event counts; 1 is the full size. */
  scale: number;
  runs: number;
  /** Shows how far the work is; overwritten by the next call. */
  progress(text: string): void;
  figure(name: string, unit: string, ...samples: number[]): void;
}

/** A named workload. `what` says in a sentence what it stands for. */
export interface Workload {
  name: string;
  what: string;
  run(bench: Bench): Promise<void>;
}

/** The folder of results. */
export const OUT = new URL('out/', import.meta.url).pathname;

/** The answer of a git command, `unknown` when it fails. */
export function git(...args: string[]): string {
  try {
    return execFileSync('git', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}

/** The middle one of the samples, or the mean of the middle two. */
export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((left, right) => left - right);
  const middle = sorted.length >>> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** A number as tables show it. */
export function print(value: number): string {
  if (value !== 0 && Math.abs(value) < 10) return value.toPrecision(3);
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 1000 ? 1 : 0 });
}

/** The commit that is checked out, with a `+` when files differ from it. */
export function workingTree(): string {
  const dirty = git('status', '--porcelain') === '' ? '' : '+';
  return git('rev-parse', '--short', 'HEAD') + dirty;
}

/** Processors and memory. */
export function machineName(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, ${memory} GiB`;
}

/** A new file of JSON lines in the folder of results, named by the time. */
export function outFile(): string {
  mkdirSync(OUT, { recursive: true });
  return `${OUT}${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.jsonl`;
}

/**
 * Runs the workloads one after the other, prints a table of each and appends one JSON object a figure to
 * `bench/out/<date>.jsonl`: workload, name, unit, samples, min, median, max, commit, machine.
 */
export async function runWorkloads(
  workloads: readonly Workload[],
  options: { scale: number; runs: number },
): Promise<void> {
  const commit = workingTree();
  const machine = machineName();
  const file = outFile();
  console.log(`commit ${commit} on ${machine}, scale ${options.scale}, runs ${options.runs}\n`);
  for (const workload of workloads) {
    console.log(`${workload.name}: ${workload.what}`);
    const figures: Figure[] = [];
    const tty = process.stderr.isTTY;
    await workload.run({
      ...options,
      progress: (text) => {
        if (tty) process.stderr.write(`\r\x1b[K  ... ${text}`);
      },
      figure: (name, unit, ...samples) => {
        figures.push({ name, unit, samples });
      },
    });
    if (tty) process.stderr.write('\r\x1b[K');
    printTable(figures);
    for (const { name, unit, samples } of figures) {
      const spread = {
        min: Math.min(...samples),
        median: median(samples),
        max: Math.max(...samples),
      };
      const row = { workload: workload.name, name, unit, samples, ...spread, commit, machine };
      appendFileSync(file, `${JSON.stringify(row)}\n`);
    }
  }
  console.log(`JSON lines: ${file}`);
}

function printTable(figures: readonly Figure[]): void {
  const width = Math.max(...figures.map((figure) => figure.name.length), 10);
  for (const { name, unit, samples } of figures) {
    const spread =
      samples.length > 1
        ? `  (${print(Math.min(...samples))} to ${print(Math.max(...samples))})`
        : '';
    console.log(`  ${name.padEnd(width)}  ${print(median(samples)).padStart(10)} ${unit}${spread}`);
  }
  console.log('');
}
