import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * Runs the test files, two at a time, and prints the time of each, what failed in full, and one closing line.
 * `--long` and `--shippers` run `*.long.ts` and `*.shippers.ts` instead of `*.test.ts`; other arguments are parts of
 * the names of the files to run.
 */

interface Outcome {
  file: string;
  seconds: number;
  passed: number;
  failed: number;
  skipped: number;
  output: string;
}

const PARALLEL = 2;
const FILE_TIME_MAX_MS = 900_000;
const SUMMARY = /^# \{ total: \d+(?:, pass: (\d+))?(?:, fail: (\d+))?(?:, skip: (\d+))?.*\}$/m;

function runFile(file: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const started = performance.now();
    const child = spawn(process.execPath, ['--no-warnings', file], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // tap's own limit of 30 s a file is for machines that do nothing else.
      env: { ...process.env, TAP_TIMEOUT: String(FILE_TIME_MAX_MS / 1000) },
      timeout: FILE_TIME_MAX_MS,
      killSignal: 'SIGKILL',
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    child.on('close', (code, signal) => {
      const summary = SUMMARY.exec(output);
      const plain = /^1\.\.(\d+)$/m.exec(output);
      const passed = Number(summary?.[1] ?? (summary === null && code === 0 ? plain?.[1] : 0) ?? 0);
      const failed = Number(summary?.[2] ?? 0);
      const skipped = Number(summary?.[3] ?? 0);
      const broken = code !== 0 || passed + skipped === 0;
      if (signal !== null) output += `\nended by ${signal}\n`;
      resolve({
        file,
        seconds: (performance.now() - started) / 1000,
        passed,
        failed: broken ? Math.max(failed, 1) : failed,
        skipped,
        output,
      });
    });
  });
}

function report(outcome: Outcome): void {
  const verdict = outcome.failed > 0 ? 'FAIL' : 'ok';
  const counts = `${outcome.passed} passed${outcome.skipped > 0 ? `, ${outcome.skipped} skipped` : ''}`;
  console.log(
    `${verdict.padEnd(5)}${outcome.seconds.toFixed(1).padStart(6)} s  ${outcome.file}  ${counts}`,
  );
  if (outcome.failed > 0) console.log(outcome.output.replace(/^/gm, '    '));
}

const root = new URL('..', import.meta.url).pathname;
const names = process.argv.slice(2).filter((name) => !name.startsWith('--'));
const kind = ['long', 'shippers'].find((name) => process.argv.includes(`--${name}`)) ?? 'test';
const pattern = `test/**/*.${kind}.ts`;
const queue = globSync(pattern, { cwd: root })
  .map((file) => relative('.', `${root}/${file}`))
  .filter((file) => names.length === 0 || names.some((name) => file.includes(name)))
  .sort();
const outcomes: Outcome[] = [];

async function work(): Promise<void> {
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const outcome = await runFile(file);
    outcomes.push(outcome);
    report(outcome);
  }
}

const started = performance.now();
await Promise.all(Array.from({ length: PARALLEL }, work));
const sum = (pick: (outcome: Outcome) => number): number =>
  outcomes.reduce((total, outcome) => total + pick(outcome), 0);
console.log(`${((performance.now() - started) / 1000).toFixed(0)} s in all`);
const failedCount = sum((o) => o.failed);
console.log(
  `${sum((o) => o.passed)} passed, ${failedCount} failed, ${sum((o) => o.skipped)} skipped`,
);
process.exitCode = failedCount > 0 || outcomes.length === 0 ? 1 : 0;
