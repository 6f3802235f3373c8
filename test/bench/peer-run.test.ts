import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { corpusOf } from '../../bench/corpus/index.ts';
import type { Bench } from '../../bench/harness.ts';
import { PartFiles } from '../../bench/peer/parts.ts';
import { isRefusal, wordsFor } from '../../bench/peer/peer.ts';
import type { PeerEntry } from '../../bench/peer/peers.ts';
import { QUESTIONS } from '../../bench/peer/questions.ts';
import { type PeerResult, runPeers, sampleOf } from '../../bench/peer/run.ts';
import { pushBody } from '../../bench/peer/store/loki-push.ts';
import { loadPackage } from '../../bench/peer/store/package.ts';
import { bodiesOf } from '../../bench/peer/store/part.ts';
import { report } from '../../bench/peer/workload.ts';
import type { Figure, Remark } from '../../bench/report/row.ts';

/** A run of peers: what fails is a line of the report, the rest goes on. */

const STAGES = [10];
const texts = Object.fromEntries(QUESTIONS.map(({ name }) => [name, () => name]));

function failing(name: string): PeerEntry {
  return { name, module: new URL('peer/failing.ts', import.meta.url).pathname, texts };
}

async function run(
  how: string,
  peers: PeerEntry[],
  stages: readonly number[] = STAGES,
): Promise<PeerResult[]> {
  process.env['FAILING_PEER'] = how;
  return runPeers({
    peers,
    make: () => corpusOf('access-plain').make(1),
    stages,
    questions: QUESTIONS,
    repeats: 2,
    clockFromMs: 0,
    progress: () => {},
  });
}

/** Text of a report of the results. */
function said(results: readonly PeerResult[]): { figures: Figure[]; remarks: Remark[] } {
  const figures: Figure[] = [];
  const remarks: Remark[] = [];
  const bench: Bench = {
    scale: 1,
    runs: 1,
    progress: () => {},
    figure: () => {},
    record: (figure) => figures.push(figure),
    remark: (remark) => remarks.push(remark),
    version: () => {},
  };
  for (const result of results) report(bench, result, 'access-plain');
  return { figures, remarks };
}

t.test('a peer that answers has a figure for loading, and two for each question', async (t) => {
  const [result] = await run('', [failing('good')]);
  t.equal(result.fault, undefined);
  t.match(result.opened, { version: '1', settings: ['none'] });
  const { figures, remarks } = said([result]);
  t.same(remarks, []);
  for (const wanted of ['ms first', 'ms'])
    t.same(
      figures.filter(({ unit }) => unit === wanted).map(({ name }) => name),
      QUESTIONS.map(({ name }) => name),
    );
  t.ok(figures.some(({ name }) => name === 'loading, CPU settled'));
});

for (const [how, text] of [
  ['open', 'no such library'],
  ['load', 'its process ended with SIGSEGV'],
  ['settle', '7 events are there, not 10'],
] as const) {
  t.test(`a peer that fails at ${how} is one line, and the next peer runs`, async (t) => {
    const [result, next] = await run(how, [
      failing('bad'),
      { name: 'unset', module: '', texts, binary: 'NO_SUCH_BINARY' },
    ]);
    t.same(said([result]).remarks, [{ kind: 'failed', system: 'bad', text }]);
    t.equal(next.name, 'unset');
  });
}

t.test('a question that a peer refuses is a line, the questions behind it are asked', async (t) => {
  const [result] = await run('ask', [failing('bad')]);
  t.equal(result.stages[0]?.asked.length, QUESTIONS.length);
  t.same(said([result]).remarks, [
    { kind: 'failed', system: 'bad', name: 'top 10 URLs', events: 10, text: 'too many groups' },
  ]);
});

t.test('a peer that dies at a question says so at it and at those behind it', async (t) => {
  const [result] = await run('exit', [failing('bad')]);
  const [before, ...behind] = said([result]).remarks;
  t.match(before, { name: 'top 10 URLs', text: 'its process ended with 3' });
  t.equal(behind.length, QUESTIONS.length - 3);
});

t.test('a difference is a line with both rows, told of the peer behind the first', async (t) => {
  const right = await run('', [failing('right')]);
  t.same(said(right).remarks, []);
  const wrong: PeerEntry = {
    ...failing('wrong'),
    module: new URL('peer/wrong.ts', import.meta.url).pathname,
  };
  const results = await run('', [failing('right'), wrong]);
  t.same(said(results).remarks, [
    {
      kind: 'differs',
      system: 'wrong',
      name: 'count of all',
      events: 10,
      text: 'count: [9], right has [10]',
    },
  ]);
});

t.test('a peer is loaded once and asked all questions at each stage', async (t) => {
  const wrong: PeerEntry = {
    ...failing('wrong'),
    module: new URL('peer/wrong.ts', import.meta.url).pathname,
  };
  const results = await run('', [failing('right'), wrong], [10, 30]);
  for (const { stages } of results) {
    t.same(
      stages.map(({ events }) => events),
      [10, 30],
    );
    t.same(
      stages.map(({ load }) => load.seconds),
      [0.001, 0.002],
      'a part a stage',
    );
  }
  const { figures, remarks } = said(results);
  const asked = figures.filter(
    ({ name, unit, system }) => name === 'facets' && unit === 'ms' && system === 'right',
  );
  t.same(
    asked.map(({ events }) => events),
    [10, 30],
  );
  t.same(
    remarks.map(({ kind, events }) => [kind, events]),
    [
      ['differs', 10],
      ['differs', 30],
    ],
  );
});

t.test('a peer that fails behind a stage keeps what came of it', async (t) => {
  const [result] = await run('second load', [failing('bad')], [10, 30]);
  t.equal(result.stages.length, 1);
  t.same(said([result]).remarks, [{ kind: 'failed', system: 'bad', text: 'no room' }]);
});

t.test('parts are made once, end at stages, and hold every event in its order', async (t) => {
  const folder = t.testdir();
  let made = 0;
  const parts = new PartFiles(folder, () => String(made++), [250_000, 450_001]);
  const read = (): number[] =>
    [0, 1].flatMap((stage) => [...parts.ofStage(stage)].map(({ events }) => events));
  t.same(read(), [200_000, 50_000, 200_000, 1]);
  t.same(read(), [200_000, 50_000, 200_000, 1]);
  t.equal(made, 450_001);
  t.match(readFileSync(join(folder, '450000.ndjson'), 'utf8'), /^450000\n$/);
});

t.test('a peer without its binary is not measured', async (t) => {
  const [result] = await run('', [{ ...failing('loki'), binary: 'NO_SUCH_BINARY' }]);
  t.same(said([result]).remarks, [
    { kind: 'not measured', system: 'loki', text: 'NO_SUCH_BINARY names no binary' },
  ]);
});

t.test('a question that a peer has no words for is not measured', async (t) => {
  const [result] = await run('', [
    { ...failing('mute'), texts: { ...texts, facets: () => ({ cannot: 'not yet' }) } },
  ]);
  t.same(said([result]).remarks, [
    { kind: 'not measured', system: 'mute', name: 'facets', text: 'not yet' },
  ]);
});

t.test('a package that is not installed is named, with what installs it', async (t) => {
  await t.rejects(loadPackage('@logseam/no-such-package'), /no-such-package.*make bench-peers/);
});

t.test('words that a store does not have are thrown with their reason', async (t) => {
  const make = (): (() => string) => corpusOf('access-plain').make(1);
  const [parameters] = sampleOf({ make, stages: STAGES });
  t.throws(() => wordsFor({ facets: () => ({ cannot: 'not yet' }) }, 'facets', parameters), {
    message: 'not yet',
  });
  t.throws(() => wordsFor({}, 'facets', parameters), { message: 'the question is unknown' });
  t.equal(isRefusal('text'), false);
});

t.test('a part is cut into bodies at the ends of lines, none longer than asked for', async (t) => {
  const file = join(t.testdir(), 'part.ndjson');
  writeFileSync(file, 'aaaa\nbb\ncc\nddddddddddd\nee');
  const bodies = bodiesOf({ file, events: 5 }, 8);
  t.same(
    bodies.map(({ body, events }) => [body.toString(), events]),
    [
      ['aaaa\nbb\n', 2],
      ['cc\n', 1],
      ['ddddddddddd\n', 1],
      ['ee', 1],
    ],
  );
});

t.test(
  'Loki is pushed a stream a host, with dates in nanoseconds and the rest as metadata',
  async (t) => {
    const lines = [
      '{"date_access":"2026-11-01T00:00:00.012Z","http.ident":"a","http.status_code":200,"message":"one"}',
      '{"http.ident":"b","date_access":"2026-11-01 01:00:00.5","message":"two"}',
      '{"http.ident":"a","date_access":"2026-11-01T01:00:00+02:00","http.verb":"GET","message":"three"}',
    ];
    t.same(JSON.parse(pushBody(`${lines.join('\n')}\n`).toString()), {
      streams: [
        {
          stream: { job: 'access', host: 'a' },
          values: [
            ['1793491200012000000', 'one', { status_code: '200' }],
            ['1793487600000000000', 'three', { verb: 'GET' }],
          ],
        },
        {
          stream: { job: 'access', host: 'b' },
          values: [['1793494800500000000', 'two', {}]],
        },
      ],
    });
  },
);
