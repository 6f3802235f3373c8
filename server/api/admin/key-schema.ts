import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { shown } from '../../language/shown.ts';
import type { KeyKind, Quota } from '../../registry/key-record.ts';
import { ApiError } from '../reply.ts';
import { choice, flag, object, text } from '../schema.ts';
import { refuse } from '../schema-fault.ts';

/** Fields of a key that nobody sets. */
const READ_ONLY = new Set([
  ...['id', 'key', 'daily_usage', 'quota_reached', 'days', 'last_seen', 'senders'],
]);

/** Types of quotas in the words of people. Source: INTERFACE.md 2.1. */
const QUOTA_WORDS: ReadonlyMap<string, Quota['type']> = new Map([
  ['Percentage of global limit', 'percentage'],
  ['Volume in MB', 'megabytes'],
]);

const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });
/** Schema of the name of a key. */
export const keyName = text('a string of 1 to 100 characters');

const name = Type.Optional(keyName);
const writeKey = object({
  name,
  enabled: Type.Optional(flag()),
  daily_quota: Type.Optional(
    orNull(
      object({
        type: choice('percentage', 'megabytes', ...QUOTA_WORDS.keys()),
        value: Type.Number({ description: 'a number above 0' }),
      }),
      'an object of type, value, or null',
    ),
  ),
});
const readKey = object({
  name,
  security_filter: Type.Optional(orNull(Type.String(), 'a search query, or null')),
});
const validators = { write: Compile(writeKey), read: Compile(readKey) };

/** Schemas of the bodies by which keys are made and changed, for the description of the interface. */
export const KEY_SCHEMAS = { write: writeKey, read: readKey };

/** Body that makes or changes a key of either kind; fields of the other kind are never there. */
export type KeyBody = Static<typeof writeKey> & Static<typeof readKey>;

/** Returns the body if it changes a key. Throws ApiError 400 naming the first fault. */
export function checkKeyBody(kind: KeyKind, body: unknown): KeyBody {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ApiError(400, `the body is ${shown(body)}; it must be an object`);
  }
  for (const field of Object.keys(body)) {
    if (READ_ONLY.has(field)) throw new ApiError(400, `parameter ${field} cannot be set`);
  }
  const validator = validators[kind];
  return validator.Check(body) ? body : refuse(validator, body);
}

/** The quota of a body that was checked; what its value may be is for the registry to say. */
export function quotaOf({ daily_quota: quota }: KeyBody): Quota | null | undefined {
  if (quota === undefined || quota === null) return quota;
  return { type: QUOTA_WORDS.get(quota.type) ?? (quota.type as Quota['type']), value: quota.value };
}
