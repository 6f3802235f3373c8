import { upgradeStore } from '../engine/backup/upgrade.ts';
import { openDisk } from '../engine/base/file.ts';
import { lockFolder } from '../engine/store/lock.ts';
import { type CheckOutput, megabytes, toEnd } from './check.ts';
import { KEYS_PATH } from './registry/keys.ts';

/**
 * Writes the sealed segments of the store in the folder `root` that are of an earlier draft of the format anew, and
 * prints what was done. No service may have the folder. Resolves with whether all could be. Rejects with EngineError.
 */
export async function upgrade(root: string, output: CheckOutput): Promise<boolean> {
  const lock = await lockFolder(root);
  try {
    const upgrading = upgradeStore(openDisk(root), Date.now(), [KEYS_PATH]);
    const report = await toEnd(
      upgrading,
      output,
      ({ done, total }) => `${done} of ${total} segments`,
    );
    const { segments, rows, bytesBefore, bytesAfter, damaged, logSegments } = report;
    const sizes = `${megabytes(bytesBefore)} MB before, ${megabytes(bytesAfter)} MB now`;
    output.print(
      segments === 0
        ? 'no sealed segment had to be written anew\n'
        : `written anew: ${segments} segments, ${rows.toLocaleString('en-US')} events; ${sizes}\n`,
    );
    if (logSegments > 0) {
      output.print(`log segments become sealed ones while the service runs: ${logSegments}\n`);
    }
    for (const segment of damaged)
      output.print(`segment ${segment} is damaged and stays as it is\n`);
    return damaged.length === 0;
  } finally {
    lock.release();
  }
}
