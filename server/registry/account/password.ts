import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { EngineError } from '../../../engine/base/errors.ts';

/** Characters of a password. Source: OWASP ASVS 5.0, V6.2. */
export const PASSWORD_CHARACTERS_MIN = 12;
export const PASSWORD_CHARACTERS_MAX = 256;

/** The cost of a hash: 32 MiB and about a quarter of a second. Source: RFC 7914; OWASP Password Storage. */
const COST = { N: 32_768, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Hashes that wait for their turn; each takes memory and a thread of the pool that files are synced by. */
const WAITING_MAX = 16;

/** A password as it is stored. */
export interface PasswordHash {
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

let waitingCount = 0;
let last: Promise<unknown> = Promise.resolve();

/** Throws USAGE, which tells the parameter `name`, when `text` may be no password. */
export function checkPassword(text: string, name = 'password'): void {
  const count = [...text].length;
  if (count >= PASSWORD_CHARACTERS_MIN && count <= PASSWORD_CHARACTERS_MAX) return;
  throw new EngineError(
    'USAGE',
    `${name} has ${count} characters; allowed are ${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX}`,
  );
}

/** Hashes a password with a new salt. Rejects with LIMIT when too many are being hashed. */
export async function hashPassword(text: string): Promise<PasswordHash> {
  const salt = new Uint8Array(randomBytes(SALT_BYTES));
  return { salt, hash: await hashed(text, salt) };
}

/**
 * Resolves with true when `text` is the password. Without a hash to compare with, it resolves with false after the same
 * time, so that nobody learns which users there are. Rejects with LIMIT when too many are being hashed.
 */
export async function isPassword(text: string, known: PasswordHash | undefined): Promise<boolean> {
  const hash = await hashed(text, known?.salt ?? new Uint8Array(SALT_BYTES));
  return known !== undefined && timingSafeEqual(hash, known.hash);
}

/** Hashes one after the other: guesses cost one thread, whatever their number. */
function hashed(text: string, salt: Uint8Array): Promise<Uint8Array> {
  if (waitingCount >= WAITING_MAX) {
    throw new EngineError('LIMIT', `${waitingCount} passwords are being checked; try again`);
  }
  waitingCount++;
  const turn = last.then(() => derived(text, salt)).finally(() => waitingCount--);
  last = turn.catch(() => undefined);
  return turn;
}

function derived(text: string, salt: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    // Keyboards differ in how they compose letters. Source: RFC 8265, 4.2.
    scrypt(text.normalize('NFC'), salt, HASH_BYTES, COST, (error, hash) => {
      if (error === null) resolve(new Uint8Array(hash));
      else reject(error);
    });
  });
}
