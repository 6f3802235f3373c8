import type { Disk } from '../../../engine/base/file.ts';
import { recentChanges } from '../../registry/journal.ts';
import { resultReply } from '../reply.ts';
import type { AdminResource } from '../routes/route.ts';

/** Changes that are shown. */
const CHANGES_MAX = 500;

/** The resource `audit`: the newest lines of the audit log, the newest first. GET only. */
export function auditResource(disk: Disk): [string, AdminResource] {
  const list = async () => resultReply(JSON.stringify({ audit: recentChanges(disk, CHANGES_MAX) }));
  return ['audit', { list }];
}
