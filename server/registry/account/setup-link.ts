import type { Disk } from '../../../engine/base/file.ts';
import { isToken, makeToken, sameSecret } from '../digest.ts';
import { readSecret, writeSecret } from '../secret.ts';

/** The file of the data folder that holds the token of the set-up link, until the first user is made. */
export const SETUP_TOKEN_PATH = 'setup-token';

/** The token that lets whoever started the service make the first user. */
export class SetupLink {
  readonly #disk: Disk;
  #token: string | undefined;

  constructor(disk: Disk, token: string | undefined) {
    this.#disk = disk;
    this.#token = token;
  }

  /** The token; `undefined` when there is a user. */
  get token(): string | undefined {
    return this.#token;
  }

  /** Reports whether `text` is the token, in a time that does not tell how much of it is right. */
  isToken(text: string): boolean {
    return this.#token !== undefined && sameSecret(text, this.#token);
  }

  /** Ends the link, as there is a user now. Rejects with IO. */
  async end(): Promise<void> {
    if (this.#token === undefined) return;
    this.#token = undefined;
    await this.#disk.unlink(SETUP_TOKEN_PATH);
    await this.#disk.syncFolder('');
  }
}

/** Opens the link of a folder: while there are no users it has a token, the same at each start. Rejects with IO. */
export async function openSetupLink(disk: Disk, hasUsers: boolean): Promise<SetupLink> {
  const kept = readSecret(disk, SETUP_TOKEN_PATH);
  if (hasUsers) {
    const link = new SetupLink(disk, kept);
    await link.end();
    return link;
  }
  if (kept !== undefined && isToken(kept)) return new SetupLink(disk, kept);
  const token = makeToken();
  await writeSecret(disk, SETUP_TOKEN_PATH, token);
  return new SetupLink(disk, token);
}
