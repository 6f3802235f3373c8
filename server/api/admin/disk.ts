import type { StoreQuery } from '../../query/job.ts';
import { answerReply } from '../reply.ts';
import type { AdminResource } from '../routes/route.ts';

/** The resource `disk`: what each attribute takes on the disk. GET only. `ask` answers about the store. */
export function diskResource(
  ask: (query: StoreQuery, asker: string) => Promise<readonly Uint8Array[]>,
): [string, AdminResource] {
  const list: AdminResource['list'] = async ({ asker }) =>
    answerReply(await ask({ about: 'disk' }, asker.who));
  return ['disk', { list }];
}
