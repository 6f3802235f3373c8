import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Characters of a key: 128 random bits as base64url without padding. Source: INTERFACE.md 2.1. */
export const KEY_CHARACTERS = 22;

/** Characters of a token: 256 random bits as base64url without padding. */
export const TOKEN_CHARACTERS = 43;

/** Bytes of a SHA-256 digest. */
export const DIGEST_BYTES = 32;

const KEY_BYTES = 16;
const SECRET_BYTES = 32;
const ID_BYTES = 8;

/** Makes a new key. Only its digest is ever stored. */
export function makeKey(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

/** Makes the text of a token of 256 random bits, 43 characters base64url. */
export function makeToken(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Recognises a text that `makeToken` could have made. */
export function isToken(text: string): boolean {
  return /^[\w-]+$/.test(text) && text.length === TOKEN_CHARACTERS;
}

/** Makes the id of a resource: 16 hexadecimal digits, random, so that it says nothing about its key. */
export function makeId(): string {
  return randomBytes(ID_BYTES).toString('hex');
}

/**
 * SHA-256 of a key. Keys are random, so no slow hash is needed; a lookup by digest takes as long for a wrong key as
 * for a right one, whatever they have in common.
 */
export function digestOf(key: string | Uint8Array): Uint8Array {
  return hash('sha256', key, 'buffer');
}

/** The form of a digest in which it is the key of a Map: hexadecimal. */
export function digestName(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('hex');
}

/** The name of the digest of a key. */
export function digestNameOf(key: string | Uint8Array): string {
  return hash('sha256', key, 'hex');
}

/** Compares two secrets in a time that does not depend on where they differ. */
export function sameSecret(left: string, right: string): boolean {
  return timingSafeEqual(digestOf(left), digestOf(right));
}
