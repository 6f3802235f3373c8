import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { metric } from '../support/metrics.ts';
import {
  countOf,
  listAll,
  removeFolder,
  runCommand,
  type Service,
  send,
  startService,
  temporaryFolder,
} from '../support/service.ts';
import { until } from '../support/until.ts';

const EAGER = ['--seal-rows', '200', '--seal-idle-minutes', '0'];
const DAY_MS = 86_400_000;

/** A folder that is removed at the end. */
function ownFolder(t: { teardown(run: () => void): void }): string {
  const folder = temporaryFolder();
  t.teardown(() => removeFolder(folder));
  return folder;
}

async function start(folder: string, args: string[], before?: Service): Promise<Service> {
  const service = await startService(folder, args);
  const { writeKey, readKey } = before ?? service;
  return { ...service, writeKey, readKey };
}

function sealedCount(folder: string): number {
  return readdirSync(join(folder, 'sealed')).filter((name) => name.endsWith('.seg')).length;
}

let number = 0;

/** Sends events of all kinds, spread over three days; resolves with their numbers when they are acknowledged. */
async function sendEvents(service: Service, count: number): Promise<number[]> {
  const numbers = Array.from({ length: count }, () => number++);
  const events = numbers.map((n) => ({
    n,
    date: Date.now() - (n % 3) * DAY_MS,
    message: `event number ${n} of ${n % 7}`,
    tags: ['a', n % 5],
    ...(n % 11 === 0 ? { rare: { deep: `x${n}` } } : {}),
  }));
  const answer = await send(service, JSON.stringify(events));
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return numbers;
}

t.test(
  'answers are the same before, while and after events are sealed, and after kill -9',
  async (t) => {
    const folder = ownFolder(t);
    let service = await start(folder, []);
    const numbers = await sendEvents(service, 500);
    const before = await listAll(service);
    const rare = await countOf(service, 'rare.deep:*');
    await service.kill();
    service = await start(folder, EAGER, service);
    await until('a sealed segment', async () => {
      t.same(await listAll(service), before);
      return sealedCount(folder) > 0;
    });
    t.same(await listAll(service), before);
    t.equal(await countOf(service, 'rare.deep:*'), rare);
    t.equal(await countOf(service, '"of 3"'), numbers.filter((n) => n % 7 === 3).length);

    for (let round = 0; round < 2; round++) {
      let dead = false;
      const sender = async (): Promise<void> => {
        while (!dead) {
          const sent = await sendEvents(service, 20).catch(() => []);
          numbers.push(...sent);
        }
      };
      const senders = [sender(), sender()];
      const goal = numbers.length + 200;
      const files = readdirSync(join(folder, 'sealed')).join();
      // Killed as soon as a sealing has begun, or just after it.
      const isSealing = (): boolean => readdirSync(join(folder, 'sealed')).join() !== files;
      let counted = 0;
      while (numbers.length < goal || !isSealing()) {
        const least = numbers.length;
        counted = await countOf(service, '*');
        if (counted < least) t.fail(`${counted} events instead of ${least} or more`);
      }
      await service.kill();
      dead = true;
      await Promise.all(senders);
      service = await start(folder, EAGER, service);
      const there = (await listAll(service)).map(({ event }) => Number(event.custom['n']));
      t.equal(new Set(there).size, there.length, `round ${round}: nothing is there twice`);
      const set = new Set(there);
      t.same(
        numbers.filter((n) => !set.has(n)),
        [],
        `round ${round}: all that was acknowledged is there`,
      );
    }
    t.ok(sealedCount(folder) > 2);
    t.equal(await service.stop(), 0);
    const check = await runCommand(['check', '--data', folder]);
    t.equal(check.code, 0, check.stdout + check.stderr);
    t.match(check.stdout, /sealed .*\n(.*\n)*all is well/);
  },
);

t.test('events that are too old wait to be dropped, and go when the setting asks it', async (t) => {
  const folder = ownFolder(t);
  const args = [...EAGER, '--metrics-open', 'true'];
  const service = await start(folder, [...args, '--retention-days', '90']);
  // As many of each day as make a segment of their own, all in one log segment.
  const events = [200, 150, 1].flatMap((days) =>
    Array.from({ length: 4_200 }, () => ({ days, date: Date.now() - days * DAY_MS })),
  );
  t.equal((await send(service, JSON.stringify(events))).status, 200);
  const waits = 'logseam_retention_waiting_bytes';
  await until('a drop that waits', async () => (await metric(service, waits)) > 0);
  t.ok((await metric(service, 'logseam_retention_wait_seconds')) > 86_000);
  t.equal(await countOf(service, '*'), 3 * 4_200);
  await service.kill();
  const shorter = await start(folder, [...args, '--retention-days', '30'], service);
  await until('the end of old events', async () => (await countOf(shorter, '*')) === 4_200);
  t.equal(await countOf(shorter, 'days:1'), 4_200);
  t.equal(await metric(shorter, waits), 0);
  const usage = await runCommand(['key', 'list', '--data', folder]);
  await shorter.kill();
  const again = await start(folder, [], service);
  t.equal(await countOf(again, '*'), 4_200);
  t.equal((await runCommand(['key', 'list', '--data', folder])).stdout, usage.stdout);
  t.equal(await again.stop(), 0);
});
