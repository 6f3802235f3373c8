import type { Disk } from '../../engine/base/file.ts';
import type { Keys } from './keys.ts';
import { readSecret, WRITE_KEY_PATH } from './secret.ts';

/**
 * The file with the text of the write key that the first start made. It is removed once an event was accepted by that
 * key, because somebody has the key by then, and when it holds no valid key.
 */
export class FirstKeyFile {
  readonly #disk: Disk;
  readonly #failed: (error: unknown) => void;
  /** The key; `undefined` when there is no file. */
  #id: string | undefined;

  /** `failed` is told when the file cannot be removed. */
  constructor(disk: Disk, keys: Pick<Keys, 'lookup'>, failed: (error: unknown) => void) {
    this.#disk = disk;
    this.#failed = failed;
    const text = readSecret(disk, WRITE_KEY_PATH);
    if (text === undefined) return;
    this.#id = keys.lookup(text)?.id;
    if (this.#id === undefined) this.#remove();
  }

  /** Takes whose events are durable. */
  used(usage: readonly { readonly key: string }[]): void {
    const id = this.#id;
    if (id === undefined || !usage.some(({ key }) => key === id)) return;
    this.#id = undefined;
    this.#remove();
  }

  #remove(): void {
    this.#disk
      .unlink(WRITE_KEY_PATH)
      .then(() => this.#disk.syncFolder(''))
      .catch(this.#failed);
  }
}
