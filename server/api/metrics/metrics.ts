import type { Distribution } from '../../../engine/base/histogram.ts';
import type { DecodeCounters } from '../../decode/counters.ts';
import type { Intake } from '../../ingest/intake.ts';
import type { Channel } from '../../ingest/protocol.ts';
import { COMMIT_SECONDS } from '../../ingest/stats.ts';
import type { QueryPool } from '../../query/query-pool.ts';
import type { FailureRoute } from '../access/failures.ts';
import type { Reply } from '../reply.ts';
import type { AnswerCounts } from './answer-counts.ts';
import { EXPOSITION_TYPE, Exposition, type Labels, one } from './exposition.ts';
import { type ProcessSources, writeProcess } from './process.ts';
import { type KeyQuota, writeQuotas } from './quotas.ts';

/** Counts of a listener, without those that its kind lacks. */
export interface ListenerCounts {
  channel: Channel;
  connections?: number;
  connectionsOpen?: number;
  connectionsRefused?: number;
  connectionsLost?: number;
  datagrams?: number;
  datagramsDropped?: number;
}

/** Gauges of the store, and of its compaction's waiting and finished work. */
export interface StoreGauges {
  reserveBytes: number;
  segments: number;
  damagedSegments: number;
  missingSegments: number;
  blocks: number;
  rows: number;
  /** Bytes of the files of segments, as far as they count. */
  fileBytes: number;
  sealingBacklogRows: number;
  storeSealedRows: number;
  sealedRows: number;
  sealsRunning: number;
  lastSealMs: number;
  sealFailures: number;
  sealMismatches: number;
  sealSplits: number;
  sealWaiting: number;
  sealHeld: number;
  /** Rows that retention dropped since the start. */
  droppedRows: number;
  freeDiskBytes: number;
  /** A large drop by age that waits. */
  waitingDrop: { bytes: number; leftMs: number } | undefined;
  /** Files in the folder `lost` at the start. */
  lostFiles: number;
}

/** Sources of the numbers, each read when somebody asks. */
export interface MetricSources extends ProcessSources {
  /** Requests whose caller could not be authenticated. */
  authFailures: Readonly<Record<FailureRoute, number>>;
  /** The name of the write key with that id; `undefined` when it does not exist any more. */
  keyName(id: string): string | undefined;
  /** Write keys with what they have brought today, as quotas count it. */
  quotas(): readonly KeyQuota[];
  intake: Pick<Intake, 'counts' | 'gauges' | 'stats'>;
  queries: Pick<QueryPool, 'counts' | 'gauges'>;
  tails: { readonly count: number };
  listeners(): readonly ListenerCounts[];
  answers: Pick<AnswerCounts, 'list'>;
  /** Bytes of lines without an end that connections of TCP and TLS hold. */
  heldBytes(): number;
  store(): StoreGauges;
  /** Changes that the disk refused, by what they were. */
  diskErrors(): readonly [string, number][];
}

const REPAIRS: Readonly<Record<keyof DecodeCounters, string>> = {
  linesCut: 'line_cut',
  subtreesTooDeep: 'subtree_too_deep',
  eventsTooWide: 'event_too_wide',
  namesRefused: 'name_refused',
  namesOverBudget: 'name_over_budget',
  datesUnread: 'date_unread',
  textsRepaired: 'text_repaired',
  extensionsFailed: 'extension_failed',
  patternsOverBudget: 'pattern_over_budget',
};

/** The answer of `/metrics`. */
export function metricsReply(sources: MetricSources): Reply {
  const text = new Exposition();
  writeIngest(text, sources);
  writeQuotas(text, sources.quotas());
  writeListeners(text, sources);
  writeQueries(text, sources);
  writeStore(text, sources);
  writeProcess(text, sources);
  return { status: 200, body: text.text(), contentType: EXPOSITION_TYPE };
}

function writeIngest(text: Exposition, { intake, keyName, authFailures }: MetricSources): void {
  const { counts } = intake;
  const ofKeys = counts.ofKeys().map(({ channel, key, ...sums }) => {
    const labels: Labels = { channel, key: keyName(key) ?? key, key_id: key };
    return { labels, ...sums };
  });
  text.counter(
    'logseam_events_total',
    'Events that are durable.',
    ofKeys.map(({ labels, events }) => [labels, events]),
  );
  text.counter(
    'logseam_event_bytes_total',
    'Bytes of the content of durable events, as quotas count them.',
    ofKeys.map(({ labels, bytes }) => [labels, bytes]),
  );
  text.counter(
    'logseam_requests_total',
    'Requests, or on raw channels batches of lines, that brought durable events of a key.',
    ofKeys.map(({ labels, requests }) => [labels, requests]),
  );
  text.counter(
    'logseam_refusals_total',
    'Requests, or on raw channels batches of lines, of which nothing was stored.',
    counts.refused().map(({ channel, reason, count }) => [{ channel, reason }, count]),
  );
  text.counter(
    'logseam_authentication_failures_total',
    'Requests whose key or token is missing or wrong.',
    Object.entries(authFailures).map(([route, count]) => [{ route }, count]),
  );
  text.counter(
    'logseam_lines_dropped_total',
    'Lines without a valid write key, or whose key is off or spent.',
    counts.dropped().map(([channel, count]) => [{ channel }, count]),
  );
  writeWorkers(text, intake);
}

function writeWorkers(text: Exposition, intake: MetricSources['intake']): void {
  const { decode, rowsReference, rowsKernel, kernelFaults, commitCounts, commitSeconds } =
    intake.stats();
  const { slotBytes, slotBytesFree, tasksPending } = intake.gauges();
  text.counter('logseam_rows_decoded_total', 'Rows by the way in which they were decoded.', [
    [{ path: 'reference' }, rowsReference],
    [{ path: 'kernel' }, rowsKernel],
  ]);
  text.counter(
    'logseam_kernel_faults_total',
    'Lines that a kernel read otherwise than the reference, and its traps; the reference read them again.',
    one(kernelFaults),
  );
  text.counter(
    'logseam_decode_repairs_total',
    'What the limits and repairs of decoding did.',
    (Object.keys(REPAIRS) as (keyof DecodeCounters)[]).map((name) => [
      { repair: REPAIRS[name] },
      decode[name],
    ]),
  );
  const commits: Distribution = {
    bounds: COMMIT_SECONDS,
    counts: commitCounts,
    sum: commitSeconds,
  };
  text.histogram(
    'logseam_commit_seconds',
    'Time of a request over HTTP from its being decoded to its being durable.',
    [[{}, commits]],
  );
  text.gauge('logseam_ingest_slot_bytes', 'Memory for received bytes.', one(slotBytes));
  text.gauge('logseam_ingest_slot_bytes_free', 'What of it nobody holds.', one(slotBytesFree));
  text.gauge('logseam_ingest_tasks_pending', 'Tasks that are not durable.', one(tasksPending));
}

function writeListeners(text: Exposition, sources: MetricSources): void {
  const all = sources.listeners();
  const of = (name: Exclude<keyof ListenerCounts, 'channel'>): [Labels, number][] =>
    all.flatMap(({ channel, [name]: value }) =>
      value === undefined ? [] : [[{ channel }, value]],
    );
  text.counter('logseam_connections_total', 'Connections taken.', of('connections'));
  text.gauge('logseam_connections_open', 'Connections that are open.', of('connectionsOpen'));
  text.counter(
    'logseam_connections_refused_total',
    'Connections that the service ended for want of room or of a valid key.',
    of('connectionsRefused'),
  );
  text.counter(
    'logseam_connections_lost_total',
    'Connections that ended as their worker died.',
    of('connectionsLost'),
  );
  text.counter(
    'logseam_http_answers_total',
    'Answers over HTTP, but those of the HTTP library.',
    sources.answers
      .list()
      .map(({ channel, status, count }) => [{ channel, status: String(status) }, count]),
  );
  text.gauge(
    'logseam_held_bytes',
    'Bytes of lines without an end that connections of TCP and TLS hold.',
    one(sources.heldBytes()),
  );
  text.counter('logseam_datagrams_total', 'Datagrams taken.', of('datagrams'));
  text.counter(
    'logseam_datagrams_dropped_total',
    'Datagrams that the kernel or the service had no room for.',
    of('datagramsDropped'),
  );
}

function writeQueries(text: Exposition, { queries, tails }: MetricSources): void {
  const { seconds, refused, cancelled, joined } = queries.counts;
  const { running, waiting, memoryBytes } = queries.gauges();
  text.histogram(
    'logseam_query_seconds',
    'Time of the queries that were answered, waiting included.',
    Object.entries(seconds).map(([kind, distribution]) => [{ kind }, distribution]),
  );
  text.counter(
    'logseam_queries_refused_total',
    'Queries that were not run, or not to their end.',
    Object.entries(refused).map(([reason, count]) => [{ reason }, count]),
  );
  text.counter('logseam_queries_cancelled_total', 'Queries whose client left.', one(cancelled));
  text.counter(
    'logseam_query_parts_joined_total',
    'Parts of queries that another worker did than the one which answered.',
    one(joined),
  );
  text.gauge('logseam_queries_running', 'Queries that are worked on.', one(running));
  text.gauge('logseam_queries_waiting', 'Queries that wait for their turn.', one(waiting));
  text.gauge(
    'logseam_query_memory_bytes',
    'What counts for queries and for answers that clients have not taken.',
    one(memoryBytes),
  );
  text.gauge('logseam_tails_open', 'Live tails.', one(tails.count));
}

function writeStore(text: Exposition, sources: MetricSources): void {
  const store = sources.store();
  text.gauge('logseam_store_segments', 'Segments.', one(store.segments));
  text.gauge(
    'logseam_damaged_segments',
    'Segments of which events are lost: answers that may need them are partial.',
    one(store.damagedSegments),
  );
  text.gauge(
    'logseam_missing_segments',
    'Of them those whose files are missing or cut.',
    one(store.missingSegments),
  );
  text.gauge('logseam_store_blocks', 'Blocks.', one(store.blocks));
  text.gauge('logseam_store_rows', 'Events.', one(store.rows));
  text.gauge('logseam_store_sealed_rows', 'Events of sealed segments.', one(store.storeSealedRows));
  text.gauge('logseam_store_bytes', 'Bytes of the files of segments.', one(store.fileBytes));
  text.gauge(
    'logseam_sealing_backlog_rows',
    'Events of closed log segments, which wait to be sealed.',
    one(store.sealingBacklogRows),
  );
  text.counter(
    'logseam_sealed_rows_total',
    'Events that were written to sealed segments, those that were merged again included.',
    one(store.sealedRows),
  );
  text.gauge('logseam_seals_running', 'Sealings and merges that run.', one(store.sealsRunning));
  text.gauge(
    'logseam_last_seal_seconds',
    'Time that the last sealing or merge took; 0 before the first.',
    one(store.lastSealMs / 1_000),
  );
  text.counter(
    'logseam_seal_failures_total',
    'Sealings and merges that failed, and are tried again in smaller pieces.',
    [
      [{ reason: 'mismatch' }, store.sealMismatches],
      [{ reason: 'other' }, store.sealFailures - store.sealMismatches],
    ],
  );
  text.counter(
    'logseam_seal_splits_total',
    'Sealings and merges of segments too wide to be open together, which were done in parts.',
    one(store.sealSplits),
  );
  text.gauge(
    'logseam_segments_unsealed',
    'Segments that wait after a failed sealing, and damaged ones that stay as they are.',
    [
      [{ reason: 'waiting' }, store.sealWaiting],
      [{ reason: 'damaged' }, store.sealHeld],
    ],
  );
  text.gauge(
    'logseam_lost_files',
    'Files in the folder lost at the start, which are not served.',
    one(store.lostFiles),
  );
  text.counter(
    'logseam_disk_errors_total',
    'Changes that the disk refused.',
    sources.diskErrors().map(([op, count]) => [{ op }, count]),
  );
  text.gauge('logseam_disk_free_bytes', 'Free disk.', one(store.freeDiskBytes));
  text.gauge(
    'logseam_retention_waiting_bytes',
    'Bytes of segments that have become too old all at once, which wait to be dropped.',
    one(store.waitingDrop?.bytes ?? 0),
  );
  text.gauge(
    'logseam_retention_wait_seconds',
    'Running time until they are dropped; 0 when none waits.',
    one((store.waitingDrop?.leftMs ?? 0) / 1_000),
  );
}
