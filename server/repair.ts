import { repairStore } from '../engine/backup/repair.ts';
import { openDisk } from '../engine/base/file.ts';
import { lockFolder } from '../engine/store/lock.ts';
import { type CheckOutput, toEnd } from './check.ts';
import { KEYS_PATH } from './registry/keys.ts';

/**
 * Makes the manifest of the store in the folder `root` anew when it cannot be read, and prints what was done. No
 * service may have the folder. Rejects with EngineError.
 */
export async function repair(root: string, output: CheckOutput): Promise<void> {
  const lock = await lockFolder(root);
  try {
    const repairing = repairStore(openDisk(root), Date.now(), [KEYS_PATH]);
    const report = await toEnd(
      repairing,
      output,
      ({ done, total }) => `${done} of ${total} segments`,
    );
    const { fault, segments, rows, moved, hasNewIds } = report;
    if (fault === undefined) {
      output.print('the manifest is well, nothing was done\n');
      return;
    }
    output.print(`${fault}\n`);
    for (const { path, reason } of moved) output.print(`${path} is in lost now: ${reason}\n`);
    output.print(
      `the manifest was made anew: ${segments} segments, ${rows.toLocaleString('en-US')} events\n`,
    );
    if (hasNewIds) output.print('the secret of the event ids was lost: all events have new ids\n');
    output.print('what write keys used in the last days is known of log segments alone\n');
  } finally {
    lock.release();
  }
}
