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
import { until } from '../support/until.ts';

const RESUME_MAX_MS = 30_000;

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
    await until('readiness fails', async () => !(await isReady(service)), RESUME_MAX_MS);
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
    await until('readiness', () => isReady(service), RESUME_MAX_MS);
    t.match(service.output(), /the disk takes changes again/);
    const isTaken = async (): Promise<boolean> =>
      (await send(service, 'after', 'text/plain')).status === 200;
    await until('200', isTaken, RESUME_MAX_MS);
    await until('an answer', () => late.length > 0, RESUME_MAX_MS);
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
