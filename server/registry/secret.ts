import type { Disk } from '../../engine/base/file.ts';
import { readText, writeText } from '../../engine/base/text-file.ts';
import { makeToken } from './digest.ts';

/** The file of the data folder that holds the token of the admin API. Source: decisions.md 6.3. */
export const ADMIN_TOKEN_PATH = 'admin-token';

/** Writes a secret to a file that only its owner may read. Rejects with IO. */
export async function writeSecret(disk: Disk, path: string, secret: string): Promise<void> {
  await writeText(disk, path, `${secret}\n`);
}

/** Reads a secret; `undefined` when the file is not there or empty. */
export function readSecret(disk: Disk, path: string): string | undefined {
  const secret = readText(disk, path)?.trim();
  return secret === '' ? undefined : secret;
}

/** The token of the admin API, made at the first start. Rejects with IO. */
export async function openAdminToken(disk: Disk): Promise<string> {
  const kept = readSecret(disk, ADMIN_TOKEN_PATH);
  if (kept !== undefined) return kept;
  const token = makeToken();
  await writeSecret(disk, ADMIN_TOKEN_PATH, token);
  return token;
}
