import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { outFile } from '../../bench/report/origin.ts';
import { removeFolder, runCommand, temporaryFolder } from '../support/service.ts';
import { copyTree } from '../support/tree.ts';
import { chart } from './chart.ts';
import { Maker } from './content.ts';
import { flatness, type Sample } from './memory.ts';
import { askAll, judgeAll } from './queries.ts';
import { SOURCES, sendAll } from './senders.ts';
import { Stand } from './stand.ts';

/** Settings of a soak. */
export interface SoakOptions {
  minutes: number;
  /** Multiplies the load. */
  rate: number;
  seed: number;
}

/** A service is killed after 1 to 4 minutes, in short soaks sooner. */
const KILL_AFTER_MS = [60_000, 240_000];
const SHORTEST_MINUTES = 20;
/** One end in so many is by SIGTERM, and one in so many is followed by a kill in the middle of the start. */
const STOP_OF = 4;
const KILL_START_OF = 3;
const KILL_START_MS_MAX = 3_000;
const PROGRESS_MS = 10_000;
/** Memory is flat when it grows no more than this in the soak behind its tenth minute. */
const GROWTH_MAX = 0.05;
const WARM_MINUTES = 10;

/**
 * Mixed load on two services: one is killed and started again at random instants, the other is left alone, so that its
 * memory can be measured. In the end everything that either has is compared with what was sent. Resolves with true when
 * nothing was found.
 */
export async function soak(options: SoakOptions, print: (text: string) => void): Promise<boolean> {
  const folder = temporaryFolder();
  const maker = new Maker(options.seed, Date.now());
  // The services start again and again: what is changed in the working tree meanwhile is not to be theirs.
  const command = join(copyTree(join(folder, 'tree')), 'server/logseam');
  const stand = (name: string, isMeasured: boolean): Stand =>
    new Stand(name, join(folder, name), command, maker, SOURCES, isMeasured);
  const steady = stand('steady', true);
  const killed = stand('killed', false);
  const stands = [steady, killed];
  const samples: Sample[] = [];
  const kills: number[] = [];
  const file = outFile();
  print(
    `soak of ${options.minutes} min, rate ${options.rate}, seed ${options.seed}, data in ${folder}`,
  );
  try {
    for (const stand of stands) await stand.start();
    const startedMs = performance.now();
    const minutesNow = (): number => (performance.now() - startedMs) / 60_000;
    const isOver = (): boolean =>
      minutesNow() >= options.minutes || stands.some((s) => s.isClosing);
    const load = stands.flatMap((stand) => [sendAll(stand, options.rate), askAll(stand)]);
    const beside = [
      killAgain(killed, options.minutes, isOver, () => kills.push(minutesNow())),
      measure(steady, options.minutes, isOver, (left) => {
        const sample = { minutes: minutesNow(), events: steady.acknowledged, ...left };
        samples.push(sample);
        appendFileSync(file, `${JSON.stringify(sample)}\n`);
      }),
      tellProgress(options.minutes, stands, samples, minutesNow, isOver, print),
    ];
    await Promise.all(beside);
    for (const stand of stands) stand.isClosing = true;
    await Promise.all(load);
    for (const stand of stands) await judge(stand, join(folder, stand.name), print);
  } finally {
    for (const stand of stands) await stand.end('kill');
  }
  return conclude(stands, samples, kills, options, file, folder, print);
}

/** Ends a service and starts it again, until the soak is over. */
async function killAgain(
  stand: Stand,
  minutes: number,
  isOver: () => boolean,
  mark: () => void,
): Promise<void> {
  const [least, most] = KILL_AFTER_MS.map((ms) => ms * Math.min(1, minutes / SHORTEST_MINUTES));
  while (!isOver()) {
    const nextMs = performance.now() + least + Math.random() * (most - least);
    while (performance.now() < nextMs && !isOver()) await pause(50 * Math.random());
    if (isOver()) return;
    mark();
    const how = Math.random() * STOP_OF < 1 ? 'stop' : 'kill';
    await stand.end(how);
    stand.ends[how]++;
    while (Math.random() * KILL_START_OF < 1)
      await stand.killWhileStarting(Math.random() * KILL_START_MS_MAX);
    await stand.start();
  }
}

/** Measures memory every so often; the more rarely, the longer the soak is. */
async function measure(
  stand: Stand,
  minutes: number,
  isOver: () => boolean,
  take: (left: Omit<Sample, 'minutes' | 'events'>) => void,
): Promise<void> {
  const stepMs = Math.min(30_000, (minutes * 60_000) / 12);
  for (;;) {
    for (let waited = 0; waited < stepMs && !isOver(); waited += 250) await pause(250);
    if (isOver()) return;
    const left = await stand.collect();
    if (left !== undefined) take(left);
    else stand.faults.add('service', 'memory could not be measured');
  }
}

async function tellProgress(
  minutes: number,
  stands: readonly Stand[],
  samples: readonly Sample[],
  minutesNow: () => number,
  isOver: () => boolean,
  print: (text: string) => void,
): Promise<void> {
  const toldCounts = stands.map(() => 0);
  while (!isOver()) {
    for (let waited = 0; waited < PROGRESS_MS && !isOver(); waited += 250) await pause(250);
    const rss = ((samples.at(-1)?.rss ?? 0) / 1e6).toFixed(0);
    const parts = stands.map(
      (stand) =>
        `${stand.name}: ${stand.acknowledged} acknowledged, ${stand.unknown} unknown, ${stand.faults}`,
    );
    const ends = stands.map(({ ends }) => ends.kill + ends.stop).reduce((sum, n) => sum + n, 0);
    for (const [at, { faults }] of stands.entries()) {
      for (const text of faults.told.slice(toldCounts[at])) print(`fault: ${text}`);
      toldCounts[at] = faults.told.length;
    }
    const leftText = Math.max(0, minutes - minutesNow()).toFixed(1);
    print(`${leftText} min left; ${parts.join('; ')}; ${ends} restarts, ${rss} MB`);
  }
}

/** Stops a service, checks its folder offline, starts it once more and judges all that it has. */
async function judge(stand: Stand, folder: string, print: (text: string) => void): Promise<void> {
  await stand.end('stop');
  const check = await runCommand(['check', '--data', folder]);
  if (check.code !== 0) stand.faults.add('partial', `check: ${check.stdout}${check.stderr}`);
  await stand.start();
  let toldMs = 0;
  const count = await judgeAll(stand, (events) => {
    if (performance.now() - toldMs < PROGRESS_MS) return;
    toldMs = performance.now();
    print(`${stand.name}: ${events} of about ${stand.acknowledged} events compared`);
  });
  print(
    `${stand.name}: ${count} events there, ${stand.acknowledged} acknowledged, ${stand.faults}`,
  );
}

function conclude(
  stands: readonly Stand[],
  samples: readonly Sample[],
  kills: readonly number[],
  options: SoakOptions,
  file: string,
  folder: string,
  print: (text: string) => void,
): boolean {
  const series = (name: string, pick: (sample: Sample) => number) => ({
    name,
    points: samples.map((sample) => [sample.minutes, pick(sample) / 1e6] as const),
  });
  if (samples.length > 0) {
    const title =
      'Memory after a collection, MB: resident (above), objects and buffers; ┴ the other service was ended; minutes';
    const lines = [series('resident', (s) => s.rss), series('live', (s) => s.heap + s.outside)];
    print(chart(title, lines, kills));
  }
  const warm = options.minutes >= 3 * WARM_MINUTES ? WARM_MINUTES : options.minutes / 6;
  const growth = flatness(samples, warm, (sample) => sample.rss);
  const live = flatness(samples, warm, (sample) => sample.heap + sample.outside);
  const isJudged = options.minutes >= 3 * WARM_MINUTES;
  const verdict = !isJudged ? 'too short to judge' : growth <= GROWTH_MAX ? 'flat' : 'NOT FLAT';
  print(
    `memory from minute ${warm.toFixed(1)}: resident ${percent(growth)}, live ${percent(live)}: ${verdict}`,
  );
  let isGood = !isJudged || growth <= GROWTH_MAX;
  for (const stand of stands) {
    const { kill, stop, whileStarting } = stand.ends;
    print(
      `${stand.name}: ${stand.acknowledged} acknowledged, ${stand.unknown} unknown; ${kill} kills, ${stop} stops, ${whileStarting} kills while starting; peak ${stand.peak.toFixed(0)} MB; ${stand.faults}`,
    );
    for (const { count, first } of stand.errors.values())
      print(`  logged ${count} times: ${first}`);
    for (const text of stand.faults.told) print(`  ${text}`);
    if (stand.faults.total > 0) isGood = false;
    const { name, acknowledged, unknown, ends, peak, errors } = stand;
    const faults = Object.fromEntries(stand.faults.counts);
    const row = {
      name,
      acknowledged,
      unknown,
      ends,
      peak,
      errors: Object.fromEntries(errors),
      faults,
      growth,
      live,
    };
    appendFileSync(file, `${JSON.stringify(row)}\n`);
  }
  print(`JSON lines: ${file}`);
  if (isGood) removeFolder(folder);
  else print(`kept: ${folder}`);
  return isGood;
}

function percent(share: number): string {
  return `${share < 0 ? '' : '+'}${(100 * share).toFixed(1)} %`;
}
