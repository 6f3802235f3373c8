import type { Intake } from '../../ingest/intake.ts';
import type { QueryPool } from '../../query/query-pool.ts';
import type { StoreGauges } from '../metrics/metrics.ts';
import { resultReply } from '../reply.ts';
import type { AdminResource } from '../routes/route.ts';

const DAY_MS = 86_400_000;
/** Days that are told, the newest ones. */
const DAYS_MAX = 60;

/** A block as far as its share of the disk goes. */
interface StoredBlock {
  readonly minTimeMs: number;
  readonly rowCount: number;
  readonly bytes: number;
}

/** Sources of the health, each read when somebody asks. */
export interface HealthSources {
  version: string;
  startedMs: number;
  intake: Pick<Intake, 'counts' | 'gauges'>;
  queries: Pick<QueryPool, 'gauges'>;
  store(): StoreGauges;
  /** Reports why nothing is taken in: free disk below the reserve, writes that fail. */
  refusals(): { full: boolean; failing: boolean };
  /** The live blocks: the same object until something changes. */
  blocks(): readonly StoredBlock[];
  /** The name of a write key; `undefined` when it does not exist any more. */
  keyName(id: string): string | undefined;
}

/** Events of a UTC day, and the bytes of the blocks that begin on it. */
interface StoredDay {
  day: string;
  events: number;
  bytes: number;
}

/** The resource `health`: what came in since the start, queues, disk and sealing. GET only. */
export function healthResource(sources: HealthSources): [string, AdminResource] {
  const days = remembered(daysOf);
  const list = async () => resultReply(JSON.stringify(healthOf(sources, days)));
  return ['health', { list }];
}

function healthOf(sources: HealthSources, days: typeof daysOf) {
  const { version, startedMs, intake, queries, keyName } = sources;
  const { slotBytes, slotBytesFree, tasksPending } = intake.gauges();
  const { running, waiting, memoryBytes } = queries.gauges();
  const store = sources.store();
  return {
    ...{ version, started: new Date(startedMs).toISOString() },
    input: intake.counts.ofKeys().map(({ channel, key, events, bytes }) => ({
      ...{ channel, key: keyName(key) ?? key, events, bytes },
    })),
    queues: {
      ...{ input_bytes: slotBytes - slotBytesFree, input_bytes_max: slotBytes },
      ...{ tasks_pending: tasksPending, queries_running: running, queries_waiting: waiting },
      query_memory_bytes: memoryBytes,
    },
    disk: {
      ...{ events: store.rows, bytes: store.fileBytes, free_bytes: store.freeDiskBytes },
      ...{ reserve_bytes: store.reserveBytes, ...sources.refusals() },
      days: days(sources.blocks()),
    },
    sealing: {
      ...{ backlog_events: store.sealingBacklogRows, last_ms: Math.round(store.lastSealMs) },
      ...{ failures: store.sealFailures, waiting: store.sealWaiting, held: store.sealHeld },
      damaged_segments: store.damagedSegments,
    },
  };
}

/** The newest days of blocks, the oldest first. */
function daysOf(blocks: readonly StoredBlock[]): readonly StoredDay[] {
  const sums = new Map<number, { events: number; bytes: number }>();
  for (const { minTimeMs, rowCount, bytes } of blocks) {
    if (rowCount === 0) continue;
    const day = Math.floor(minTimeMs / DAY_MS);
    const sum = sums.get(day);
    if (sum === undefined) sums.set(day, { events: rowCount, bytes });
    else {
      sum.events += rowCount;
      sum.bytes += bytes;
    }
  }
  return [...sums]
    .sort(([left], [right]) => left - right)
    .slice(-DAYS_MAX)
    .map(([day, sum]) => ({ day: new Date(day * DAY_MS).toISOString().slice(0, 10), ...sum }));
}

/** A function of an object that computes its value once as long as it is the same. */
function remembered<From extends object, To>(compute: (from: From) => To): (from: From) => To {
  let last: { from: From; to: To } | undefined;
  return (from) => {
    if (last?.from !== from) last = { from, to: compute(from) };
    return last.to;
  };
}
