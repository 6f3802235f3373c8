import t from 'tap';
import { Admission, type Ticket } from '../../server/query/load/admission.ts';
import { type Allowance, LIGHT_BYTES } from '../../server/query/scheduler.ts';

const QUERY_BYTES = 4 * LIGHT_BYTES;

/** Queries by name, with what became of each. */
class Queries {
  readonly admission: Admission;
  readonly told: string[] = [];
  readonly #tickets = new Map<string, Ticket>();

  constructor(memoryBytes: number, perKey = 8) {
    this.admission = new Admission({
      ...{ running: 32, perKey, waitingPerKey: 64, waiting: 1_024 },
      ...{ heavyPerKey: 2, queryBytes: QUERY_BYTES, memoryBytes },
    });
  }

  /** Has a query of a key come for each name. */
  enter(key: string, ...names: string[]): void {
    for (const name of names) {
      const ticket = this.admission.enter(key, () => this.told.push(`${name} begins`));
      this.#tickets.set(name, ticket);
    }
  }

  need(allowance: Allowance, ...names: string[]): void {
    for (const name of names) {
      this.#tickets.get(name)?.need(allowance, () => this.told.push(`${name} goes on`));
    }
  }

  answered(name: string, bytes: number): void {
    this.#tickets.get(name)?.answered(bytes);
  }

  leave(...names: string[]): void {
    for (const name of names) this.#tickets.get(name)?.leave();
  }

  /** Messages since the last call. */
  since(): string[] {
    return this.told.splice(0);
  }
}

t.test(
  'of heavy queries as many run as there is memory for, and all go on in the end',
  async (t) => {
    const queries = new Queries(2 * QUERY_BYTES);
    const names = ['1', '2', '3', '4', '5', '6'];
    queries.enter('key', ...names);
    t.equal(queries.since().length, 6);
    queries.need('memory', ...names);
    t.same(queries.told, ['1 goes on', '2 goes on'], 'those that stand still keep nothing');
    t.equal(queries.admission.bytes, 2 * QUERY_BYTES);
    for (const [place, name] of names.entries()) {
      queries.leave(name);
      const next = names[place + 2];
      t.ok(next === undefined || queries.told.includes(`${next} goes on`), `behind ${name}`);
    }
    t.equal(queries.admission.bytes, 0);
    t.equal(queries.admission.waitingCount, 0);
  },
);

t.test('one query may take more than all may', async (t) => {
  const queries = new Queries(LIGHT_BYTES);
  queries.enter('key', 'large');
  queries.need('memory', 'large');
  t.same(queries.since(), ['large begins', 'large goes on']);
});

t.test('of one key few take long at a time, those of another do not wait for them', async (t) => {
  const queries = new Queries(100 * QUERY_BYTES);
  queries.enter('one', '1', '2', '3');
  queries.enter('other', 'x');
  queries.since();
  queries.need('time', '1', '2', '3', 'x');
  t.same(queries.since(), ['1 goes on', '2 goes on', 'x goes on']);
  queries.need('memory', '1');
  t.same(queries.since(), ['3 goes on'], 'one that needs memory waits behind it');
  queries.leave('2');
  t.same(queries.since(), ['1 goes on']);
});

t.test('what goes on next is of the key with the fewest heavy ones', async (t) => {
  const queries = new Queries(QUERY_BYTES);
  queries.enter('other', 'x');
  queries.enter('one', '1', '2', '3');
  queries.need('memory', '1', '2', '3', 'x');
  t.same(queries.since().slice(4), ['1 goes on']);
  queries.leave('1');
  t.same(queries.since(), ['x goes on'], 'the other key had its turn');
  queries.leave('x');
  t.same(queries.since(), ['2 goes on']);
});

t.test('a key whose answers are not taken waits, another one begins', async (t) => {
  const queries = new Queries(16 * LIGHT_BYTES);
  queries.enter('slow', '1');
  queries.answered('1', 5 * LIGHT_BYTES);
  queries.enter('slow', '2');
  queries.enter('other', 'x');
  t.same(queries.since(), ['1 begins', 'x begins']);
  queries.leave('1');
  t.same(queries.since(), ['2 begins']);
  queries.leave('1', '2', 'x');
  t.equal(queries.admission.bytes, 0);
});

t.test('when all memory is taken a key may still run one query', async (t) => {
  const queries = new Queries(2 * LIGHT_BYTES);
  queries.enter('many', '1', '2', '3');
  queries.enter('other', 'x', 'y');
  t.same(queries.since(), ['1 begins', '2 begins', 'x begins']);
});

t.test('a query that leaves while it stands still or waits gives its place back', async (t) => {
  const queries = new Queries(QUERY_BYTES + 2 * LIGHT_BYTES, 2);
  queries.enter('key', '1', '2', '3', '4');
  queries.need('memory', '1', '2');
  t.same(queries.since(), ['1 begins', '2 begins', '1 goes on']);
  queries.leave('3', '2');
  t.same(queries.since(), ['4 begins']);
  t.equal(queries.admission.waitingCount, 0);
  queries.leave('1', '4', '4');
  t.equal(queries.admission.bytes, 0);
});
