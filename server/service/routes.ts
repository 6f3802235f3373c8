import { momentOf } from '../../engine/backup/moment.ts';
import { must } from '../../engine/base/assert.ts';
import type { LoopWatch } from '../../engine/base/thread/loop-watch.ts';
import { usageByDay } from '../../engine/store/catalog.ts';
import { createAdmin } from '../api/admin/admin.ts';
import { auditResource } from '../api/admin/audit.ts';
import { definitionResources } from '../api/admin/definitions.ts';
import { diskResource } from '../api/admin/disk.ts';
import { followExtensions } from '../api/admin/extension-steps.ts';
import { extensionResource } from '../api/admin/extensions.ts';
import { healthResource } from '../api/admin/health.ts';
import { keyResources } from '../api/admin/keys.ts';
import { ledgerResource } from '../api/admin/ledger.ts';
import { queryResource } from '../api/admin/queries.ts';
import { retentionResource } from '../api/admin/retention.ts';
import { snapshotResource } from '../api/admin/snapshots.ts';
import { troubleResource } from '../api/admin/troubles.ts';
import { userResource } from '../api/admin/users.ts';
import { declaredResolver } from '../api/declared.ts';
import { createRoutes, type OperationAccess } from '../api/dispatch.ts';
import type { AnswerCounts } from '../api/metrics/answer-counts.ts';
import type { StoreGauges } from '../api/metrics/metrics.ts';
import { createOperation } from '../api/metrics/operation.ts';
import { quotasOf } from '../api/metrics/quotas.ts';
import type { ApiRequest, Reply } from '../api/reply.ts';
import type { AdminResource } from '../api/routes/route.ts';
import { filterIdsOf, securityFilters } from '../api/security-filter.ts';
import { Callers } from '../api/session/callers.ts';
import { LoginThrottle } from '../api/session/login-throttle.ts';
import { version } from '../config.ts';
import type { Listeners } from '../listen/listeners.ts';
import type { StoreQuery } from '../query/job.ts';
import { RunningQueries } from '../query/running-queries.ts';
import type { BoundCells } from '../runtime.ts';
import type { OpenedData } from './open.ts';
import type { Workers } from './workers.ts';

/** The state of the running service, as its routes tell it. */
export interface ServiceState {
  stopping: boolean;
  /** Once they are open. */
  listeners: Listeners | undefined;
  /** The event loop of the front thread. */
  readonly loop: LoopWatch;
  readonly answers: AnswerCounts;
}

/** Makes the function that answers every request but those of the input routes. */
export function routesOf(
  data: OpenedData,
  workers: Workers,
  bound: BoundCells,
  state: ServiceState,
): (request: ApiRequest) => Promise<Reply> {
  const { runtime, log, opened, keys, definitions, cells, token, failures } = data;
  const { users, sessions, views, setup } = data;
  const { intake, queries, compaction, tails } = workers;
  const nowMs = Date.now;
  const resolver = declaredResolver(definitions);
  const filterOf = securityFilters(definitions, resolver, ({ name }, id) =>
    log.error('a security filter names what is not declared, whoever has it sees nothing', {
      name,
      id,
    }),
  );
  followExtensions(
    definitions,
    resolver,
    (steps) => intake.setExtensions(steps),
    (extension, error) => log.error('an extension is left out', { extension, error }),
  );
  const filterIds = (text: string): string[] => filterIdsOf(text, resolver);
  const running = new RunningQueries(queries);
  const callers = new Callers({ sessions, users, keys, filterOf });
  const admin = createAdmin({
    ...{ token, failures, callers },
    resources: new Map([
      ...keyResources({
        keys,
        cells,
        nowMs,
        usage: () => usageByDay(opened),
        senders: intake.senders,
        filterIds,
        changed: () => {
          intake.changeKeys(keys.table());
          bound.refresh();
        },
      }),
      userResource({
        ...{ users, filterIds },
        made: () => setup.end(),
        deleted: (id, asker) => views.forget(id, asker),
      }),
      ...definitionResources(definitions),
      extensionResource({
        definitions,
        filterOwners: () => [...keys.list('read'), ...users.list()],
        resolver,
        intake,
      }),
      ...operationResources(data, workers, running, state),
    ]),
  });
  return createRoutes({
    readKey: (text) => {
      const key = keys.lookup(text);
      return key?.kind === 'read' ? { id: key.id, filter: filterOf(key) } : undefined;
    },
    isWriteKey: (text) => keys.lookup(text)?.kind === 'write',
    definitions,
    resolver,
    run: (...query) => running.run(...query).finally(compaction.pin()),
    tails,
    nowMs,
    boundEvents: runtime.config.boundEvents,
    admin,
    operation: operationOf(data, workers, state, callers),
    account: {
      ...{ users, sessions, views, setup, callers, throttle: new LoginThrottle() },
      readKey: (text) => {
        const key = keys.lookup(text);
        return key?.kind === 'read' ? key : undefined;
      },
      failed: (peer) => failures.note('login', peer),
    },
    assets: data.assets,
    log: (error) => log.error('a request failed', { error }),
  });
}

/** Makes the answers about the service's operation. */
function operationOf(
  data: OpenedData,
  workers: Workers,
  state: ServiceState,
  callers: Callers,
): OperationAccess {
  const { runtime, health, keys, cells, token, failures } = data;
  const { intake, queries, compaction, tails, room, lineCells } = workers;
  return createOperation({
    metricsOpen: runtime.config.metricsOpen,
    token,
    failures,
    callers,
    facts: () => ({
      stopping: state.stopping,
      ingestWorkersUp: intake.gauges().workersUp,
      queryWorkersUp: queries.gauges().workersUp,
      ingestStalledMs: stalledMs(intake.loops),
      queryStalledMs: stalledMs(queries.loops),
      linesRefused: state.listeners?.areLinesRefused ?? false,
      bodiesRefusedMs: room.fullMs,
      diskFull: compaction.full,
      diskFailing: health.failing,
      damagedSegments: compaction.damagedCount,
    }),
    sources: {
      version: version(),
      keyName: (id) => keys.named('write', id)?.name,
      intake,
      queries,
      tails,
      loops: () => ({
        front: [state.loop],
        ingest: intake.loops,
        query: queries.loops,
        merge: compaction.loops,
      }),
      restarts: () => ({ ingest: intake.restartCount, query: queries.restartCount }),
      certificateEndMs: () => state.listeners?.certificate?.validToMs,
      descriptorsMax: workers.descriptorsMax,
      quotas: () => quotasOf(keys, cells, Date.now()),
      answers: state.answers,
      heldBytes: () => lineCells.heldBytes,
      listeners: () => state.listeners?.counts() ?? [],
      store: () => storeGauges(data, workers),
      diskErrors: () => health.counts(),
    },
  });
}

/** The resources that tell how the service does and what it does, and the one that keeps it as it is. */
function operationResources(
  data: OpenedData,
  workers: Workers,
  running: RunningQueries,
  state: ServiceState,
): [string, AdminResource][] {
  const { opened, keys, users, disk, health } = data;
  const { intake, queries, compaction } = workers;
  const startedMs = Date.now();
  const keyName = (id: string): string | undefined => keys.named('write', id)?.name;
  const ask = async (query: StoreQuery, asker: string) => {
    const answer = running
      .run({ type: 'store', query }, new AbortController().signal, { key: asker })
      .finally(compaction.pin());
    return must(await answer, 'answer about the store');
  };
  return [
    healthResource({
      ...{ version: version(), startedMs, intake, queries, keyName },
      store: () => storeGauges(data, workers),
      refusals: () => ({ full: compaction.full, failing: health.failing }),
      blocks: () => opened.catalog.snapshot().blocks,
    }),
    ledgerResource({
      ...{ startedMs, nowMs: Date.now, ledger: intake.ledger, counts: intake.counts, ask, keyName },
      droppedEvents: () => compaction.gauges().droppedRows,
      droppedDatagrams: () =>
        (state.listeners?.counts() ?? []).reduce(
          (sum, { datagramsDropped = 0 }) => sum + datagramsDropped,
          0,
        ),
    }),
    diskResource(ask),
    queryResource(running, (id) => (keys.named('read', id) ?? users.get(id))?.name),
    troubleResource(intake, keyName),
    auditResource(disk),
    retentionResource({
      ...{ disk, compaction, nowMs: Date.now },
      isSet: () => opened.manifest.policy !== undefined,
      unsealedBefore: (ms) =>
        opened.catalog
          .snapshot()
          .blocks.filter(({ sealed, minTimeMs }) => !sealed && minTimeMs < ms)
          .reduce((rows, { rowCount }) => rows + rowCount, 0),
    }),
    snapshotResource({ moment: () => momentOf(opened), pin: () => compaction.pin() }),
  ];
}

function storeGauges({ opened }: OpenedData, { compaction }: Workers): StoreGauges {
  return {
    ...compaction.gauges(),
    damagedSegments: compaction.damagedCount,
    missingSegments: compaction.missingCount,
    lostFiles: opened.report.lost.length,
  };
}

/** Time by which all present threads of a kind have been late. */
function stalledMs(loops: readonly (LoopWatch | undefined)[]): number {
  const late = loops.flatMap((loop) => loop?.stalledMs ?? []);
  return late.length === 0 ? 0 : Math.min(...late);
}
