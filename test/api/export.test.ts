import t from 'tap';
import { EngineError } from '../../engine/base/errors.ts';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import type { Reply } from '../../server/api/reply.ts';
import type { AnswerPieces } from '../../server/query/answer/answer-writer.ts';
import { exportHeader, type PageHead, readPage } from '../../server/query/answer/export-page.ts';
import type { QueryJob } from '../../server/query/job.ts';
import { QueryRefused } from '../../server/query/refusal.ts';
import { piecesOf } from '../support/answer.ts';
import { HIDDEN, messageOf, request, service, TIME } from './service.ts';

const EXPORT = '/beta/events/export';
const QUEUE_FULL = new QueryRefused(429, 'queue_full', 'too many');

type ExportQuery = Extract<QueryJob, { type: 'export' }>['query'];

/** Pages as a query worker answers them. */
function page(head: PageHead, ...texts: string[]): AnswerPieces {
  return piecesOf(JSON.stringify(head), ...texts.filter((text) => text !== ''));
}

/** A service whose queries answer with `answers`, one after the other, and the queries that it was asked. */
function exporting(...answers: (AnswerPieces | Error)[]) {
  const queries: ExportQuery[] = [];
  let filter: Predicate | undefined = { type: 'all' };
  const { answer, logged } = service({
    readKey: (key) => (key === 'reader' && filter !== undefined ? { id: 'r1', filter } : undefined),
    run: async (job) => {
      if (job.type === 'export') queries.push(job.query);
      const next = answers[queries.length - 1];
      if (next instanceof Error) throw next;
      return next;
    },
  });
  const setFilter = (next: Predicate | undefined): void => {
    filter = next;
  };
  const ask = (body: object = {}): Promise<Reply> =>
    answer(request(EXPORT, { body: { time: TIME, ...body } }));
  return { ask, queries, logged, setFilter };
}

/** Parts that a reply writes; `taken` is called for each part before the next one may come. */
async function written(reply: Reply, taken?: (part: string) => void): Promise<string> {
  let text = '';
  await reply.stream?.({
    write: async (part) => {
      if (part.length === 0) throw new Error('an empty part ends the reply');
      const partText = Buffer.from(part).toString();
      text += partText;
      taken?.(partText);
      return false;
    },
  });
  return text;
}

t.test('a page is asked for when the one before it was taken', async (t) => {
  const { ask, queries } = exporting(
    page({ count: 2, resume: 'two' }, 'a\nb\n'),
    page({ count: 0, resume: 'three' }, ''),
    page({ count: 1 }, 'c\n'),
  );
  const reply = await ask();
  t.equal(reply.status, 200);
  t.equal(queries.length, 1, 'the first page comes before the reply');
  const asked: number[] = [];
  t.equal(await written(reply, () => asked.push(queries.length)), 'a\nb\nc\n');
  t.same(asked, [1, 3]);
  t.same(
    queries.map(({ after }) => after),
    [undefined, 'two', 'three'],
  );
});

t.test('no more is asked for when the client is gone', async (t) => {
  const { ask, queries, logged } = exporting(page({ count: 1, resume: 'x' }, 'a\n'));
  const reply = await ask();
  const gone = new EngineError('CANCELLED', 'the client is gone');
  await t.rejects(
    written(reply, () => {
      throw gone;
    }),
    gone,
  );
  t.equal(queries.length, 1);
  t.same(logged, []);
});

t.test('a limit is counted over all pages', async (t) => {
  const { ask, queries } = exporting(
    page({ count: 2_000, resume: 'a' }, 'x\n'),
    page({ count: 100, resume: 'b' }, 'y\n'),
    page({ count: 900, resume: 'c' }, 'z\n'),
  );
  t.equal(await written(await ask({ limit: 3_000 })), 'x\ny\nz\n');
  t.same(
    queries.map(({ limit }) => limit),
    [2_000, 1_000, 900],
  );
});

t.test('a page that fails breaks the reply, and the log tells why', async (t) => {
  const broken = exporting(page({ count: 1, resume: 'x' }, 'a\n'), new Error('a bug'));
  await t.rejects(written(await broken.ask()), { message: 'a bug' });
  t.match(broken.logged, [{ message: 'a bug' }]);
  const late = new QueryRefused(503, 'deadline', 'late');
  const slow = exporting(page({ count: 1, resume: 'x' }, 'a\n'), late);
  await t.rejects(written(await slow.ask()), late);
  t.same(slow.logged, [late]);
});

t.test('a page that is refused for a moment is asked for again, the first is not', async (t) => {
  const { ask, queries } = exporting(
    page({ count: 1, resume: 'x' }, 'a\n'),
    QUEUE_FULL,
    page({ count: 1 }, 'b\n'),
  );
  t.equal(await written(await ask()), 'a\nb\n');
  t.equal(queries.length, 3);
  const refused = await exporting(QUEUE_FULL).ask();
  t.equal(refused.status, 429);
  t.equal(refused.headers?.['retry-after'], '1');
});

t.test('each page shows what the key may see then', async (t) => {
  const { ask, queries, setFilter } = exporting(
    page({ count: 1, resume: 'x' }, 'a\n'),
    page({ count: 1, resume: 'y' }, 'b\n'),
  );
  const reply = await ask();
  setFilter(HIDDEN);
  await t.rejects(
    written(reply, (part) => {
      if (part === 'b\n') setFilter(undefined);
    }),
    { message: /the read key is unknown/ },
  );
  t.same(
    queries.map(({ predicate }) => predicate),
    [{ type: 'all' }, HIDDEN],
  );
});

t.test('the last line of NDJSON tells what is missing, a damaged block once', async (t) => {
  const { ask } = exporting(
    page({ count: 1, resume: 'x', damaged: ['1/2'] }, 'a\n'),
    page({ count: 1, damaged: ['1/2', '3/4'] }, 'b\n'),
  );
  t.equal(await written(await ask()), 'a\nb\n{"damaged":{"blocks":2}}\n');
});

t.test('the bound of the first page holds for all, and is told', async (t) => {
  const bound = { limit: 5, from: '2024-05-01T00:00:00.000Z', oldestId: 'oldest' };
  const pages = [page({ count: 1, resume: 'x', bound }, 'a\n'), page({ count: 1 }, 'b\n')];
  const { ask, queries } = exporting(...pages);
  const time = { from: 'now-2d', to: 'now' };
  const reply = await ask({ time });
  const told = '{"limit":5,"reached":true,"from":"2024-05-01T00:00:00.000Z"}';
  t.equal(reply.headers?.['x-logseam-bound'], told);
  t.equal(await written(reply), `a\nb\n{"bound":${told}}\n`);
  t.same(
    queries.map(({ boundCount, oldestId }) => [boundCount, oldestId]),
    [
      [50_000_000, undefined],
      [undefined, 'oldest'],
    ],
  );
  const csv = await exporting(...pages).ask({ time, format: 'csv' });
  t.equal(csv.headers?.['x-logseam-bound'], told);
  t.equal(await written(csv), 'id,date,message\r\na\nb\n');
  const short = exporting(page({ count: 1, resume: 'x' }, 'a\n'), page({ count: 1 }, 'b\n'));
  await written(await short.ask());
  t.ok(short.queries.every((query) => !('boundCount' in query) && !('oldestId' in query)));
});

t.test(
  'CSV of which something is missing is refused or cut unless it may be partial',
  async (t) => {
    const first = page({ count: 1, resume: 'x', damaged: ['1/2'] }, 'a\r\n');
    const format = 'csv';
    const refused = await exporting(first).ask({ format });
    t.equal(refused.status, 500);
    t.match(messageOf(refused), /1 blocks are damaged.*partial true/);
    const last = page({ count: 1, damaged: ['1/2'] }, 'b\r\n');
    const cut = exporting(page({ count: 1, resume: 'x' }, 'a\r\n'), last);
    await t.rejects(written(await cut.ask({ format })), { message: /1 blocks are damaged/ });
    const partial = await exporting(first, last).ask({ format, partial: true });
    t.equal(partial.headers?.['x-logseam-damaged'], '{"blocks":1}');
    t.equal(await written(partial), 'id,date,message\r\na\r\nb\r\n');
  },
);

t.test('a page comes back as it was written', async (t) => {
  t.same(readPage(page({ count: 1, resume: 'x' }, '{"a":1}\n')), {
    head: { count: 1, resume: 'x' },
    pieces: piecesOf('{"a":1}\n'),
  });
  t.equal(exportHeader({ type: 'ndjson' }, ['a']), '');
  t.equal(
    exportHeader({ type: 'csv', safe: true }, ['custom.a,b', '=x', '']),
    `id,date,"custom.a,b",'=x,""\r\n`,
  );
});
