import { EngineError } from '../../engine/base/errors.ts';
import { openDisk } from '../../engine/base/file.ts';
import { buffersIn } from '../../engine/base/moved.ts';
import { openPort, type ThreadTask } from '../../engine/base/pool.ts';
import { LoopWatch } from '../../engine/base/thread/loop-watch.ts';
import {
  type AggregateResult,
  openLiveBlocks,
  openReader,
  type Sharing,
  type Snapshot,
  type UnitReader,
} from '../../engine/engine.ts';
import { completionText, nameSuggestions, valueSuggestions } from '../language/complete.ts';
import { writeAnswer } from './answer/answer.ts';
import { AnswerWriter } from './answer/answer-writer.ts';
import { diskText } from './answer/disk-answer.ts';
import { packed } from './gzip.ts';
import { aggregateFacts, listFacts } from './hint/facts.ts';
import type { JobAnswer, QueryJob, TailAnswer, TailJob } from './job.ts';
import { Offers } from './offers.ts';
import type { FromQuery, QueryData, ToQuery } from './protocol.ts';
import { type QueryUnits, Scheduler } from './scheduler.ts';
import { writeTail } from './tail/tail-answer.ts';
import { TailTokens } from './tail/tail-token.ts';

type Message<T extends ToQuery['type']> = Extract<ToQuery, { type: T }>;

/** The task of a query thread; see `openPool`. Resolves when it was told to close. */
export async function start({ data, port: end, loop }: ThreadTask<QueryData>): Promise<void> {
  new LoopWatch(loop).begin();
  const port = openPort<FromQuery, ToQuery>(end);
  const reader = openReader(openDisk(data.root), data.secret, {
    queryBytesMax: data.memoryMb * 2 ** 20,
    selectedBytesMax: data.cacheMb * 2 ** 20,
    filesMax: data.files,
  });
  const tokens = new TailTokens(data.secret);
  const behind = new Int32Array(data.behind);
  const scheduler = new Scheduler({ isBehind: () => Atomics.load(behind, 0) === 1 });
  const over = Promise.withResolvers<void>();
  const live = openLiveBlocks();
  const offers = new Offers(data.workers - 1, (query, share, scan) =>
    port.post({ type: 'share', query, share, scan }),
  );
  const run = async (message: Message<'run'>, at: Snapshot): Promise<void> => {
    const { query, key, allowance, job } = message;
    try {
      const units: QueryUnits<JobAnswer | TailAnswer> =
        job.type === 'tail'
          ? tailUnits(reader, job, tokens)
          : replyUnits(reader, at, job, data.workers > 1 ? offers.of(query) : undefined);
      const answer = await scheduler.run(query, key, units, {
        progressed: ({ unitsDone, unitsTotal }) =>
          port.post({ type: 'progress', query, unitsDone, unitsTotal }),
        allowance,
        // What a tail finds is bounded.
        ...(job.type === 'tail'
          ? {}
          : { needs: (allowance) => port.post({ type: 'needs', query, allowance }) }),
      });
      const moved = Array.isArray(answer) ? answer.map(({ buffer }) => buffer) : [];
      port.post({ type: 'answer', query, answer }, moved);
    } catch (error) {
      port.post(failure(query, error, data.memoryMb));
    }
  };
  const join = async ({ query, key, allowance, scan, joining }: Message<'join'>): Promise<void> => {
    try {
      const part = await scheduler.run(query, key, reader.join(scan, joining), { allowance });
      port.post({ type: 'joined', query, part }, buffersIn(part));
    } catch (error) {
      port.post(failure(query, error, data.memoryMb));
    }
  };
  port.listen((message) => {
    if (message.type === 'run') {
      if (message.changes !== undefined) live.apply(message.changes);
      void run(message, live.snapshot());
    } else if (message.type === 'join') {
      void join(message);
    } else if (message.type === 'part') {
      offers.add(message.share, message.part);
      scheduler.wake(message.query);
    } else if (message.type === 'allow') {
      scheduler.allow(message.query, message.allowance);
    } else if (message.type === 'cancel') {
      scheduler.cancel(message.query);
    } else if (message.type === 'forget') {
      reader.forget(message.segments);
    } else {
      over.resolve();
    }
  });
  port.post({ type: 'ready' });
  await over.promise;
  port.close();
  reader.close();
}

/** The units of a job, and those that compress its answer when that is wanted. */
function replyUnits(
  reader: UnitReader,
  snapshot: Snapshot,
  job: QueryJob,
  sharing: Sharing | undefined,
): QueryUnits<JobAnswer> {
  const units = answerUnits(reader, snapshot, job, sharing);
  return job.gzip === true && job.type !== 'export' ? packed(units) : units;
}

/** The units of a job; the last ones write the answer. With `sharing` other threads may join. Throws EngineError. */
export function* answerUnits(
  reader: UnitReader,
  snapshot: Snapshot,
  job: QueryJob,
  sharing?: Sharing,
): QueryUnits<JobAnswer> {
  if (job.type === 'list') {
    const found = yield* reader.list(snapshot, job.query, sharing);
    const { hints } = job;
    const facts = hints && (yield* listFacts(reader, snapshot, hints, found));
    return yield* writeAnswer(job, found, facts);
  }
  if (job.type === 'fetch') {
    return yield* writeAnswer(job, yield* reader.fetch(snapshot, job.query));
  }
  if (job.type === 'export') {
    return yield* writeAnswer(job, yield* reader.page(snapshot, job.query));
  }
  if (job.type === 'context') {
    return yield* writeAnswer(job, yield* reader.context(snapshot, job.query));
  }
  if (job.type === 'attributes') {
    return yield* writeAnswer(job, yield* reader.attributes(snapshot, job.query));
  }
  if (job.type === 'facets') {
    return yield* writeAnswer(job, yield* reader.facets(snapshot, job.query));
  }
  if (job.type === 'store') {
    const { query } = job;
    if (query.about === 'disk') return piecesOf(diskText(yield* reader.diskBytes(snapshot)));
    return piecesOf(JSON.stringify(yield* reader.rowCounts(snapshot, query)));
  }
  if (job.type === 'complete') return yield* completeUnits(reader, snapshot, job);
  const found = yield* reader.aggregate(snapshot, job.query, sharing);
  const { hints } = job;
  const facts = hints && (yield* aggregateFacts(reader, snapshot, hints, found));
  return yield* writeAnswer(job, found, facts);
}

/** The units of a completion. */
function* completeUnits(
  reader: UnitReader,
  snapshot: Snapshot,
  { typing, from }: Extract<QueryJob, { type: 'complete' }>,
): QueryUnits<JobAnswer> {
  if (from.type === 'names') {
    const { attributes } = yield* reader.attributes(snapshot, from.query);
    const suggestions = yield* nameSuggestions(typing, from.declared, attributes);
    return piecesOf(completionText(typing, suggestions));
  }
  const results: AggregateResult[] = [];
  for (const query of from.queries) results.push(yield* reader.aggregate(snapshot, query));
  return piecesOf(completionText(typing, valueSuggestions(typing, results)));
}

function piecesOf(text: string): JobAnswer {
  const writer = new AnswerWriter();
  writer.add(text);
  return writer.finish();
}

/** The units of a tail's job. */
function* tailUnits(reader: UnitReader, job: TailJob, tokens: TailTokens): QueryUnits<TailAnswer> {
  return yield* writeTail(job, yield* reader.tail(job, job.query), tokens);
}

function failure(query: number, error: unknown, memoryMb: number): FromQuery {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof EngineError)) return { type: 'failed', query, message };
  const { code } = error;
  const bound = `the query takes more memory than query_memory_mb allows: ${memoryMb}; `;
  return { type: 'failed', query, code, message: code === 'MEMORY' ? bound + message : message };
}
