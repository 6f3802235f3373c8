import { EngineError } from '../../engine/base/errors.ts';
import { nearest } from '../../engine/base/nearest.ts';
import { shown } from '../query/shown.ts';
import { sameSecret } from '../registry/digest.ts';
import type { KeyKind, Quota } from '../registry/key-record.ts';
import type { Key, KeyChange, Keys, NewKey } from '../registry/keys.ts';
import { dayOf, type UsageCells } from '../registry/usage.ts';
import { parseJsonBody } from './json.ts';
import { ApiError, type ApiRequest, type Reply, resultReply } from './reply.ts';
import { requireJsonType } from './route.ts';

/** What the admin API acts on. */
export interface AdminDeps {
  keys: Keys;
  cells: UsageCells;
  /** The token of the file `admin-token`. */
  token: string;
  nowMs(): number;
  /** Checks the text of a security filter. Throws an Error whose message tells the fault and its position. */
  parseFilter(text: string): unknown;
  /** Called after each change, before it is answered: the workers get the new table. */
  changed(): void;
}

/** Where the admin API lies. */
export const ADMIN_PATH = '/admin/api/';

const WHO = 'admin-token';
const KINDS = new Map<string, KeyKind>([
  ['write_keys', 'write'],
  ['read_keys', 'read'],
]);
const FIELDS = new Map<KeyKind, readonly string[]>([
  ['write', ['name', 'enabled', 'daily_quota']],
  ['read', ['name', 'security_filter']],
]);
const QUOTA_FIELDS: readonly string[] = ['type', 'value'];
const READ_ONLY = new Set(['id', 'key', 'daily_usage', 'quota_reached']);

/** A key as the API shows it, without its text. */
interface ShownKey {
  id: string;
  name: string;
  enabled?: boolean;
  quota_reached?: boolean;
  daily_usage?: number;
  daily_quota?: Quota | null;
  security_filter?: string | null;
}

/**
 * Makes the handler of `/admin/api/`: the resources `write_keys` and `read_keys` with GET, POST, PATCH and DELETE, by
 * id or name. It needs `Authorization: Bearer` with the token. Rejects with ApiError: 400, 401, 404, 405, 413, 415, 503.
 * `enabled` is the state of interface.md 3: false for a key that is switched off and for one whose quota is spent.
 * `daily_usage` is in bytes. Source: interface.md 2.1 and 2.2, decisions.md 6.3.
 */
export function createAdmin(deps: AdminDeps): (request: ApiRequest) => Promise<Reply> {
  return async (request) => {
    authenticate(request, deps.token);
    const rest = request.path.slice(ADMIN_PATH.length);
    const slash = rest.indexOf('/');
    const resource = slash < 0 ? rest : rest.slice(0, slash);
    const kind = KINDS.get(resource);
    if (kind === undefined) throw new ApiError(404, unknownResource(resource));
    try {
      if (slash < 0) return await collection(deps, kind, request);
      return await single(deps, kind, rest.slice(slash + 1), request);
    } catch (error) {
      throw asApiError(error);
    }
  };
}

function authenticate(request: ApiRequest, token: string): void {
  const match = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '');
  if (match !== null && sameSecret(match[1], token)) return;
  const message =
    'could not be authenticated: header authorization must be Bearer with the token of the file admin-token';
  throw new ApiError(401, message, { 'WWW-Authenticate': 'Bearer' });
}

function unknownResource(resource: string): string {
  const close = nearest(resource, KINDS.keys());
  const allowed = [...KINDS.keys()].join(', ');
  const hint = close === undefined ? '' : `; did you mean ${close}?`;
  return `resource ${shown(resource)} is unknown; there are ${allowed}${hint}`;
}

/** What an EngineError of the registry is to the caller. */
function asApiError(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  if (error.code === 'USAGE' || error.code === 'LIMIT') return new ApiError(400, error.message);
  return new ApiError(503, 'the change could not be written; see the log of the service');
}

function notAllowed(method: string, allowed: string): ApiError {
  const message = `method ${shown(method)} is not allowed here; allowed are ${allowed}`;
  return new ApiError(405, message, { Allow: allowed });
}

async function collection(deps: AdminDeps, kind: KeyKind, request: ApiRequest): Promise<Reply> {
  if (request.method === 'GET') {
    const keys = deps.keys.list(kind).map((key) => shownKey(deps, key));
    return resultReply(JSON.stringify({ [`${kind}_keys`]: keys }));
  }
  if (request.method !== 'POST') throw notAllowed(request.method, 'GET, POST');
  const { name, ...fields } = readChange(deps, kind, request);
  if (name === undefined) throw new ApiError(400, 'name is missing; it must be a text');
  const wanted: NewKey = { kind, name };
  if (fields.enabled !== undefined) wanted.enabled = fields.enabled;
  if (fields.quota !== undefined && fields.quota !== null) wanted.quota = fields.quota;
  if (fields.filter !== undefined && fields.filter !== null) wanted.filter = fields.filter;
  const { text, key } = await deps.keys.create(wanted, WHO);
  deps.changed();
  return resultReply(JSON.stringify({ ...shownKey(deps, key), key: text }));
}

async function single(
  deps: AdminDeps,
  kind: KeyKind,
  idOrName: string,
  request: ApiRequest,
): Promise<Reply> {
  const key = deps.keys.named(kind, idOrName);
  if (key === undefined) {
    throw new ApiError(404, `there is no ${kind} key with the id or name ${shown(idOrName)}`);
  }
  if (request.method === 'GET') return resultReply(JSON.stringify(shownKey(deps, key)));
  if (request.method === 'PATCH') {
    const changed = await deps.keys.change(key.id, readChange(deps, kind, request), WHO);
    deps.changed();
    return resultReply(JSON.stringify(shownKey(deps, changed)));
  }
  if (request.method !== 'DELETE') throw notAllowed(request.method, 'GET, PATCH, DELETE');
  await deps.keys.delete(key.id, WHO);
  deps.changed();
  return resultReply(JSON.stringify({ id: key.id, name: key.name, deleted: true }));
}

function shownKey(deps: AdminDeps, key: Key): ShownKey {
  if (key.kind === 'read') {
    return { id: key.id, name: key.name, security_filter: key.filter ?? null };
  }
  const day = dayOf(deps.nowMs());
  const isSpent = deps.cells.isSpent(key.cell, day);
  return {
    id: key.id,
    name: key.name,
    enabled: key.enabled && !isSpent,
    quota_reached: isSpent,
    daily_usage: deps.cells.usedBytes(key.cell, day),
    daily_quota: key.quota ?? null,
  };
}

/** Reads the body of POST and PATCH: the fields that are there, with their JSON types checked. */
function readChange(deps: AdminDeps, kind: KeyKind, request: ApiRequest): KeyChange {
  requireJsonType(request);
  const change: KeyChange = {};
  const known = FIELDS.get(kind) ?? [];
  for (const [field, value] of fieldsOf(parseJsonBody(request.body), 'the body')) {
    if (!known.includes(field)) throw unknownField(field, known);
    if (field === 'name') change.name = typed(field, value, 'string', 'a text');
    if (field === 'enabled') change.enabled = typed(field, value, 'boolean', 'true or false');
    if (field === 'daily_quota') change.quota = value === null ? null : readQuota(value);
    if (field === 'security_filter')
      change.filter = value === null ? null : readFilter(deps, value);
  }
  return change;
}

/** The fields of a JSON object as pairs: names from outside are never looked up in it. */
function fieldsOf(value: unknown, what: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiError(400, `${what} is ${shown(value)}; it must be an object`);
  }
  return Object.entries(value);
}

function unknownField(field: string, known: readonly string[], prefix = ''): ApiError {
  if (READ_ONLY.has(field)) return new ApiError(400, `parameter ${field} cannot be set`);
  const close = nearest(field, known);
  const hint = close === undefined ? '' : `; did you mean ${prefix}${close}?`;
  const message = `parameter ${prefix}${shown(field)} is unknown; allowed are ${known.join(', ')}${hint}`;
  return new ApiError(400, message);
}

interface JsonTypes {
  string: string;
  boolean: boolean;
}

function typed<Type extends keyof JsonTypes>(
  field: string,
  value: unknown,
  type: Type,
  allowed: string,
): JsonTypes[Type] {
  if (typeof value === type) return value as JsonTypes[Type];
  throw new ApiError(400, `${field} is ${shown(value)}; it must be ${allowed}`);
}

/** Only the shape: what type and value may be is for the registry to say. */
function readQuota(value: unknown): Quota {
  const fields = new Map(fieldsOf(value, 'daily_quota'));
  for (const field of fields.keys()) {
    if (!QUOTA_FIELDS.includes(field)) throw unknownField(field, QUOTA_FIELDS, 'daily_quota.');
  }
  return { type: fields.get('type') as Quota['type'], value: fields.get('value') as number };
}

function readFilter(deps: AdminDeps, value: unknown): string {
  const text = typed('security_filter', value, 'string', 'a text or null');
  try {
    deps.parseFilter(text);
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    throw new ApiError(400, `security_filter ${shown(text)}: ${cause.message}`);
  }
  return text;
}
