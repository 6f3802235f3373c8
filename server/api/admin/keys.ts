import { DAY_MS } from '../../../engine/base/durations.ts';
import type { KeyUsage } from '../../../engine/engine.ts';
import { shown } from '../../language/shown.ts';
import type { KeyKind, Quota } from '../../registry/key-record.ts';
import type { Key, KeyChange, Keys, NewKey } from '../../registry/keys.ts';
import type { Senders } from '../../registry/senders.ts';
import { dayOf, type UsageCells } from '../../registry/usage.ts';
import { parseJsonBody } from '../json.ts';
import { ApiError, type ApiRequest, resultReply } from '../reply.ts';
import { requireJsonType } from '../route.ts';
import type { AdminResource } from '../routes/route.ts';
import { checkKeyBody, quotaOf } from './key-schema.ts';

/** Days whose usage is shown. */
const DAYS_MAX = 30;

/** Dependencies of the resources of keys. */
export interface KeyResourceDeps {
  keys: Keys;
  cells: UsageCells;
  nowMs(): number;
  /** Usage by key and day, as far as it is known. */
  usage(): readonly KeyUsage[];
  /** Who sends by each key. */
  senders: Pick<Senders, 'of' | 'lastMs'>;
  /** The declared ids that a security filter names. Throws an Error whose message tells the fault and its position. */
  filterIds(text: string): string[];
  /** Called after each change, before it is answered: the workers get the new table. */
  changed(): void;
}

/** A key as the API shows it, without its text. */
interface ShownKey {
  id: string;
  name: string;
  enabled?: boolean;
  quota_reached?: boolean;
  daily_usage?: number;
  daily_quota?: Quota | null;
  /** The last 30 days in which it brought something, oldest first. */
  days?: { day: string; bytes: number; events: number }[];
  last_seen?: string | null;
  senders?: { peer: string; channel: string; last_seen: string }[];
  security_filter?: string | null;
}

/**
 * The resources `write_keys` and `read_keys`, by id or name.
 * `enabled` is the state of INTERFACE.md 3: false for a key that is switched off and for one whose quota is spent.
 * `daily_usage` is in bytes. Source: INTERFACE.md 2.1, 2.2 and 13.
 */
export function keyResources(deps: KeyResourceDeps): [string, AdminResource][] {
  return (['write', 'read'] as const).map((kind) => [`${kind}_keys`, resourceOf(deps, kind)]);
}

function resourceOf(deps: KeyResourceDeps, kind: KeyKind): AdminResource {
  const { keys, changed } = deps;
  const existing = (idOrName: string): Key => {
    const key = keys.named(kind, idOrName);
    if (key !== undefined) return key;
    throw new ApiError(404, `there is no ${kind} key with the id or name ${shown(idOrName)}`);
  };
  return {
    list: async () => {
      const usage = kind === 'write' ? usageByKey(deps) : undefined;
      const all = keys.list(kind).map((key) => shownKey(deps, key, usage?.get(key.id)));
      return resultReply(JSON.stringify({ [`${kind}_keys`]: all }));
    },
    make: async ({ request, asker }) => {
      const made = await keys.create(readNew(deps, kind, request), asker);
      changed();
      return resultReply(JSON.stringify({ ...shownKey(deps, made.key), key: made.text }));
    },
    show: async ({ id }) => resultReply(JSON.stringify(shownKey(deps, existing(id)))),
    change: async ({ request, asker, id }) => {
      const key = await keys.change(existing(id).id, readChange(deps, kind, request), asker);
      changed();
      return resultReply(JSON.stringify(shownKey(deps, key)));
    },
    delete: async ({ asker, id: idOrName }) => {
      const { id, name } = existing(idOrName);
      await keys.delete(id, asker);
      changed();
      return resultReply(JSON.stringify({ id, name, deleted: true }));
    },
  };
}

/** Reads the body of POST. */
function readNew(deps: KeyResourceDeps, kind: KeyKind, request: ApiRequest): NewKey {
  const { name, ...fields } = readChange(deps, kind, request);
  if (name === undefined)
    throw new ApiError(400, 'name is missing; allowed: a string of 1 to 100 characters');
  const wanted: NewKey = { kind, name };
  if (fields.enabled !== undefined) wanted.enabled = fields.enabled;
  if (fields.quota !== undefined && fields.quota !== null) wanted.quota = fields.quota;
  if (fields.filter !== undefined && fields.filter !== null) wanted.filter = fields.filter;
  if (fields.filterIds !== undefined) wanted.filterIds = fields.filterIds;
  return wanted;
}

/** The usage of each key. */
function usageByKey({ usage }: KeyResourceDeps): Map<string, KeyUsage[]> {
  return Map.groupBy(usage(), ({ key }) => key);
}

/** `usage` is that of the key, the oldest day first. */
function shownKey(
  deps: KeyResourceDeps,
  key: Key,
  usage = key.kind === 'read' ? [] : (usageByKey(deps).get(key.id) ?? []),
): ShownKey {
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
    ...seen(deps, key.id, usage, day),
  };
}

/** Days, last event and senders of a write key. Before the process began only the day of an event is known. */
function seen(
  { senders }: KeyResourceDeps,
  id: string,
  usage: readonly KeyUsage[],
  today: number,
): Pick<ShownKey, 'days' | 'last_seen' | 'senders'> {
  const lastMs = senders.lastMs(id);
  const known = usage.filter(({ day }) => day <= today);
  const last = known.findLast(({ events }) => events > 0);
  const lastDay = last === undefined ? null : dayText(last.day);
  return {
    days: known
      .filter(({ day }) => day > today - DAYS_MAX)
      .map(({ day, bytes, events }) => ({ day: dayText(day), bytes, events })),
    last_seen: lastMs === undefined ? lastDay : new Date(lastMs).toISOString(),
    senders: senders.of(id).map((sender) => ({
      ...{ peer: sender.peer, channel: sender.channel },
      last_seen: new Date(sender.lastMs).toISOString(),
    })),
  };
}

/** A UTC day, such as `2026-03-01`. */
function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Reads the body of POST and PATCH: the fields that are there. What a quota may be is for the registry to say. */
function readChange(deps: KeyResourceDeps, kind: KeyKind, request: ApiRequest): KeyChange {
  requireJsonType(request);
  const body = checkKeyBody(kind, parseJsonBody(request.body));
  const change: KeyChange = {};
  if (body.name !== undefined) change.name = body.name;
  if (body.enabled !== undefined) change.enabled = body.enabled;
  const quota = quotaOf(body);
  if (quota !== undefined) change.quota = quota;
  const filter = body.security_filter;
  if (filter === null) change.filter = null;
  else if (filter !== undefined) {
    change.filter = filter;
    change.filterIds = readFilter(deps, filter);
  }
  return change;
}

/** The declared ids that a security filter names. Throws ApiError 400 when it is malformed. */
function readFilter(deps: KeyResourceDeps, text: string): string[] {
  try {
    return deps.filterIds(text);
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    throw new ApiError(400, `security_filter ${shown(text)}: ${cause.message}`);
  }
}
