import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { DAY_MS } from '../../../engine/base/durations.ts';
import type { Disk } from '../../../engine/base/file.ts';
import type { CompactionGauges } from '../../../engine/store/compaction.ts';
import type { PlannedDrops, RetentionPolicy } from '../../../engine/store/retention.ts';
import { type Asker, appendAudit } from '../../registry/journal.ts';
import { parseJsonBody } from '../json.ts';
import { type ApiRequest, resultReply } from '../reply.ts';
import { requireJsonType } from '../route.ts';
import type { AdminResource } from '../routes/route.ts';
import { object } from '../schema.ts';
import { refuse } from '../schema-fault.ts';

const DAYS_MAX = 100_000;
const BYTES_MIN = 1_000_000;

const limit = (minimum: number, maximum: number) =>
  Type.Optional(
    Type.Union([Type.Integer({ minimum, maximum }), Type.Null()], {
      description: `a whole number from ${minimum} to ${maximum}, or null for none`,
    }),
  );
/** Schema of the body of a change and of a test; what is left out stays as it is. */
export const RETENTION_SCHEMA = object({
  days: limit(1, DAYS_MAX),
  bytes: limit(BYTES_MIN, Number.MAX_SAFE_INTEGER),
  free_bytes: limit(BYTES_MIN, Number.MAX_SAFE_INTEGER),
});
const validator = Compile(RETENTION_SCHEMA);

/** The store as the resource needs it. */
export interface RetentionStore {
  /** The retention in force. */
  readonly retention: RetentionPolicy;
  setRetention(policy: RetentionPolicy | undefined): Promise<void>;
  planRetention(policy: RetentionPolicy): PlannedDrops;
  gauges(): Pick<CompactionGauges, 'waitingDrop'>;
}

/** Dependencies of the resource. */
export interface RetentionResourceDeps {
  disk: Disk;
  compaction: RetentionStore;
  /** Reports whether a retention was set in place of the configured one. */
  isSet: () => boolean;
  /** Rows of blocks that are not sealed and whose oldest row has an earlier date. */
  unsealedBefore: (ms: number) => number;
  nowMs: () => number;
}

/**
 * The resource `retention`: what is kept, for how long. PATCH changes it in place of the configuration, DELETE goes
 * back to that, `POST retention/test` tells what would go. Source: INTERFACE.md 12.
 */
export function retentionResource(deps: RetentionResourceDeps): [string, AdminResource] {
  const { compaction, disk, nowMs } = deps;
  let last: Promise<unknown> = Promise.resolve();
  // A change is of what the one before has left, and its line in the audit log goes first.
  const change = (asker: Asker, policyOf: () => RetentionPolicy | undefined) => {
    const done = last.then(async () => {
      const policy = policyOf();
      const what = policy === undefined ? 'delete' : 'change';
      const line = { ...asker, what, resource: 'retention', ...(policy && shownPolicy(policy)) };
      await appendAudit(disk, { at: new Date(nowMs()).toISOString(), ...line });
      await compaction.setRetention(policy);
      return resultReply(JSON.stringify(shownState(deps)));
    });
    last = done.catch(() => undefined);
    return done;
  };
  return [
    'retention',
    {
      list: async () => resultReply(JSON.stringify(shownState(deps))),
      change: async ({ request, asker }) => {
        const body = readBody(request);
        return change(asker, () => changed(compaction.retention, body));
      },
      delete: async ({ asker }) => change(asker, () => undefined),
      test: async ({ request }) => {
        const policy = changed(compaction.retention, readBody(request));
        const { old, surplus, isHeld } = compaction.planRetention(policy);
        const { ageMaxMs } = policy;
        const unsealed = ageMaxMs === undefined ? 0 : deps.unsealedBefore(nowMs() - ageMaxMs);
        const sums = { age: sumOf(old), space: sumOf(surplus), unsealed, waits: isHeld };
        return resultReply(JSON.stringify({ ...shownPolicy(policy), ...sums }));
      },
    },
  ];
}

function readBody(request: ApiRequest): Static<typeof RETENTION_SCHEMA> {
  requireJsonType(request);
  const body: unknown = parseJsonBody(request.body);
  return validator.Check(body) ? body : refuse(validator, body);
}

function changed(
  { ageMaxMs, bytesMax, freeBytesMin }: RetentionPolicy,
  { days, bytes, free_bytes: freeBytes }: Static<typeof RETENTION_SCHEMA>,
): RetentionPolicy {
  return {
    ageMaxMs: days === undefined ? ageMaxMs : days === null ? undefined : days * DAY_MS,
    bytesMax: bytes === undefined ? bytesMax : (bytes ?? undefined),
    freeBytesMin: freeBytes === undefined ? freeBytesMin : (freeBytes ?? undefined),
  };
}

function shownPolicy({ ageMaxMs, bytesMax, freeBytesMin }: RetentionPolicy) {
  const days = ageMaxMs === undefined ? null : ageMaxMs / DAY_MS;
  return { days, bytes: bytesMax ?? null, free_bytes: freeBytesMin ?? null };
}

function shownState({ compaction, isSet }: RetentionResourceDeps) {
  const { waitingDrop } = compaction.gauges();
  const waiting = waitingDrop && {
    ...{ segments: waitingDrop.segments, events: waitingDrop.rows, bytes: waitingDrop.bytes },
    seconds: Math.ceil(waitingDrop.leftMs / 1_000),
  };
  return { ...shownPolicy(compaction.retention), set: isSet(), ...(waiting && { waiting }) };
}

/** The sum of segments that go, and of which time their events are. */
function sumOf(segments: PlannedDrops['old']) {
  const sum = (of: (facts: (typeof segments)[number]) => number): number =>
    segments.reduce((total, facts) => total + of(facts), 0);
  const totals = { events: sum(({ rowCount }) => rowCount), bytes: sum(({ bytes }) => bytes) };
  const rows = segments.filter(({ rowCount }) => rowCount > 0);
  if (rows.length === 0) return { segments: segments.length, ...totals };
  const from = rows.reduce((least, { minTimeMs }) => Math.min(least, minTimeMs), Infinity);
  const to = rows.reduce((most, { maxTimeMs }) => Math.max(most, maxTimeMs), -Infinity);
  const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  return { segments: segments.length, ...totals, ...range };
}
