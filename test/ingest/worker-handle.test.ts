import t from 'tap';
import { must } from '../../engine/base/assert.ts';
import {
  bodyTasks,
  type FromIngest,
  type IngestTask,
  type TaskOutcome,
  type ToIngest,
} from '../../server/ingest/protocol.ts';
import { Slots } from '../../server/ingest/slots.ts';
import {
  IngestWorkerHandle,
  type LineOrigin,
  type LineSource,
} from '../../server/ingest/worker-handle.ts';

const PAGES = 17;

const ORIGIN = { channel: 'tcp' } as const;

class Source implements LineSource {
  readonly origin: LineOrigin = ORIGIN;
  readBytes = 0;
  storedBytes = 0;
  lostBytes = 0;
  read(bytes: number): void {
    this.readBytes += bytes;
  }
  settled(bytes: number, stored: boolean): void {
    if (stored) this.storedBytes += bytes;
    else this.lostBytes += bytes;
  }
}

function setUp(pages = PAGES): {
  thread: IngestWorkerHandle;
  tasks: IngestTask[];
  text: (task: IngestTask) => string;
} {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const tasks: IngestTask[] = [];
  const port = {
    post: (message: ToIngest) => {
      if (message.type === 'tasks') tasks.push(...message.tasks);
    },
    listen: (_take: (message: FromIngest) => void) => {},
    close: () => {},
  };
  const thread = new IngestWorkerHandle(new Slots(memory, 65_536), port, () => 1_000);
  const text = ({ start, bytes }: IngestTask): string =>
    Buffer.from(thread.slots.bytes.slice(start, start + bytes)).toString();
  return { thread, tasks, text };
}

function outcome(task: number, status = 200): TaskOutcome {
  return { task, status, message: '', events: 0, linesDropped: 0, usage: [] };
}

const NOTHING = new Uint8Array(0);

t.test('lines of several sources share a slot and are settled each', async (t) => {
  const { thread, tasks, text } = setUp();
  const [one, two] = [new Source(), new Source()];
  t.ok(thread.roomForLines(100, ORIGIN));
  thread.appendLines(Buffer.from('k a'), Buffer.from('b\n'), false, one);
  thread.appendLines(NOTHING, Buffer.from('k c\n'), false, two);
  thread.appendLines(Buffer.from('k cu'), Buffer.from('t'), true, one);
  thread.flush();
  t.equal(tasks.length, 1);
  const task = must(tasks[0], 'task');
  t.equal(text(task), 'k ab\nk c\nk cut\n');
  thread.report([task.task], []);
  t.same([one.readBytes, two.readBytes], [11, 4]);
  t.equal(thread.slots.freeBytes, thread.slots.totalBytes, 'a slot that was read is free');
  t.same([one.storedBytes, two.storedBytes], [0, 0], 'read is not stored');
  thread.report([], [outcome(task.task)]);
  t.same([one.storedBytes, two.storedBytes], [11, 4]);
  t.equal(thread.pendingCount, 0);
});

t.test('a slot without lines is given back, a full one is handed over', async (t) => {
  const { thread, tasks } = setUp();
  const source = new Source();
  thread.roomForLines(10, ORIGIN);
  thread.flush();
  t.equal(tasks.length, 0);
  t.equal(thread.slots.freeBytes, thread.slots.totalBytes);
  const chunk = new Uint8Array(200_000).fill(97);
  t.ok(thread.roomForLines(chunk.length, ORIGIN));
  thread.appendLines(NOTHING, chunk, false, source);
  t.ok(thread.roomForLines(chunk.length, ORIGIN));
  thread.appendLines(NOTHING, chunk, false, source);
  thread.flush();
  t.equal(tasks.length, 2);
});

t.test('slots of lines that may wait are handed over with others', async (t) => {
  const { thread, tasks } = setUp(129);
  const origin = { channel: 'udp', patienceMs: 60_000 } as const;
  const source = Object.assign(new Source(), { origin });
  const chunk = new Uint8Array(200_000).fill(97);
  const append = (): void => {
    t.ok(thread.roomForLines(chunk.length, origin));
    thread.appendLines(NOTHING, chunk, false, source);
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  for (let slot = 0; slot < 3; slot++) append();
  await turn();
  t.equal(tasks.length, 0);
  t.ok(thread.roomForLines(10, ORIGIN));
  thread.appendLines(NOTHING, Buffer.from('k a\n'), false, new Source());
  await turn();
  t.equal(tasks.length, 4, 'with one that may not wait');
  for (let slot = 0; slot < 12; slot++) append();
  await turn();
  t.equal(tasks.length, 16, 'when there are many bytes');
  append();
  const rest = thread.slots.freeBytes;
  t.ok(thread.slots.reserve(rest - 64));
  t.notOk(thread.roomForLines(chunk.length, origin));
  t.equal(tasks.length, 17, 'when there is no room');
});

t.test('without room nothing is taken', async (t) => {
  const { thread } = setUp();
  const all = must(thread.slots.reserve(thread.slots.totalBytes - 64), 'slot');
  t.notOk(thread.roomForLines(1, ORIGIN));
  thread.slots.release(all);
  t.ok(thread.roomForLines(1, ORIGIN));
});

t.test('what waits for a dead worker is lost, and nothing more is taken', async (t) => {
  const { thread, tasks } = setUp();
  const source = new Source();
  const slot = must(thread.slots.reserve(10), 'slot');
  const key = { id: 'k', cell: 0 };
  const body = {
    type: 'body',
    channel: 'http',
    bytes: 3,
    form: 'lines',
    key,
    receivedMs: 0,
    enrichment: undefined,
  } as const;
  const waiting = thread.body(slot, body);
  thread.roomForLines(10, ORIGIN);
  thread.appendLines(NOTHING, Buffer.from('k a\n'), false, source);
  thread.die();
  t.equal((await waiting).status, 503);
  t.equal(source.lostBytes, 4);
  t.ok(thread.dead);
  const later = must(thread.slots.reserve(10), 'slot');
  t.equal((await thread.body(later, body)).status, 503);
  thread.roomForLines(10, ORIGIN);
  thread.appendLines(NOTHING, Buffer.from('k b\n'), false, source);
  thread.flush();
  t.equal(source.lostBytes, 8);
  t.equal(tasks.length, 0);
  t.equal(thread.slots.freeBytes, thread.slots.totalBytes);
});

t.test(
  'a body goes as the task that it is, and comes back with the usage of its key',
  async (t) => {
    const posted: IngestTask[] = [];
    const told: number[] = [];
    const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES, shared: true });
    const slots = new Slots(memory, 65_536);
    const counted: TaskOutcome[] = [];
    const thread = new IngestWorkerHandle(
      slots,
      {
        post: ({ tasks, numbers, keys, senders }) => {
          posted.push(...bodyTasks(numbers, keys), ...tasks);
          told.push(senders);
        },
      },
      () => 1_000,
      (_, outcome) => counted.push(outcome),
    );
    const plain = {
      type: 'body',
      channel: 'https',
      bytes: 7,
      form: 'lines',
      key: { id: 'k', cell: 3 },
      receivedMs: 1_000,
      enrichment: undefined,
    } as const;
    const packed = { ...plain, compression: { encoding: 'gzip', bytesMax: 9 } } as const;
    const places = [must(slots.reserveBody(7), 'slot'), must(slots.reserveBody(7), 'slot')];
    const ends = [plain, packed].map((task, at) => thread.body(must(places[at], 'slot'), task));
    thread.flush();
    t.same(posted, [
      { ...plain, task: 0, start: places[0]?.start },
      { ...packed, task: 1, start: places[1]?.start },
    ]);
    thread.report([], [], [1, 0, 0, 0, 5, 80]);
    t.same(await Promise.all(ends), [
      { ...outcome(0), events: 5, usage: [{ key: 'k', events: 5, bytes: 80 }] },
      outcome(1),
    ]);
    t.equal(counted.length, 2);
    t.equal(thread.pendingCount, 0);
    const large = { ...plain, bytes: 70_000 };
    for (const body of [plain, large, plain, { ...plain, dry: {} }]) {
      void thread.body(must(slots.reserveBody(body.bytes), 'slot'), body);
    }
    thread.flush();
    thread.report([], [], [2, 0, 0]);
    void thread.body(must(slots.reserveBody(7), 'slot'), plain);
    thread.flush();
    t.same(told, [2, 2, 2], 'small bodies that are not answered');
  },
);
