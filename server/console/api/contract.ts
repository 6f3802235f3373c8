import type { Static } from 'typebox';
import type {
  aggregateReply,
  attributesReply,
  completeReply,
  contextReply,
  discoverReply,
  diskReply,
  executeReply,
  extensionTestReply,
  facetsReply,
  fetchReply,
  ledgerReply,
  listedEvent,
  listReply,
  queriesReply,
  retentionReply,
  retentionTestReply,
  serviceHealthReply,
  sessionReply,
  shownDefinitions,
  shownExtension,
  shownReadKey,
  shownUser,
  shownView,
  shownWriteKey,
  troublesReply,
} from '../../api/openapi/reply-schema.ts';
import type { BODY_SCHEMAS } from '../../api/schema.ts';

/** Types of requests and answers, from the schemas of `/openapi.json`. Nothing of them is in the bundle. */

type Result<T> = T extends { result: infer R } ? R : never;

/** The `time` of a request. */
export type Time = ListBody['time'];
/** Body of `POST /beta/events/list`. */
export type ListBody = Static<typeof BODY_SCHEMAS.list>;
/** An event of an answer. */
export type ListedEvent = Static<typeof listedEvent>;
/** Page of a list. */
export type ListResult = Result<Static<typeof listReply>>;
/** One event. */
export type FetchResult = Result<Static<typeof fetchReply>>;
/** An event and those around it. */
export type ContextResult = Result<Static<typeof contextReply>>;
/** Buckets of an aggregation. */
export type AggregateResult = Result<Static<typeof aggregateReply>>;
/** Body of `POST /beta/events/aggregate`. */
export type AggregateBody = Static<typeof BODY_SCHEMAS.aggregate>;
/** Answer of the execution of a saved analysis. */
export type ExecuteResult = Result<Static<typeof executeReply>>;
/** A question that is saved under an id. */
export type SavedAnalysis = { id: string; name: string } & (
  | ({ kind: 'list' } & Pick<ListBody, 'time' | 'filters' | 'columns'>)
  | ({ kind: 'timeseries' | 'toplist' | 'table' } & Pick<
      AggregateBody,
      'time' | 'filters' | 'compute' | 'groupBy'
    >)
);
/** Fields, tagsets and metrics that are defined. */
export type DefinedResult = Result<Static<typeof discoverReply>>;
/** Most frequent values of attributes. */
export type FacetsResult = Result<Static<typeof facetsReply>>;
/** Attributes of a time. */
export type AttributesResult = Result<Static<typeof attributesReply>>;
/** Suggestions for a search that is being typed. */
export type CompleteResult = Result<Static<typeof completeReply>>;
/** A hint why nothing was found. */
export type Hint = NonNullable<ListResult['hints']>[number];
/** Who has logged in. */
export type Session = Result<Static<typeof sessionReply>>;
/** A write key of the administration. */
export type WriteKey = Static<typeof shownWriteKey>;
/** A read key of the administration. */
export type ReadKey = Static<typeof shownReadKey>;
/** A view that a user keeps. */
export type View = Static<typeof shownView>;
/** A user of the administration. */
export type User = Static<typeof shownUser>;
/** Definitions of the administration by their resource. */
export type Definitions = {
  readonly [K in keyof typeof shownDefinitions]: Static<(typeof shownDefinitions)[K]>;
};
/** A parsing extension of the administration. */
export type Extension = Static<typeof shownExtension>;
/** Outcome of a test of extensions. */
export type ExtensionTestResult = Result<Static<typeof extensionTestReply>>;
/** How long events are kept. */
export type Retention = Result<Static<typeof retentionReply>>;
/** Events that a retention would drop. */
export type RetentionTest = Result<Static<typeof retentionTestReply>>;
/** State of the service. */
export type ServiceHealth = Result<Static<typeof serviceHealthReply>>;
/** Ledger of what became durable by minute and key, and of what is stored. */
export type LedgerResult = Result<Static<typeof ledgerReply>>;
/** Bytes that each attribute takes on the disk. */
export type DiskResult = Result<Static<typeof diskReply>>;
/** Queries that are not answered. */
export type QueriesResult = Result<Static<typeof queriesReply>>;
/** Faulty input by its kind. */
export type TroublesResult = Result<Static<typeof troublesReply>>;
