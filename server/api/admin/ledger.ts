import { must } from '../../../engine/base/assert.ts';
import type { RowCountsResult } from '../../../engine/engine.ts';
import type { ChannelCount, IngestCounts } from '../../ingest/counts.ts';
import type { StoreQuery } from '../../query/job.ts';
import { type Ledger, OTHER_KEYS } from '../../registry/ledger.ts';
import { resultReply } from '../reply.ts';
import type { AdminResource } from '../routes/route.ts';

const decoder = new TextDecoder();

/** Sources of the ledger. */
export interface LedgerSources {
  startedMs: number;
  nowMs(): number;
  ledger: Pick<Ledger, 'minutes' | 'end' | 'events'>;
  counts: Pick<IngestCounts, 'events' | 'refused' | 'dropped'>;
  /** Events that retention dropped since the start. */
  droppedEvents(): number;
  /** Datagrams that were dropped since the start. */
  droppedDatagrams(): number;
  /** The answer to a question about the store, of this moment. */
  ask(query: StoreQuery, asker: string): Promise<readonly Uint8Array[]>;
  /** The name of a write key; `undefined` when it does not exist any more. */
  keyName(id: string): string | undefined;
}

/** The resource `ledger`: events that became durable by minute and key, beside those that are stored now. GET only. */
export function ledgerResource(sources: LedgerSources): [string, AdminResource] {
  const { ledger, counts, keyName } = sources;
  const list: AdminResource['list'] = async ({ asker }) => {
    // Copies, of one moment: groups go on to come while the rows are counted.
    const minutes = ledger.minutes().map((minute) => ({ ...minute, keys: [...minute.keys] }));
    const cuts = [...minutes.map(({ first }) => first), ledger.end];
    const totals = { answered: counts.events, durable: ledger.events };
    const countedMs = sources.nowMs();
    const stored = minutes.length === 0 ? NONE : await countRows(sources, cuts, asker.who);
    const { blocksDamaged } = stored.stats;
    return resultReply(
      JSON.stringify({
        ...{ since: iso(sources.startedMs), counted: iso(countedMs), ...totals },
        minutes: minutes.map(({ startMs, events, keys }, at) => ({
          ...{ minute: iso(startMs), events, stored: must(stored.counts[at], 'count') },
          keys: keys.map(([id, count]) => ({
            key: id === OTHER_KEYS ? null : (keyName(id) ?? id),
            events: count,
          })),
        })),
        retention_dropped: sources.droppedEvents(),
        refused: refusedOf(sources),
        ...(blocksDamaged > 0 ? { damaged: { blocks: blocksDamaged } } : {}),
      }),
    );
  };
  return ['ledger', { list }];
}

const NONE = { counts: [], stats: { blocksDamaged: 0 } };

async function countRows(
  { ask }: LedgerSources,
  cuts: readonly number[],
  asker: string,
): Promise<Pick<RowCountsResult, 'counts'> & { stats: { blocksDamaged: number } }> {
  const pieces = await ask({ about: 'rows', cuts }, asker);
  return JSON.parse(decoder.decode(Buffer.concat(pieces))) as RowCountsResult;
}

/** Counts of what was not taken in since the start, by channel and reason: requests, lines, and datagrams. */
function refusedOf({ counts, droppedDatagrams }: LedgerSources): ChannelCount[] {
  const datagrams = droppedDatagrams();
  return [
    ...counts.refused(),
    ...counts.dropped().map(([channel, count]) => ({ channel, reason: 'line_dropped', count })),
    ...(datagrams > 0
      ? [{ channel: 'udp' as const, reason: 'datagram_dropped', count: datagrams }]
      : []),
  ];
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
