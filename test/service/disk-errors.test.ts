import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  listAll,
  removeFolder,
  request,
  type Service,
  send,
  startService,
  temporaryFolder,
} from '../support/service.ts';

const RESUME_MAX_MS = 30_000;

/** Asks until `done` says so; fails when that takes too long. */
async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + RESUME_MAX_MS;
  while (!(await done())) {
    if (Date.now() > endMs) throw new Error(`${what} did not come in ${RESUME_MAX_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function messages(service: Service): Promise<unknown[]> {
  return (await listAll(service)).map(({ event }) => event.message).sort();
}

async function isReady(service: Service): Promise<boolean> {
  return (await request(`${service.http}/readyz`)).status === 200;
}

/** Ways to make a folder unwritable, for a privileged process too; what is returned makes it good again. */
const FAULTS: Readonly<Record<string, (folder: string) => () => void>> = {
  'the folder of log segments is away': (folder) => {
    renameSync(join(folder, 'log'), join(folder, 'away'));
    return () => renameSync(join(folder, 'away'), join(folder, 'log'));
  },
  'a file is in the place of that folder': (folder) => {
    renameSync(join(folder, 'log'), join(folder, 'away'));
    writeFileSync(join(folder, 'log'), '');
    return () => {
      rmSync(join(folder, 'log'));
      renameSync(join(folder, 'away'), join(folder, 'log'));
    };
  },
};

for (const [name, fault] of Object.entries(FAULTS)) {
  t.test(`${name}: it is told, and the service goes on when that is over`, async (t) => {
    const folder = temporaryFolder();
    t.teardown(() => removeFolder(folder));
    const service = await startService(folder);
    t.equal((await send(service, 'before', 'text/plain')).status, 200);
    const repair = fault(folder);
    const late: number[] = [];
    void send(service, 'in between', 'text/plain').then(
      ({ status }) => late.push(status),
      () => late.push(0),
    );
    await until('readiness fails', async () => !(await isReady(service)));
    const ready = await request(`${service.http}/readyz`);
    t.match(ready.body, { ok: false, reasons: [/the disk fails/] });
    const refused = await send(service, 'refused', 'text/plain');
    t.equal(refused.status, 503);
    t.ok(Number(refused.headers.get('retry-after')) > 0);
    t.match(refused.body, { error: { message: /the disk of the service fails/ } });
    t.notMatch(refused.text, folder);
    const { text } = await request(`${service.http}/metrics`, {
      headers: { 'x-api-key': service.readKey },
    });
    t.match(text, /\nlogseam_disk_errors_total\{op="(open|changed)"\} [1-9]/);
    t.match(text, '\nlogseam_ready 0\n');
    t.match(service.output(), /"message":"the disk refused a change","op":"\w+","path":"log\//);
    repair();
    await until('readiness', () => isReady(service));
    t.match(service.output(), /the disk takes changes again/);
    await until('200', async () => (await send(service, 'after', 'text/plain')).status === 200);
    await until('an answer', async () => late.length > 0);
    const shown = await messages(service);
    t.ok(shown.includes('before') && shown.includes('after'));
    t.notOk(shown.includes('refused'));
    t.equal(shown.includes('in between'), late[0] === 200, `it was answered ${late[0]}`);
    t.same(
      readdirSync(folder).filter((file) => file === 'probe'),
      [],
    );
    await service.kill();
    const again = { ...(await startService(folder)), readKey: service.readKey };
    t.same(await messages(again), shown, 'the next start shows the same');
    await again.stop();
  });
}
