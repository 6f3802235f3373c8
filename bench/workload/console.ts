import type { CDPSession, Page } from 'playwright-core';
import { firstUser, openViewer, type Viewer } from '../../test/support/browser.ts';
import {
  ask,
  type Listed,
  removeFolder,
  type Service,
  send,
  startService,
  temporaryFolder,
} from '../../test/support/service.ts';
import type { Bench, Workload } from '../harness.ts';
import { SEALING } from './ingestion.ts';
import { fill } from './query.ts';

const STAGES = [1_000_000, 10_000_000];
const SECONDS_A_MILLION = 40;
const RUNS = 3;
/** Rows of which a scroll goes through all, and steps of it. */
const SCROLL_ROWS = 100_000;
const SCROLL_STEPS = 240;
const LIVE_EVENTS_A_SECOND = 5_000;
const LIVE_SECONDS = 5;
const LIVE_BATCH = 250;
/** Begins a message of a megabyte, and is in no other. */
const LARGE_WORD = 'megabyte';
const TYPED = 'http.status_code:500 GET';
/** Metrics of an analytics view. */
const METRICS = [
  ...['count', 'cardinality:custom.network.client_ip', 'sum:custom.network.bytes_write'],
  ...['avg:custom.network.bytes_write', 'pc95:custom.network.bytes_write'],
].join();

/** The range of all events: from the first one to behind the last. */
async function rangeOf(service: Service): Promise<{ from: string; to: string }> {
  const date = async (order: string): Promise<number> => {
    const time = { from: 0, to: 4e12 };
    const answer = await ask(service, '/beta/events/list', { time, order, limit: 1 });
    return Date.parse((answer.body as { result: { events: Listed[] } }).result.events[0].date);
  };
  const [from, to] = [await date('asc'), (await date('desc')) + 1];
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

/** Milliseconds from the start of the navigation until `ready` resolves. */
async function sinceNavigation(page: Page, ready: () => Promise<unknown>): Promise<number> {
  await ready();
  return page.evaluate(() => performance.now());
}

/** Begins to note tasks of the page that take long. */
async function watchTasks(page: Page): Promise<void> {
  await page.evaluate(() => {
    const noted: number[] = [];
    Object.assign(globalThis, { noted });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) noted.push(duration);
    }).observe({ type: 'longtask' });
  });
}

/** The longest task since `watchTasks`; 0 when none took 50 ms. */
async function longestTask(page: Page): Promise<number> {
  const noted = await page.evaluate(() => (globalThis as unknown as { noted: number[] }).noted);
  return Math.max(0, ...noted);
}

/** Seconds of scripts, styles and layouts that the main thread of a page has spent. */
async function workSeconds(devtools: CDPSession): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics');
  const parts = ['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration'];
  return metrics
    .filter(({ name }) => parts.includes(name))
    .reduce((sum, { value }) => sum + value, 0);
}

/** Milliseconds from a click on the only row of a list until its event is on the screen. */
function openEvent(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
    const began = performance.now();
    document.querySelector<HTMLElement>('.row:not(.heads) .line')?.click();
    while (document.querySelector('.event') === null) await frame();
    await frame();
    return performance.now() - began;
  });
}

/** The 95th percentile of the times between frames while a list is scrolled to its end. */
function scrollFrames(page: Page): Promise<number> {
  return page.evaluate(
    async ([rows, steps]) => {
      const list = document.querySelector('.list');
      if (list === null) throw new Error('there is no list');
      const stepPx = Math.min(list.scrollHeight, rows * 26) / steps;
      const times: number[] = [];
      let last = performance.now();
      for (let step = 0; step < steps; step++) {
        list.scrollTop += stepPx;
        await new Promise((resolve) => requestAnimationFrame(resolve));
        times.push(performance.now() - last);
        last = performance.now();
      }
      return times.sort((left, right) => left - right)[Math.floor(times.length * 0.95)];
    },
    [SCROLL_ROWS, SCROLL_STEPS] as const,
  );
}

/** Sends lines to the live tail of a page for some seconds. */
async function sendLive(service: Service): Promise<void> {
  const pauseMs = (1_000 * LIVE_BATCH) / LIVE_EVENTS_A_SECOND;
  let next = performance.now();
  for (let sent = 0; sent < LIVE_EVENTS_A_SECOND * LIVE_SECONDS; sent += LIVE_BATCH) {
    const events = Array.from({ length: LIVE_BATCH }, (_, at) => ({
      message: `live ${sent + at}`,
    }));
    await fetch(`${service.http}/v1/input/${service.writeKey}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(events),
    });
    next += pauseMs;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())));
  }
}

/** Milliseconds from a click that asks until the first chart is drawn, and those of the answer of the service. */
function askAnew(page: Page): Promise<{ chartMs: number; answerMs: number }> {
  return page.evaluate(async () => {
    const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
    const old = document.querySelector('.figure .u-over');
    performance.clearResourceTimings();
    const began = performance.now();
    document.querySelector<HTMLElement>('.search .button.main')?.click();
    for (;;) {
      const now = document.querySelector('.figure .u-over');
      if (now !== null && now !== old) break;
      await frame();
    }
    await frame();
    const chartMs = performance.now() - began;
    const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    const answer = entries.find(({ name }) => name.endsWith('/beta/events/aggregate'));
    return { chartMs, answerMs: answer?.duration ?? Number.NaN };
  });
}

/** Measures an analytics view of five metrics: from its address, and asked anew. */
async function measureAnalytics(bench: Bench, page: Page, address: string, label: string) {
  const opened: number[] = [];
  const asked: { chartMs: number; answerMs: number }[] = [];
  for (let run = 0; run <= RUNS; run++) {
    await page.goto(address);
    const first = await sinceNavigation(page, () =>
      page.locator('.figure .u-over').first().waitFor(),
    );
    await page.locator('.answer[aria-busy="false"] .figure').nth(4).waitFor();
    const anew = await askAnew(page);
    // The first load fills caches.
    if (run === 0) continue;
    opened.push(first);
    asked.push(anew);
  }
  const name = `${label}, analytics of 5 metrics`;
  bench.figure(`${name}, first chart from the address`, 'ms', ...opened);
  bench.figure(`${name}, first chart asked anew`, 'ms', ...asked.map(({ chartMs }) => chartMs));
  const more = asked.map(({ chartMs, answerMs }) => chartMs - answerMs);
  bench.figure(`${name}, of that beyond the answer`, 'ms', ...more);
}

async function measure(
  bench: Bench,
  service: Service,
  viewer: Viewer,
  label: string,
): Promise<void> {
  const context = await viewer.browser.newContext({ viewport: { width: 1440, height: 900 } });
  await firstUser(service, context).catch(() => undefined);
  const range = await rangeOf(service);
  const address = `${service.http}/?${new URLSearchParams(range)}`;
  const times = { list: [] as number[], all: [] as number[] };
  const page = await viewer.page({}, context);
  for (let run = 0; run <= RUNS; run++) {
    await page.goto(address);
    const list = await sinceNavigation(page, () =>
      page.locator('.row:not(.heads)').first().waitFor(),
    );
    const all = await sinceNavigation(page, async () => {
      await page.locator('.u-over').waitFor();
      await page.locator('.facet h3 button.facet-name').nth(3).waitFor();
      await page.locator('.facets[aria-busy="false"]').waitFor();
    });
    // The first load fills caches.
    if (run > 0) times.list.push(list);
    if (run > 0) times.all.push(all);
  }
  bench.figure(`${label}, list on the screen`, 'ms', ...times.list);
  bench.figure(`${label}, histogram and four facets`, 'ms', ...times.all);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Performance.enable');
  const before = await workSeconds(devtools);
  bench.figure(`${label}, scrolling, p95 of frames`, 'ms', await scrollFrames(page));
  const workMs = (1_000 * ((await workSeconds(devtools)) - before)) / SCROLL_STEPS;
  bench.figure(`${label}, scrolling, script, style and layout a frame`, 'ms', workMs);
  await watchTasks(page);
  await page.getByRole('combobox').pressSequentially(TYPED, { delay: 60 });
  bench.figure(`${label}, typing, longest task`, 'ms', await longestTask(page));
  const analytics = new URLSearchParams({ ...range, m: METRICS });
  await measureAnalytics(bench, page, `${service.http}/analytics?${analytics}`, label);
  await send(service, `${LARGE_WORD} ${'a line of a dump '.repeat(60_000)}`, 'text/plain');
  await page.goto(`${service.http}/?q=${LARGE_WORD}`);
  await page.locator('.row:not(.heads)').first().waitFor();
  bench.figure(`${label}, opening an event of 1 MB`, 'ms', await openEvent(page));
  await page.goto(`${service.http}/?live=1`);
  await page.locator('.live-state.open').waitFor();
  await watchTasks(page);
  await sendLive(service);
  bench.figure(
    `${label}, live tail of 5,000 events/s, longest task`,
    'ms',
    await longestTask(page),
  );
  await context.close();
}

/** The console before a person, in a real browser: when the first screen is there, and whether it ever stands still. */
export const consoleWorkload: Workload = {
  name: 'console',
  what: 'the console in a browser over 1M and 10M events: first screen, scrolling, typing, analytics, live tail',
  seconds: ({ scale }) =>
    STAGES.reduce((sum, events) => sum + (events / 1e6) * SECONDS_A_MILLION, 30) * scale,
  run: async (bench) => {
    const viewer = await openViewer();
    try {
      for (const events of STAGES) {
        const folder = temporaryFolder();
        const service = await startService(folder, SEALING);
        try {
          await fill(bench, service, Math.round(events * bench.scale));
          await measure(bench, service, viewer, `${events / 1e6}M`);
        } finally {
          await service.stop();
          removeFolder(folder);
        }
      }
    } finally {
      await viewer.close();
    }
  },
};
