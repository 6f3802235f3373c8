/** Stages that an event goes through. */
export const INGEST_STAGES = [
  'receive',
  'decode',
  'extend',
  'intern',
  'encode',
  'write',
  'seal',
] as const;
/** Stages of a query; `receive` is the request, its way to a worker, and that of the answer to the client. */
export const QUERY_STAGES = [
  'receive',
  'open',
  'decode',
  'predicate',
  'group',
  'merge',
  'print',
] as const;

/** A step of the work; `other` is what belongs to none: the start of the process, registry, metrics. */
export type Stage = (typeof INGEST_STAGES)[number] | (typeof QUERY_STAGES)[number] | 'other';

/** Work of the threads that are looked at. Sealing is a stage whatever it runs. */
export type Work = 'ingest' | 'query' | 'seal';

/** Below functions of every stage: time counts for whoever called. */
const CALLER = 'caller';

/** Files and folders; the longest name that a path begins with decides. */
const STAGES: readonly [path: string, ingest: Stage | 'caller', query: Stage | 'caller'][] = [
  ['server/', 'other', 'other'],
  ['server/service/', 'other', 'other'],
  ['server/console/', 'other', 'other'],
  ['server/listen/', 'receive', 'receive'],
  ['server/api/', 'receive', 'receive'],
  ['server/ingest/', 'receive', 'receive'],
  ['server/ingest/name-budget.ts', 'intern', 'other'],
  ['server/ingest/name-counts.ts', 'intern', 'other'],
  ['server/ingest/acknowledge.ts', 'write', 'other'],
  ['server/ingest/commit-order.ts', 'write', 'other'],
  ['server/ingest/recorder.ts', 'write', 'other'],
  ['server/decode/', 'decode', 'other'],
  ['server/date/', 'decode', 'other'],
  ['server/extend/', 'extend', 'other'],
  ['server/registry/', 'receive', 'receive'],
  ['server/merge/', 'seal', 'seal'],
  ['server/language/', 'other', 'receive'],
  ['server/query/', 'other', 'receive'],
  ['server/query/answer/', 'other', 'print'],
  ['server/language/bucket.ts', 'other', 'print'],
  ['server/query/hint/', 'other', 'print'],
  ['server/query/tail/tail-answer.ts', 'other', 'print'],
  ['engine/', 'other', 'other'],
  ['engine/base/', CALLER, CALLER],
  ['engine/base/thread/restart.ts', 'other', 'other'],
  ['engine/backup/', 'other', 'other'],
  ['engine/kernel/', 'decode', 'other'],
  ['engine/packed/', 'encode', 'decode'],
  ['engine/column/', 'encode', 'decode'],
  ['engine/column/append/', 'intern', 'other'],
  ['engine/column/path.ts', 'intern', 'open'],
  ['engine/column/shape.ts', 'intern', 'open'],
  ['engine/column/dictionary.ts', 'intern', 'decode'],
  ['engine/column/rows.ts', 'decode', 'decode'],
  ['engine/packed/compress.ts', 'encode', 'decode'],
  ['engine/derive/', 'seal', 'decode'],
  ['engine/word/', 'seal', 'predicate'],
  ['engine/segment/', 'encode', 'open'],
  ['engine/segment/block/rebuild.ts', 'encode', 'print'],
  ['engine/segment/block/event-texts.ts', 'decode', 'print'],
  ['engine/segment/seal/column-values.ts', 'encode', 'decode'],
  ['engine/segment/seal/string-values.ts', 'encode', 'decode'],
  ['engine/store/', 'write', 'open'],
  ['engine/store/rewrite.ts', 'seal', 'other'],
  ['engine/store/compaction.ts', 'seal', 'other'],
  ['engine/store/policy.ts', 'seal', 'other'],
  ['engine/query/', 'other', 'open'],
  ['engine/query/model/', 'other', 'open'],
  ['engine/query/model/bitmap.ts', 'other', 'predicate'],
  ['engine/query/model/predicate.ts', 'other', 'predicate'],
  ['engine/query/model/filter-cache.ts', 'other', 'predicate'],
  ['engine/query/model/event-id.ts', 'other', 'print'],
  ['engine/query/filter/', 'other', 'predicate'],
  ['engine/query/filter/decimal.ts', 'other', 'group'],
  ['engine/query/filter/json.ts', 'other', 'print'],
  ['engine/query/scan/', 'other', 'predicate'],
  ['engine/query/value/', 'other', 'group'],
  ['engine/query/value/elements.ts', 'other', 'predicate'],
  ['engine/query/metric/', 'other', 'group'],
  ['engine/query/group/', 'other', 'group'],
  ['engine/query/group/block-scan.ts', 'other', 'open'],
  ['engine/query/group/bucket-order.ts', 'other', 'merge'],
  ['engine/query/group/stages.ts', 'other', 'merge'],
  ['engine/query/events/', 'other', 'print'],
  ['engine/query/events/fetch.ts', 'other', 'open'],
  ['engine/query/events/top-k-heap.ts', 'other', 'merge'],
];

/** All paths that the table names. */
export const STAGE_PATHS: readonly string[] = STAGES.map(([path]) => path);

/**
 * The stage of a file of ours, `path` below the root of the repository; `undefined` where the caller's is meant, and
 * for files that are not ours.
 */
export function stageOf(path: string, work: Work): Stage | undefined {
  let longest: (typeof STAGES)[number] | undefined;
  for (const entry of STAGES) {
    const [prefix] = entry;
    if (path.startsWith(prefix) && prefix.length > (longest?.[0].length ?? 0)) longest = entry;
  }
  if (longest === undefined) return undefined;
  const [, ingest, query] = longest;
  if (work === 'seal') return 'seal';
  const stage = work === 'ingest' ? ingest : query;
  return stage === CALLER ? undefined : stage;
}
