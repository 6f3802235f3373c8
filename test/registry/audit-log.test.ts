import t from 'tap';
import {
  AUDIT_PATH,
  AuditLog,
  OLDER_AUDIT_PATH,
  recentChanges,
} from '../../server/registry/journal.ts';
import { MemoryDisk } from '../support/memory-disk.ts';

const line = (n: number) => ({ at: '2026-03-01T10:00:00.000Z', who: 'ann', what: 'create', n });

t.test('lines are there from the newest on, also when a full log was renamed', async (t) => {
  const disk = new MemoryDisk();
  const log = new AuditLog(disk, AUDIT_PATH, 1_000);
  for (let n = 0; n < 40; n++) await log.append(line(n));
  t.ok((disk.sizeOf(AUDIT_PATH) ?? 0) < 1_100);
  t.ok((disk.sizeOf(OLDER_AUDIT_PATH) ?? 0) < 1_100);
  t.same(disk.list(''), [AUDIT_PATH, OLDER_AUDIT_PATH]);
  t.same(
    recentChanges(disk, 15).map(({ n }) => n),
    Array.from({ length: 15 }, (_, at) => 39 - at),
  );
});

t.test('what was appended is there after a stop, whenever it comes', async (t) => {
  for (let call = 1; call < 60; call++) {
    const disk = new MemoryDisk();
    disk.faults = { crashAtCall: call };
    const log = new AuditLog(disk, AUDIT_PATH, 300);
    let done = 0;
    try {
      for (; done < 12; done++) await log.append(line(done));
    } catch {}
    disk.crash({ type: 'all' });
    const numbers = recentChanges(disk, 100).map(({ n }) => Number(n));
    const newest = Math.max(-1, ...numbers);
    t.ok(newest >= done - 1, `call ${call}: ${done} appended, the newest is ${newest}`);
    if (done === 12) break;
  }
});
