import { type Static, type TSchema, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { flag, object, text } from '../schema.ts';
import { refuse } from '../schema-fault.ts';

const name = text('the name of a user');
const password = text('a password');

const byPassword = object({ name, password });
const byKey = object({ read_key: text('a read key') });
const setup = object({ token: text('the token of the set-up link'), name, password });
const ownPassword = object({ password, new_password: password });
const viewName = text('a string of 1 to 100 characters');
const address = text('parameters of an address of the console, up to 4096 characters');
const shared = Type.Optional(flag());
const newView = object({ name: viewName, address, shared });
const viewChange = object({
  name: Type.Optional(viewName),
  address: Type.Optional(address),
  shared,
});

const validators = {
  byPassword: Compile(byPassword),
  byKey: Compile(byKey),
  setup: Compile(setup),
  ownPassword: Compile(ownPassword),
  newView: Compile(newView),
  viewChange: Compile(viewChange),
};

/** Schemas of the bodies below `/account/`, for the description of the interface. */
export const ACCOUNT_SCHEMAS = {
  ...{ login: Type.Union([byPassword, byKey]), setup, ownPassword },
  ...{ newView, viewChange },
};

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

/** The body that makes a view. Throws ApiError 400 naming the first fault. */
export function checkNewView(body: unknown): Static<typeof newView> {
  return checked(validators.newView, body);
}

/** The body that changes a view. Throws ApiError 400 naming the first fault. */
export function checkViewChange(body: unknown): Static<typeof viewChange> {
  return checked(validators.viewChange, body);
}

function checked<T extends TSchema>(
  validator: Validator<Record<never, never>, T>,
  body: unknown,
): Static<T> {
  return validator.Check(body) ? (body as Static<T>) : refuse(validator, body);
}
