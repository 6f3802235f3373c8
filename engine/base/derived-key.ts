import { hkdfSync } from 'node:crypto';

const NO_SALT = new Uint8Array(0);

/**
 * The key for one purpose that a secret gives: HKDF with SHA-256, without salt, `purpose` as its info (RFC 5869). Keys
 * of different purposes tell nothing of one another. `byteCount` is at most 8,160.
 */
export function derivedKey(secret: Uint8Array, purpose: string, byteCount: number): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, NO_SALT, purpose, byteCount));
}
