import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openDisk } from '../../../engine/base/file.ts';
import {
  IDLE_MS,
  openSessions,
  SESSION_MS,
  SESSIONS_PATH,
  type Sessions,
} from '../../../server/registry/account/sessions.ts';
import { openSetupLink } from '../../../server/registry/account/setup-link.ts';

const ASKER = { who: 'ann', peer: '127.0.0.1' };
const ANN = { type: 'user', id: 'ann', passwordNumber: 1 } as const;
const KEY = { type: 'key', id: 'k1' } as const;

function open(folder: string, nowMs: () => number): Promise<Sessions> {
  return openSessions({ disk: openDisk(folder), nowMs });
}

t.test(
  'a session lasts until its end, also over restarts, and its token is in no file',
  async (t) => {
    const folder = t.testdir();
    let nowMs = 1_000;
    const sessions = await open(folder, () => nowMs);
    const token = await sessions.begin(ANN, ASKER);
    const other = await sessions.begin(KEY, ASKER);
    t.match(token, /^[\w-]{43}$/);
    t.match(sessions.of(token), { subject: ANN, startedMs: 1_000 });
    t.equal(sessions.of(`${token.slice(0, -1)}_`), undefined);
    await sessions.close();
    t.notMatch(readFileSync(join(folder, SESSIONS_PATH), 'latin1'), token);
    const again = await open(folder, () => nowMs);
    t.match(again.of(token), { subject: ANN });
    const session = again.of(other);
    t.match(session, { subject: KEY });
    if (session !== undefined) await again.end(session, ASKER);
    t.equal(again.of(other), undefined);
    await again.close();
    nowMs += 1;
    const last = await open(folder, () => nowMs);
    t.equal(last.of(other), undefined, 'the end outlasts a restart');
    t.match(last.of(token), { subject: ANN });
    await last.close();
    const audit = readFileSync(join(folder, 'audit.log'), 'utf8');
    t.match(
      audit,
      /"who":"ann","peer":"127.0.0.1","what":"login","resource":"session","user":"ann"/,
    );
    t.match(audit, /"what":"logout","resource":"session","key":"k1"/);
  },
);

t.test('a session ends after a while, and after a shorter one at rest', async (t) => {
  let nowMs = 0;
  const sessions = await open(t.testdir(), () => nowMs);
  const used = await sessions.begin(ANN, ASKER);
  const resting = await sessions.begin(ANN, ASKER);
  nowMs = IDLE_MS - 1;
  t.ok(sessions.of(used));
  nowMs = IDLE_MS;
  t.ok(sessions.of(used));
  t.equal(sessions.of(resting), undefined);
  while (nowMs < SESSION_MS - IDLE_MS) {
    nowMs += IDLE_MS - 1;
    t.ok(sessions.of(used));
  }
  nowMs = SESSION_MS;
  t.equal(sessions.of(used), undefined);
  await sessions.close();
});

t.test('of many sessions of one subject the oldest end', async (t) => {
  let nowMs = 0;
  const sessions = await open(t.testdir(), () => nowMs++);
  const first = await sessions.begin(ANN, ASKER);
  const second = await sessions.begin(ANN, ASKER);
  const ofKey = await sessions.begin(KEY, ASKER);
  for (let count = 0; count < 63; count++) await sessions.begin(ANN, ASKER);
  t.equal(sessions.of(first), undefined);
  t.ok(sessions.of(second));
  t.ok(sessions.of(ofKey));
  await sessions.close();
});

t.test('the set-up link is the same at each start until there is a user', async (t) => {
  const folder = t.testdir();
  const disk = openDisk(folder);
  const link = await openSetupLink(disk, false);
  const { token } = link;
  t.match(token, /^[\w-]{43}$/);
  t.equal((await openSetupLink(disk, false)).token, token);
  t.equal(link.isToken(token ?? ''), true);
  t.equal(link.isToken('guess'), false);
  await link.end();
  t.equal(link.token, undefined);
  t.equal(link.isToken(token ?? ''), false);
  t.equal((await openSetupLink(disk, true)).token, undefined);
  t.not((await openSetupLink(disk, false)).token, token);
});
