import { copyFileSync, readFileSync, renameSync } from 'node:fs';
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

/** A read key whose security filter names a field that an older copy of the definitions does not know. */

const folder = temporaryFolder();
const FILES = ['definitions', 'definitions.copy'];
const EVENTS = ['secret', 'open', 'open'].map((where) => ({ where, message: where }));
let service: Service;

t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});

async function admin(path: string, value: object): Promise<string | undefined> {
  const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim();
  const answer = await request(`${service.http}/admin/api/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify(value),
  });
  t.equal(answer.status, 200, answer.text);
  return (answer.body as { result: { key?: string } }).result.key;
}

t.test('a filter that names a lost field hides everything, and the log says so', async (t) => {
  service = await startService(folder);
  const { writeKey, readKey } = service;
  const seenBy = async (key: string): Promise<number> =>
    (await listAll({ ...service, readKey: key })).length;
  await service.stop();
  for (const name of FILES) copyFileSync(join(folder, name), join(folder, `${name}.old`));
  service = await startService(folder);
  await admin('fields', { id: 'zone', name: 'Zone', attribute: 'custom.where' });
  const limited = await admin('read_keys', { name: 'limited', security_filter: '-zone:secret' });
  if (limited === undefined) throw new Error('no key');
  await send({ ...service, writeKey }, JSON.stringify(EVENTS));
  t.equal(await seenBy(limited), 2, 'what the filter hides is not there');
  await service.stop();
  for (const name of FILES) renameSync(join(folder, `${name}.old`), join(folder, name));
  service = await startService(folder);
  t.equal(await seenBy(limited), 0, 'without the field nothing is');
  t.equal(await seenBy(readKey), 3, 'for a key without filter everything is');
  t.match(service.output(), /names what is not declared.*limited/);
});
