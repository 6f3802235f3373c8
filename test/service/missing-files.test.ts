import { cpSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  ask,
  removeFolder,
  request,
  type Service,
  send,
  startService,
  temporaryFolder,
} from '../support/service.ts';
import { until } from '../support/until.ts';

const EAGER = ['--seal-idle-minutes', '0'];

/** Fates of a file. */
const LOSSES: Readonly<Record<string, (path: string) => void>> = {
  removed: (path) => rmSync(path),
  emptied: (path) => truncateSync(path, 0),
  cut: (path) => truncateSync(path, statSync(path).size - 100),
};

const folder = temporaryFolder();
t.teardown(() => removeFolder(folder));

/** A folder with a sealed segment and a closed log segment, an event each; its keys. */
async function fill(t: Test): Promise<Pick<Service, 'writeKey' | 'readKey'>> {
  const first = await startService(folder, EAGER);
  const { writeKey, readKey } = first;
  t.equal((await send(first, 'sealed', 'text/plain')).status, 200);
  await until('sealing', async () => readdirSync(join(folder, 'sealed')).some(isSegment));
  await first.stop();
  const second = { ...(await startService(folder)), writeKey };
  t.equal((await send(second, 'closed', 'text/plain')).status, 200);
  await second.stop();
  return { writeKey, readKey };
}

const isSegment = (name: string): boolean => /^\d+\.(seg|log)$/.test(name);

function segmentFiles(root: string): string[] {
  return ['sealed', 'log'].flatMap((part) =>
    readdirSync(join(root, part))
      .filter(isSegment)
      .map((name) => join(root, part, name)),
  );
}

const RANGE = { time: { from: 'now-1d', to: 'now+1d' } };
const COUNT = { ...RANGE, compute: [{ metric: { id: 'count' } }] };

/** True when lists and counts say that they are partial. */
async function marks(service: Service): Promise<boolean[]> {
  const list = await ask(service, '/beta/events/list', RANGE);
  const count = await ask(service, '/beta/events/aggregate', COUNT);
  return [list, count].map(({ status, body, text }) => {
    if (status !== 200) throw new Error(text);
    const { damaged } = (body as { result: { damaged?: { blocks: number } } }).result;
    return (damaged?.blocks ?? 0) > 0;
  });
}

async function checkTold(t: Test, service: Service, damaged: number): Promise<void> {
  t.same(await marks(service), [true, true], 'answers are marked');
  const ready = await request(`${service.http}/readyz`);
  t.same([ready.status, ready.body], [200, { ok: true, damaged_segments: damaged }]);
  const metrics = await request(`${service.http}/metrics`, {
    headers: { 'x-api-key': service.readKey },
  });
  t.match(metrics.text, `\nlogseam_damaged_segments ${damaged}\n`);
  await until('the look at all files', async () => {
    const { text } = await request(`${service.http}/metrics`, {
      headers: { 'x-api-key': service.readKey },
    });
    return text.includes(`\nlogseam_missing_segments ${damaged}\n`);
  });
}

t.test('files that are lost', async (t) => {
  const keys = await fill(t);
  for (const [what, lose] of Object.entries(LOSSES)) {
    await t.test(
      `files that are ${what} while it runs, and before a start, are told of`,
      async (t) => {
        const own = temporaryFolder();
        t.teardown(() => removeFolder(own));
        cpSync(folder, own, { recursive: true });
        let service = { ...(await startService(own)), ...keys };
        t.same(await marks(service), [false, false]);
        const files = segmentFiles(own);
        t.ok(files.length >= 2);
        for (const file of files) lose(file);
        await until('the mark', async () => {
          const { body } = await request(`${service.http}/readyz`);
          return (body as { damaged_segments?: number }).damaged_segments === files.length;
        });
        await checkTold(t, service, files.length);
        t.match(service.output(), /the file of a segment is missing or cut, answers are partial/);
        t.equal((await send(service, 'new', 'text/plain')).status, 200, 'events are taken in');
        await service.kill();
        service = { ...(await startService(own)), ...keys };
        await checkTold(t, service, files.length);
        t.match(service.output(), /a segment is damaged, the rest is served/);
        await service.stop();
      },
    );
  }
});
