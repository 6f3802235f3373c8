import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type CpuProfile, StageTimes, workOf } from '../../bench/profile/attribute.ts';
import { INGEST_STAGES, QUERY_STAGES, STAGE_PATHS, stageOf } from '../../bench/profile/stage.ts';
import { profileLines } from '../../bench/profile/table.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

t.test('every folder of the engine and the server has a stage of its own', async (t) => {
  const folders = globSync('{engine,server}/*/', { cwd: ROOT }).map((name) => `${name}/`);
  t.ok(folders.includes('engine/query/'));
  t.same(
    folders.filter((folder) => !STAGE_PATHS.includes(folder)),
    [],
  );
});

t.test('the table of stages names nothing twice and nothing that is not there', async (t) => {
  t.equal(new Set(STAGE_PATHS).size, STAGE_PATHS.length);
  t.same(
    STAGE_PATHS.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
});

t.test('every stage has files', async (t) => {
  const files = globSync('{engine,server}/**/*.ts', { cwd: ROOT });
  const stages = (work: 'ingest' | 'query'): Set<string | undefined> =>
    new Set(files.map((file) => stageOf(file, work)));
  t.same(
    INGEST_STAGES.filter((stage) => !stages('ingest').has(stage)),
    [],
  );
  t.same(
    QUERY_STAGES.filter((stage) => !stages('query').has(stage)),
    [],
  );
});

t.test('the longest name decides, and a file may count for its caller', async (t) => {
  t.equal(stageOf('engine/column/strings.ts', 'ingest'), 'encode');
  t.equal(stageOf('engine/column/strings.ts', 'query'), 'decode');
  t.equal(stageOf('engine/column/path.ts', 'ingest'), 'intern');
  t.equal(stageOf('engine/column/strings.ts', 'seal'), 'seal');
  t.equal(stageOf('engine/base/hash.ts', 'query'), undefined);
  t.equal(stageOf('bench/main.ts', 'query'), undefined);
});

/** A profile of nodes [name, file, parent]; node n has as many samples of a millisecond as `samples[n]` says. */
function profileOf(
  nodes: readonly [name: string, url: string, parent: number][],
  samples: readonly number[],
): CpuProfile {
  const made: CpuProfile = { nodes: [], samples: [], timeDeltas: [] };
  for (const [id, [functionName, url]] of nodes.entries()) {
    const children = [...nodes.keys()].filter((child) => child > 0 && nodes[child][2] === id);
    made.nodes.push({ id, callFrame: { functionName, url, lineNumber: 6 }, children });
    for (let sample = 0; sample < samples[id]; sample++) {
      made.samples?.push(id);
      made.timeDeltas?.push(1000);
    }
  }
  return made;
}

const WORKER = profileOf(
  [
    ['(root)', '', -1],
    ['(garbage collector)', '', 0],
    ['(idle)', '', 0],
    ['(program)', '', 0],
    ['run', 'file:///logseam/server/ingest/worker.ts', 0],
    ['members', 'file:///logseam/server/decode/object.ts', 4],
    ['hash', 'file:///logseam/engine/base/hash.ts', 5],
    ['utf8Slice', '', 6],
    ['compress', 'file:///logseam/node_modules/lz4-napi/index.js', 4],
    ['post', 'node:inspector', 0],
    ['tick', 'node:internal/process', 0],
  ],
  [0, 2, 100, 3, 4, 10, 20, 40, 5, 500, 1],
);

t.test(
  'own time counts for the stage of the file, or of the nearest caller that has one',
  async (t) => {
    const times = new StageTimes();
    times.add(WORKER, 'ingest', '/logseam/');
    const milliseconds = [...times.seconds].map(([stage, seconds]) => [
      stage,
      Math.round(seconds * 1000),
    ]);
    t.same(Object.fromEntries(milliseconds), {
      decode: 70,
      receive: 9,
      other: 1,
      idle: 100,
      native: 3,
      'garbage collection': 2,
    });
    t.same(
      times.hottest('decode', 5).map(({ name, seconds }) => [name, Math.round(seconds * 1000)]),
      [
        ['hash engine/base/hash.ts:7', 60],
        ['members server/decode/object.ts:7', 10],
      ],
      'what is not ours counts for the function that called it',
    );
    t.equal(times.hottest('decode', 1).length, 1);
  },
);

t.test('threads are told apart by the worker that ran in them', async (t) => {
  const ran = (url: string): CpuProfile =>
    profileOf(
      [
        ['(root)', '', -1],
        ['start', url, 0],
      ],
      [0, 1],
    );
  t.equal(workOf(WORKER, 'query'), 'ingest');
  t.equal(workOf(ran('file:///a/server/query/query-worker.ts'), 'ingest'), 'query');
  t.equal(workOf(ran('file:///a/server/merge/merge-worker.ts'), 'ingest'), 'seal');
  t.equal(workOf(ran('file:///a/server/main.ts'), 'query'), 'query');
});

t.test(
  'the table has a line a stage with its share of the busy time, and functions below',
  async (t) => {
    const times = new StageTimes();
    times.add(WORKER, 'ingest', '/logseam/');
    const lines = profileLines({ times, cpuSeconds: 0.09 }, INGEST_STAGES, {
      unit: 's/M events',
      factor: 10,
    });
    t.same(
      lines.map((line) => line.trim().replaceAll(/\s+/g, ' ')),
      [
        '0.0900 s/M events 10.6 % receive',
        '0.0900 s/M events 10.6 % run server/ingest/worker.ts:7',
        '0.700 s/M events 82.4 % decode',
        '0.600 s/M events 70.6 % hash engine/base/hash.ts:7',
        '0.100 s/M events 11.8 % members server/decode/object.ts:7',
        '0.0100 s/M events 1.2 % other',
        '0.0100 s/M events 1.2 % Node',
        '0.0200 s/M events 2.4 % garbage collection',
        '0.0300 s/M events 3.5 % native',
        '0.850 s/M events 100.0 % in all, of samples',
        '0.900 s/M events CPU of the whole process',
        '0.100 s idle, all threads together',
      ],
    );
  },
);
