import { type Static, type TSchema, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { object, text } from '../schema.ts';
import { refuse } from '../schema-fault.ts';

const name = text('the name of a user');
const password = text('a password');

const byPassword = object({ name, password });
const byKey = object({ read_key: text('a read key') });
const setup = object({ token: text('the token of the set-up link'), name, password });
const ownPassword = object({ password, new_password: password });

const validators = {
  byPassword: Compile(byPassword),
  byKey: Compile(byKey),
  setup: Compile(setup),
  ownPassword: Compile(ownPassword),
};

/** Schemas of the bodies below `/account/`, for the description of the interface. */
export const ACCOUNT_SCHEMAS = { login: Type.Union([byPassword, byKey]), setup, ownPassword };

/** The body of a login, which is by name and password or by a read key. Throws ApiError 400 naming the first fault. */
export function checkLogin(body: unknown): Static<typeof byPassword> | Static<typeof byKey> {
  const isByKey = typeof body === 'object' && body !== null && 'read_key' in body;
  return isByKey ? checked(validators.byKey, body) : checked(validators.byPassword, body);
}

/** The body of a set-up. Throws ApiError 400 naming the first fault. */
export function checkSetup(body: unknown): Static<typeof setup> {
  return checked(validators.setup, body);
}

/** The body of a change of one's own password. Throws ApiError 400 naming the first fault. */
export function checkOwnPassword(body: unknown): Static<typeof ownPassword> {
  return checked(validators.ownPassword, body);
}

function checked<T extends TSchema>(
  validator: Validator<Record<never, never>, T>,
  body: unknown,
): Static<T> {
  return validator.Check(body) ? (body as Static<T>) : refuse(validator, body);
}
