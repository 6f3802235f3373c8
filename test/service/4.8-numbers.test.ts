import t from 'tap';
import { ask, send, testService } from '../support/service.ts';

/** Numbers as they are sent and told: the order of numeric strings among them, and integers beyond doubles. */

const service = await testService(t);
const TIME = { from: 'now-1h', to: 'now+1h' };
/** Values in their natural order. */
const NATURAL = [9, '9', 10, '10', 'abc'];
const BIG = ['9007199254740993', '-9007199254740995', '123456789012345678901234567890', '7'];

const mixed = [...NATURAL].reverse().map((mixed) => JSON.stringify({ mixed }));
const big = BIG.map((text) => `{"big":${text}}`);
await send(service, `[${[...mixed, ...big, '{"mixed":null}'].join(',')}]`);

/** A result, whose type the caller knows. */
async function resultOf<Result>(path: string, body: object): Promise<Result> {
  const answer = await ask(service, `/beta/events/${path}`, { time: TIME, ...body });
  if (answer.status !== 200) throw new Error(answer.text);
  return (answer.body as { result: Result }).result;
}

/** All values in the natural order of an aggregation, page by page. */
async function bucketPages(order: 'asc' | 'desc', limit: number): Promise<unknown[][]> {
  const pages: unknown[][] = [];
  let afterBucket: Record<string, unknown> | undefined;
  do {
    const { aggregates, lastBucket } = await resultOf<{
      aggregates: { bucket: Record<string, unknown> }[];
      lastBucket?: Record<string, unknown>;
    }>('aggregate', {
      compute: [{ metric: { id: 'count' } }],
      groupBy: [{ field: { id: 'custom.mixed', limit, order: { '@natural': order } } }],
      ...(afterBucket === undefined ? {} : { afterBucket }),
    });
    pages.push(aggregates.map(({ bucket }) => bucket['custom.mixed']));
    afterBucket = lastBucket;
  } while (afterBucket !== undefined);
  return pages;
}

/** All values in the order of a list by them, page by page. */
async function listPages(order: 'asc' | 'desc', limit: number): Promise<unknown[][]> {
  const pages: unknown[][] = [];
  let afterEvent: string | undefined;
  for (;;) {
    const { events } = await resultOf<{ events: { id: string; columns: unknown[] }[] }>('list', {
      ...{ limit, order, orderBy: 'custom.mixed', columns: [{ attribute: 'custom.mixed' }] },
      filters: [{ search: 'mixed:*' }],
      ...(afterEvent === undefined ? {} : { afterEvent }),
    });
    if (events.length === 0) return pages;
    pages.push(events.map(({ columns }) => columns[0]));
    afterEvent = events.at(-1)?.id;
  }
}

t.test('4.8 buckets in natural order have numeric strings behind equal numbers', async (t) => {
  const backwards = [...NATURAL].reverse();
  for (const limit of [1, 2, 3, 5]) {
    const [upwards, downwards] = [
      await bucketPages('asc', limit),
      await bucketPages('desc', limit),
    ];
    t.same(upwards.flat(), NATURAL, `pages of ${limit}`);
    t.same(downwards.flat(), backwards, `pages of ${limit}, backwards`);
    t.equal(upwards.length, Math.ceil(NATURAL.length / limit));
  }
});

t.test('4.6 a list by such an attribute has the same order, pages included', async (t) => {
  const backwards = [...NATURAL].reverse();
  for (const limit of [1, 2, 3, 5]) {
    t.same((await listPages('asc', limit)).flat(), NATURAL, `pages of ${limit}`);
    t.same((await listPages('desc', limit)).flat(), backwards, `pages of ${limit}, backwards`);
  }
});

t.test('4.8 minima, maxima and sums of integers have all their digits', async (t) => {
  const answer = await ask(service, '/beta/events/aggregate', {
    time: TIME,
    compute: ['min', 'max', 'sum'].map((name) => ({
      metric: { id: `${name}:custom.big`, output: name },
    })),
  });
  const [least, most] = [BIG[1], BIG[2]];
  const sum = BIG.reduce((total, text) => total + BigInt(text), 0n);
  t.match(answer.text, `"min":${least},"max":${most},"sum":${sum}}`);
});
