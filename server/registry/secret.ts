import { EngineError } from '../../engine/base/errors.ts';
import type { Disk } from '../../engine/base/file.ts';
import { readText, writeText } from '../../engine/base/text-file.ts';
import { isToken, makeToken, TOKEN_CHARACTERS } from './digest.ts';

/** The file of the data folder that holds the token of the admin API. */
export const ADMIN_TOKEN_PATH = 'admin-token';

/** The file of the data folder that holds the write key of the first start, until it is used. */
export const WRITE_KEY_PATH = 'write-key';

/** Writes a secret to a file that only its owner may read. Rejects with IO. */
export async function writeSecret(disk: Disk, path: string, secret: string): Promise<void> {
  await writeText(disk, path, `${secret}\n`);
}

/** Reads a secret; `undefined` when the file is not there or empty. */
export function readSecret(disk: Disk, path: string): string | undefined {
  const secret = readText(disk, path)?.trim();
  return secret === '' ? undefined : secret;
}

/** The token of the admin API, made at the first start. Rejects with CORRUPTION when its file does not hold one; IO. */
export async function openAdminToken(disk: Disk): Promise<string> {
  const kept = readText(disk, ADMIN_TOKEN_PATH)?.trim();
  if (kept !== undefined && !isToken(kept)) {
    throw new EngineError(
      'CORRUPTION',
      `${ADMIN_TOKEN_PATH} does not hold a token of ${TOKEN_CHARACTERS} characters: put it back from a backup, or ` +
        'remove it, and the next start makes another one',
    );
  }
  if (kept !== undefined) return kept;
  const token = makeToken();
  await writeSecret(disk, ADMIN_TOKEN_PATH, token);
  return token;
}
