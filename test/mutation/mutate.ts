import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/service.ts';
import { copyTree } from '../support/tree.ts';

/**
 * Mutations: faults that are put into a copy of the source one at a time, to see that a test notices. One that no test
 * notices is a check that nobody would miss.
 */

/** A fault, and the tests that must fail with it. */
export interface Mutation {
  /** Says what the fault is. */
  name: string;
  /** A source file; `find` stands in it once and becomes `replace`. */
  file: string;
  find: string;
  replace: string;
  /** Test files; each passes without the fault, and at least one fails with it. */
  tests: readonly string[];
}

/** Outcome of a mutation: the first of its tests that noticed, or why there is none. */
export interface Verdict {
  mutation: Mutation;
  caughtBy: string | undefined;
  trouble: string;
}

const PARALLEL = 2;
/** A test that hangs with a fault has noticed it. */
const TEST_MAX_MS = 300_000;
const TOLD_CHARACTERS = 3_000;

/**
 * Runs all mutations, two at a time, each in a copy of the working tree. First every test is run without a fault.
 * `tell` hears of each verdict as it comes.
 */
export async function runMutations(
  mutations: readonly Mutation[],
  tell: (text: string) => void,
): Promise<Verdict[]> {
  const folder = temporaryFolder();
  try {
    const copies = Array.from({ length: PARALLEL }, (_, at) => copyTree(join(folder, String(at))));
    const tests = [...new Set(mutations.flatMap(({ tests }) => tests))];
    const sick = new Map<string, string>();
    await eachOf(copies, tests, async (copy, test) => {
      const output = await failureOf(copy, test);
      if (output !== undefined) sick.set(test, output);
      tell(`${output === undefined ? 'passes' : 'FAILS'} without a fault: ${test}`);
    });
    const verdicts: Verdict[] = [];
    await eachOf(copies, mutations, async (copy, mutation) => {
      const verdict = await judge(copy, mutation, sick);
      verdicts.push(verdict);
      tell(`${verdict.caughtBy === undefined ? 'NOT CAUGHT' : 'caught'}: ${mutation.name}`);
    });
    return verdicts;
  } finally {
    removeFolder(folder);
  }
}

/** How often the text that a mutation replaces stands in a source. */
export function placesOf({ find }: Mutation, source: string): number {
  return source.split(find).length - 1;
}

/** Gives each item to the first copy that is free. */
async function eachOf<T>(
  copies: readonly string[],
  items: readonly T[],
  run: (copy: string, item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const work = async (copy: string): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(copy, item);
  };
  await Promise.all(copies.map(work));
}

async function judge(
  copy: string,
  mutation: Mutation,
  sick: ReadonlyMap<string, string>,
): Promise<Verdict> {
  const path = join(copy, mutation.file);
  const source = readFileSync(path, 'utf8');
  const count = placesOf(mutation, source);
  if (count !== 1) {
    const trouble = `the text stands ${count} times in ${mutation.file}`;
    return { mutation, caughtBy: undefined, trouble };
  }
  for (const test of mutation.tests) {
    const output = sick.get(test);
    if (output !== undefined)
      return { mutation, caughtBy: undefined, trouble: `${test} fails anyway:\n${output}` };
  }
  writeFileSync(
    path,
    source.replace(mutation.find, () => mutation.replace),
  );
  try {
    for (const test of mutation.tests) {
      const output = await failureOf(copy, test);
      if (output === undefined) continue;
      if (output.includes('SyntaxError') && output.includes(mutation.file))
        return { mutation, caughtBy: undefined, trouble: `no program any more:\n${output}` };
      return { mutation, caughtBy: test, trouble: '' };
    }
  } finally {
    writeFileSync(path, source);
  }
  return { mutation, caughtBy: undefined, trouble: 'its tests pass' };
}

/** The end of what a test file printed when it failed; undefined when it passed. */
function failureOf(copy: string, test: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--no-warnings', test], {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TAP_TIMEOUT: String(TEST_MAX_MS / 1000) },
      timeout: TEST_MAX_MS,
      killSignal: 'SIGKILL',
    });
    let output = '';
    const take = (chunk: Buffer): void => {
      output = (output + chunk).slice(-10 * TOLD_CHARACTERS);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('close', (code) => resolve(code === 0 ? undefined : output.slice(-TOLD_CHARACTERS)));
  });
}
