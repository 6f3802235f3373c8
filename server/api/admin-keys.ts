import { nearest } from '../../engine/base/nearest.ts';
import { shown } from '../query/shown.ts';
import type { KeyKind, Quota } from '../registry/key-record.ts';
import type { Key, KeyChange, Keys, NewKey } from '../registry/keys.ts';
import { dayOf, type UsageCells } from '../registry/usage.ts';
import { type AdminResource, fieldsOf, methodNotAllowed } from './admin.ts';
import { parseJsonBody } from './json.ts';
import { ApiError, type ApiRequest, type Reply, resultReply } from './reply.ts';
import { requireJsonType } from './route.ts';

/** What the resources of keys act on. */
export interface KeyResourceDeps {
  keys: Keys;
  cells: UsageCells;
  nowMs(): number;
  /** Checks the text of a security filter. Throws an Error whose message tells the fault and its position. */
  parseFilter(text: string): unknown;
  /** Called after each change, before it is answered: the workers get the new table. */
  changed(): void;
}

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
 * The resources `write_keys` and `read_keys`, by id or name.
 * `enabled` is the state of interface.md 3: false for a key that is switched off and for one whose quota is spent.
 * `daily_usage` is in bytes. Source: interface.md 2.1 and 2.2, decisions.md 6.3.
 */
export function keyResources(deps: KeyResourceDeps): [string, AdminResource][] {
  return (['write', 'read'] as const).map((kind) => [
    `${kind}_keys`,
    {
      collection: (request, who) => collection(deps, kind, request, who),
      single: (idOrName, request, who) => single(deps, kind, idOrName, request, who),
    },
  ]);
}

async function collection(
  deps: KeyResourceDeps,
  kind: KeyKind,
  request: ApiRequest,
  who: string,
): Promise<Reply> {
  if (request.method === 'GET') {
    const keys = deps.keys.list(kind).map((key) => shownKey(deps, key));
    return resultReply(JSON.stringify({ [`${kind}_keys`]: keys }));
  }
  if (request.method !== 'POST') throw methodNotAllowed(request.method, 'GET, POST');
  const { name, ...fields } = readChange(deps, kind, request);
  if (name === undefined) throw new ApiError(400, 'name is missing; it must be a text');
  const wanted: NewKey = { kind, name };
  if (fields.enabled !== undefined) wanted.enabled = fields.enabled;
  if (fields.quota !== undefined && fields.quota !== null) wanted.quota = fields.quota;
  if (fields.filter !== undefined && fields.filter !== null) wanted.filter = fields.filter;
  const { text, key } = await deps.keys.create(wanted, who);
  deps.changed();
  return resultReply(JSON.stringify({ ...shownKey(deps, key), key: text }));
}

async function single(
  deps: KeyResourceDeps,
  kind: KeyKind,
  idOrName: string,
  request: ApiRequest,
  who: string,
): Promise<Reply> {
  const key = deps.keys.named(kind, idOrName);
  if (key === undefined) {
    throw new ApiError(404, `there is no ${kind} key with the id or name ${shown(idOrName)}`);
  }
  if (request.method === 'GET') return resultReply(JSON.stringify(shownKey(deps, key)));
  if (request.method === 'PATCH') {
    const changed = await deps.keys.change(key.id, readChange(deps, kind, request), who);
    deps.changed();
    return resultReply(JSON.stringify(shownKey(deps, changed)));
  }
  if (request.method !== 'DELETE') throw methodNotAllowed(request.method, 'GET, PATCH, DELETE');
  await deps.keys.delete(key.id, who);
  deps.changed();
  return resultReply(JSON.stringify({ id: key.id, name: key.name, deleted: true }));
}

function shownKey(deps: KeyResourceDeps, key: Key): ShownKey {
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
function readChange(deps: KeyResourceDeps, kind: KeyKind, request: ApiRequest): KeyChange {
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

function readFilter(deps: KeyResourceDeps, value: unknown): string {
  const text = typed('security_filter', value, 'string', 'a text or null');
  try {
    deps.parseFilter(text);
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    throw new ApiError(400, `security_filter ${shown(text)}: ${cause.message}`);
  }
  return text;
}
