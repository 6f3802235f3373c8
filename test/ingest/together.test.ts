import t from 'tap';
import type { KeyUsage, RowWriter } from '../../engine/engine.ts';
import { PatternBudget } from '../../server/extend/pattern-budget.ts';
import type { TaskEnds } from '../../server/ingest/acknowledge.ts';
import { NameBudget } from '../../server/ingest/name-budget.ts';
import { NameCounts } from '../../server/ingest/name-counts.ts';
import type { BodyTask, TaskOutcome } from '../../server/ingest/protocol.ts';
import type { RawDecoder } from '../../server/ingest/raw.ts';
import { StatCells, sumStats } from '../../server/ingest/stats.ts';
import { TroubleNotes } from '../../server/ingest/trouble.ts';
import { Decodings } from '../../server/ingest/turns/decodings.ts';
import { Work } from '../../server/ingest/turns/work.ts';
import { dayOf, UsageCells } from '../../server/registry/usage.ts';

const RECEIVED_MS = Date.UTC(2026, 10, 27);
const DAY = dayOf(RECEIVED_MS);
const CELL = 3;

/** The work of a thread whose writer stores what it gets, or fails. */
class Desk {
  readonly cells = new UsageCells();
  readonly stats = new StatCells();
  readonly appended: { events: number; usage: readonly KeyUsage[]; senders: number }[] = [];
  readonly outcomes: Omit<TaskOutcome, 'message' | 'linesDropped' | 'usage'>[] = [];
  readonly faults: Error[] = [];
  readonly decodings: Decodings;
  failure: Error | undefined;
  readonly #memory = new Uint8Array(65_536);
  readonly #work: Work;

  constructor() {
    this.cells.begin(CELL);
    const names = new NameBudget(new NameCounts(NameCounts.memory(1), 0), 1_000);
    const troubles = new TroubleNotes();
    const budget = new PatternBudget();
    const idOf = (): string => 'key';
    const parts = { names, troubles, budget, idOf };
    this.decodings = new Decodings(
      {
        ...parts,
        isWriteKey: () => false,
        raw: () => ({}) as RawDecoder,
        failed: (error) => this.faults.push(error),
      },
      [],
    );
    const append: RowWriter['append'] = async (rows, usage, options) => {
      if (this.failure !== undefined) throw this.failure;
      this.appended.push({ events: rows.rowCount, usage, senders: options?.senders ?? 1 });
    };
    this.#work = new Work({
      ...parts,
      memory: this.#memory,
      cells: this.cells,
      stats: this.stats,
      decodings: this.decodings,
      writer: { append } as RowWriter,
      fault: (error) => this.faults.push(error),
      stored: () => {},
    });
  }

  /** Does bodies together, as far as they may; the others are left. Resolves when they are over. */
  async together(...texts: string[]): Promise<number> {
    let start = 0;
    const tasks = texts.map((text, task): BodyTask => {
      const bytes = Buffer.from(text).copy(this.#memory, start);
      const place = { task, start, bytes };
      start += 4_096;
      const key = { id: 'key', cell: CELL };
      const facts = { receivedMs: RECEIVED_MS, enrichment: undefined, key };
      return { type: 'body', channel: 'http', form: 'lines', ...place, ...facts };
    });
    const joins = this.#work.joining(tasks[0]);
    const some = tasks.filter((task, at) => at === 0 || joins?.(task) === true);
    const ends: TaskEnds = {
      free: () => {},
      stored: (task, events) => this.outcomes.push({ task, status: 200, events }),
      done: ({ task, status, events }) => this.outcomes.push({ task, status, events }),
    };
    this.#work.bodies(some, ends);
    await new Promise((resolve) => setImmediate(resolve));
    return some.length;
  }

  get usedBytes(): number {
    return this.cells.usedBytes(CELL, DAY);
  }
}

const line = (text: string): string => `${text.padEnd(99, '.')}\n`;

t.test('bodies are stored as one and answered each', async (t) => {
  const desk = new Desk();
  t.equal(await desk.together(line('a'), `${line('b')}${line('c')}`, line('d')), 3);
  t.same(desk.outcomes, [
    { task: 0, status: 200, events: 1 },
    { task: 1, status: 200, events: 2 },
    { task: 2, status: 200, events: 1 },
  ]);
  const usage = [{ key: 'key', day: DAY, bytes: 400, events: 4 }];
  t.same(desk.appended, [{ events: 4, usage, senders: 3 }]);
  t.equal(desk.usedBytes, 400);
  const { commitCounts, rowsReference, rowsKernel } = sumStats([desk.stats.shared]);
  t.equal(
    commitCounts.reduce((sum, count) => sum + count, 0),
    3,
  );
  t.equal(rowsReference + rowsKernel, 4);
});

t.test('short events count for more, a body without events for nothing', async (t) => {
  const alone = new Desk();
  await alone.together('a\nb\n');
  const desk = new Desk();
  await desk.together('a\nb\n', '\n\n', line('c'));
  t.same(
    desk.outcomes.map(({ events }) => events),
    [2, 0, 1],
  );
  t.equal(desk.usedBytes, alone.usedBytes + 100);
  t.equal(desk.appended[0]?.usage[0]?.bytes, desk.usedBytes);
  const nothing = new Desk();
  await nothing.together('\n', '\n');
  t.same(nothing.appended, [{ events: 0, usage: [], senders: 2 }]);
  t.equal(nothing.usedBytes, 0);
});

t.test(
  'bodies are each for themselves while a quota or the table of names may be reached',
  async (t) => {
    const desk = new Desk();
    desk.cells.limit(CELL, 1_000_000);
    t.equal(await desk.together(line('a'), line('b')), 1);
    desk.cells.limit(CELL, 100_000_000);
    t.equal(await desk.together(line('a'), line('b')), 2);
    const { paths } = desk.decodings.current;
    for (let name = 0; paths.count < 33_000; name++) {
      const bytes = Buffer.from(`name ${name}`);
      paths.intern(0, bytes, 0, bytes.length);
    }
    t.equal(await desk.together(line('a'), line('b')), 1);
  },
);

t.test('bodies whose group is lost are refused, and count for nothing', async (t) => {
  const desk = new Desk();
  desk.failure = new Error('no disk');
  await desk.together(line('a'), line('b'));
  t.same(
    desk.outcomes.map(({ status }) => status),
    [503, 503],
  );
  t.equal(desk.usedBytes, 0);
});

t.test('each body is decoded for itself when there is a fault', async (t) => {
  const desk = new Desk();
  desk.decodings.current.decoder.readLinesOf = () => {
    throw new Error('a bug');
  };
  await desk.together(line('a'), line('b'));
  t.same(
    desk.outcomes.map(({ status }) => status),
    [200, 200],
  );
  t.equal(desk.appended.length, 2);
  t.equal(desk.usedBytes, 200);
});
