import t from 'tap';
import { must } from '../../engine/base/assert.ts';
import { OwnLines } from '../../server/ingest/own-lines.ts';
import type { Channel, IngestTask } from '../../server/ingest/protocol.ts';
import type { LineSource } from '../../server/ingest/worker-handle.ts';

const PAGES = 8;
const PAGE_BYTES = 65_536;
const ORIGIN = { channel: 'tcp' } as const;
const NOTHING = new Uint8Array(0);
const SOURCE: LineSource = { origin: ORIGIN, read: () => {}, settled: () => {} };

interface Rig {
  lines: OwnLines;
  tasks: IngestTask[];
  counted: Channel[];
}

function setUp(): Rig {
  const tasks: IngestTask[] = [];
  const counted: Channel[] = [];
  const lines = new OwnLines({
    bytes: PAGES * PAGE_BYTES,
    nowMs: () => 1_000,
    give: (given) => tasks.push(...given),
    observe: (channel) => counted.push(channel),
  });
  return { lines, tasks, counted };
}

/** Fills the memory with lines; resolves when they were given as tasks. */
async function fill({ lines }: Rig): Promise<void> {
  const chunk = Buffer.alloc(200_000, 'x');
  while (lines.sink.roomForLines(chunk.length + 1, ORIGIN))
    lines.sink.appendLines(NOTHING, chunk, true, SOURCE);
  await new Promise((resolve) => setImmediate(resolve));
}

t.test('who found no room goes on when half of the memory is free', async (t) => {
  const rig = setUp();
  await fill(rig);
  t.equal(rig.tasks.length, 2);
  for (const task of rig.tasks) {
    const own = must(task.type === 'lines' ? task.own : undefined, 'memory');
    t.ok(own.buffer instanceof ArrayBuffer, 'the memory of the lines is not shared');
    t.equal(own[task.start], 0x78);
    t.equal(own[task.start + 200_000], 0x0a);
  }
  t.same(rig.lines.gauges, {
    unreadBytes: 400_002,
    pendingCount: 2,
    takenBytes: PAGES * PAGE_BYTES,
  });
  let resumed = 0;
  rig.lines.whenRoom(() => resumed++);
  rig.lines.free(must(rig.tasks[0], 'task').task);
  t.equal(resumed, 1);
  for (const { task } of rig.tasks) {
    rig.lines.done({ task, status: 200, message: '', events: 1, linesDropped: 0, usage: [] });
  }
  t.equal(resumed, 1, 'once');
  t.same(rig.counted, ['tcp', 'tcp']);
  t.same(rig.lines.gauges, { unreadBytes: 0, pendingCount: 0, takenBytes: 0 });
});

t.test('while no lines are taken there is no room, however much is free', async (t) => {
  const rig = setUp();
  rig.lines.takesLines = false;
  t.notOk(rig.lines.sink.roomForLines(1, ORIGIN));
  let resumed = 0;
  rig.lines.whenRoom(() => resumed++);
  t.equal(resumed, 0);
  rig.lines.takesLines = true;
  t.equal(resumed, 1);
  t.ok(rig.lines.sink.roomForLines(1, ORIGIN));
});
