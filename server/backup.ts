import { resolve } from 'node:path';
import {
  type CopyReport,
  copyStore,
  type Folder,
  type SideFiles,
  type StoreCopyOptions,
} from '../engine/backup/store-copy.ts';
import { EngineError } from '../engine/base/errors.ts';
import { openDisk } from '../engine/base/file.ts';
import { openCatalog } from '../engine/store/catalog.ts';
import { lockFolder } from '../engine/store/lock.ts';
import type { Holder } from './api/admin/client.ts';
import type { ShownSnapshot } from './api/admin/snapshots.ts';
import { type CheckOutput, megabytes } from './check.ts';
import { USERS_PATH } from './registry/account/users.ts';
import { VIEWS_PATH } from './registry/account/views.ts';
import { DEFINITIONS_PATH } from './registry/definitions.ts';
import { AUDIT_PATH, OLDER_AUDIT_PATH } from './registry/journal.ts';
import { KEYS_PATH } from './registry/keys.ts';
import { ADMIN_TOKEN_PATH } from './registry/secret.ts';

/** Files of a data folder beside segments and manifest that a backup has. Sessions and the set-up link stay. */
const SIDE: SideFiles = {
  records: [KEYS_PATH, DEFINITIONS_PATH, USERS_PATH, VIEWS_PATH],
  texts: [ADMIN_TOKEN_PATH, AUDIT_PATH, OLDER_AUDIT_PATH],
};
/** A third of the time that a snapshot lasts. */
const RENEW_MS = 20_000;

/**
 * Backs up the store in the folder `root` into the folder `target`, while a service runs or not. Rejects with
 * EngineError, and as `holder`.
 */
export async function backup(
  root: string,
  target: string,
  holder: Holder,
  output: CheckOutput,
): Promise<void> {
  const [from, to] = foldersOf(root, target);
  const lock = await lockFolder(to.root);
  try {
    const report = (await holder.isRunning())
      ? await backUpRunning(from, to, holder, output)
      : await backUpStopped(from, to, output);
    const { segments, bytes, linked, copied, kept } = report;
    output.print(
      `${to.root} holds ${segments} segments, ${megabytes(bytes)} MB: ${linked} linked, ${copied} copied, ${kept} were ` +
        'there\n',
    );
    if (linked > 0) {
      output.print(
        'linked files share their bytes with the store: copy the folder to another disk\n',
      );
    }
  } finally {
    lock.release();
  }
}

/** Copies a backup into the data folder `root`, which must be new. Rejects with EngineError. */
export async function restore(source: string, root: string, output: CheckOutput): Promise<void> {
  const [from, to] = foldersOf(source, root);
  const locks = [await lockFolder(from.root)];
  try {
    locks.push(await lockFolder(to.root));
    const { segments, bytes } = await copied({ from, to, renews: false }, output);
    output.print(`${to.root} holds ${segments} segments, ${megabytes(bytes)} MB\n`);
  } finally {
    for (const lock of locks) lock.release();
  }
}

async function backUpRunning(
  from: Folder,
  to: Folder,
  holder: Holder,
  output: CheckOutput,
): Promise<CopyReport> {
  const id = `backup-${process.pid}`;
  let lost: unknown;
  const hold = async (): Promise<ShownSnapshot> => {
    const snapshot = await holder.ask('POST', 'snapshots', { id });
    lost = undefined;
    return snapshot as ShownSnapshot;
  };
  const { records, open_segments: open } = await hold();
  const renewal = setInterval(() => {
    hold().catch((error) => {
      lost = error;
    });
  }, RENEW_MS);
  try {
    return await copied(
      { from, to, renews: true, moment: { recordCount: records, open } },
      output,
      () => {
        if (lost !== undefined) throw lost;
      },
    );
  } finally {
    clearInterval(renewal);
    await holder.ask('DELETE', `snapshots/${id}`).catch(() => undefined);
  }
}

/** Opens the store as a start does, which closes what the last stop left open. */
async function backUpStopped(from: Folder, to: Folder, output: CheckOutput): Promise<CopyReport> {
  const lock = await lockFolder(from.root);
  try {
    const { manifest } = await openCatalog({ disk: from.disk, nowMs: Date.now() });
    await manifest.release();
    return await copied({ from, to, renews: true }, output);
  } finally {
    lock.release();
  }
}

/** Copies a store with its side files; `check` throws when it is to end. */
async function copied(
  order: Omit<StoreCopyOptions, 'side'>,
  output: CheckOutput,
  check: () => void = () => {},
): Promise<CopyReport> {
  const copying = copyStore({ ...order, side: SIDE });
  for (;;) {
    const { done, value } = await copying.next();
    check();
    if (done === true) return value;
    output.progress?.(`${megabytes(value.doneBytes)} of ${megabytes(value.totalBytes)} MB`);
  }
}

/** Two folders of which none lies in the other. Throws USAGE. */
function foldersOf(source: string, target: string): [Folder, Folder] {
  const [from, to] = [resolve(source), resolve(target)];
  const isIn = (inner: string, outer: string): boolean => `${inner}/`.startsWith(`${outer}/`);
  if (isIn(from, to) || isIn(to, from)) {
    throw new EngineError('USAGE', `${to} and ${from} lie in one another; allowed: two folders`);
  }
  return [
    { root: from, disk: openDisk(from) },
    { root: to, disk: openDisk(to) },
  ];
}
