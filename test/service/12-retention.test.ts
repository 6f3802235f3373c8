import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { administer } from '../support/browser.ts';
import { countOf, removeFolder, send, startService, temporaryFolder } from '../support/service.ts';
import { until } from '../support/until.ts';

const EAGER = ['--seal-idle-minutes', '0', '--retention-days', '300'];
const DAY_MS = 86_400_000;
/** As many as make a segment of a day. */
const ROWS = 4_200;

/** Answer of a test of retention. */
interface Told {
  age: { segments: number; events: number; bytes: number; from?: string };
  space: { segments: number; events: number; bytes: number };
  unsealed: number;
}

/** Bytes of the files of sealed segments. */
function sealedBytes(folder: string): number {
  const names = readdirSync(join(folder, 'sealed')).filter((name) => name.endsWith('.seg'));
  return names.reduce((sum, name) => sum + statSync(join(folder, 'sealed', name)).size, 0);
}

/** A text that does not compress. */
function noise(): string {
  return randomBytes(200).toString('base64');
}

t.test(
  '12 what a test of retention tells then goes, durably and with a line in the audit log',
  async (t) => {
    const folder = temporaryFolder();
    t.teardown(() => removeFolder(folder));
    let service = await startService(folder, EAGER);
    const [settings, tell] = ['retention', 'retention/test'];
    const events = [200, 100, 1].flatMap((days) =>
      Array.from({ length: ROWS }, () => ({
        days,
        date: Date.now() - days * DAY_MS,
        text: noise(),
      })),
    );
    t.equal((await send(service, JSON.stringify(events))).status, 200);
    t.match(await administer(service, 'GET', settings), { days: 300, bytes: null, set: false });
    const unsealed = (await administer<Told>(service, 'POST', tell, { days: 150 })).unsealed;
    t.ok(unsealed === 0 || unsealed >= ROWS, 'what is not sealed is told apart');
    await until('three sealed days', async () => {
      const { age } = await administer<Told>(service, 'POST', tell, { days: 150 });
      return age.events === ROWS && age.segments === 1;
    });
    const told = await administer<Told>(service, 'POST', tell, { days: 150 });
    t.match(told, { days: 150, age: { segments: 1, events: ROWS }, unsealed: 0, waits: false });
    t.equal(
      told.age.from?.slice(0, 10),
      new Date(Date.now() - 200 * DAY_MS).toISOString().slice(0, 10),
    );
    t.equal(await countOf(service, '*'), 3 * ROWS, 'a test drops nothing');
    const before = sealedBytes(folder);
    t.match(await administer(service, 'PATCH', settings, { days: 150 }), { days: 150, set: true });
    await until(
      'the end of the oldest day',
      async () => (await countOf(service, '*')) === 2 * ROWS,
    );
    t.equal(await countOf(service, 'days:200'), 0);
    await until('its bytes', async () => sealedBytes(folder) === before - told.age.bytes);
    await service.kill();
    const { writeKey, readKey } = service;
    service = { ...(await startService(folder, EAGER)), writeKey, readKey };
    t.match(await administer(service, 'GET', settings), { days: 150, set: true }, 'kill -9');
    const bytes = sealedBytes(folder);
    const space = await administer<Told>(service, 'POST', tell, { bytes: bytes - 1 });
    t.match(space.space, { segments: 1, events: ROWS });
    await administer(service, 'PATCH', settings, { days: null, bytes: bytes - 1 });
    await until('room', async () => (await countOf(service, '*')) === ROWS);
    t.equal(await countOf(service, 'days:1'), ROWS, 'the newest stay');
    const reset = await administer(service, 'DELETE', settings);
    t.match(reset, { days: 300, bytes: null, set: false });
    const { audit } = await administer<{ audit: object[] }>(service, 'GET', 'audit');
    t.match(audit.slice(0, 3), [
      { what: 'delete', resource: 'retention' },
      { what: 'change', resource: 'retention', days: null, bytes: bytes - 1 },
      { what: 'change', resource: 'retention', days: 150, bytes: null },
    ]);
    await t.rejects(administer(service, 'PATCH', settings, { bytes: 7 }), /bytes 7 is not allowed/);
    await t.rejects(administer(service, 'PATCH', settings, { day: 7 }), /day/);
    t.equal(await service.stop(), 0);
  },
);
