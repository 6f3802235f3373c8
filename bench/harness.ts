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

const OUT = new URL('out/', import.meta.url).pathname;

function git(...args: string[]): string {
  try {
    return execFileSync('git', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}

function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((left, right) => left - right);
  const middle = sorted.length >>> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function print(value: number): string {
  if (value !== 0 && Math.abs(value) < 10) return value.toPrecision(3);
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 1000 ? 1 : 0 });
}

/**
 * Runs the workloads one after the other, prints a table of each and appends one JSON object a figure to
 * `bench/out/<date>.jsonl`: workload, name, unit, samples, min, median, max, commit, machine.
 */
export async function runWorkloads(
  workloads: readonly Workload[],
  options: { scale: number; runs: number },
): Promise<void> {
  mkdirSync(OUT, { recursive: true });
  const dirty = git('status', '--porcelain') === '' ? '' : '+';
  const commit = git('rev-parse', '--short', 'HEAD') + dirty;
  const machine = `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  const file = `${OUT}${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.jsonl`;
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
