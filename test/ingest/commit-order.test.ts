import fc from 'fast-check';
import t from 'tap';
import { CommitOrder } from '../../server/ingest/commit-order.ts';

interface Group {
  writer: number;
  first: number;
  end: number;
}

/** Groups that lie end to end, each of a writer. */
const anyGroups = fc
  .array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 5 })), { maxLength: 30 })
  .map((list) => {
    const groups: Group[] = [];
    let end = 7;
    for (const [writer, rows] of list) {
      groups.push({ writer, first: end, end: end + rows });
      end += rows;
    }
    return groups;
  });

/** The groups by writer, each of them followed by a word that waits with it. */
class Rig {
  readonly order = new CommitOrder(4, 7);
  readonly said: string[] = [];
  readonly left: Group[][] = [[], [], [], []];

  constructor(groups: readonly Group[]) {
    for (const group of groups) this.left[group.writer]?.push(group);
  }

  /** Adds the next group of a writer, or of the next one that has some left. */
  add(writer: number): void {
    const lists = this.left.slice(writer).concat(this.left.slice(0, writer));
    const group = lists.find((list) => list.length > 0)?.shift();
    if (group === undefined) return;
    this.order.add(group.writer, () => void this.said.push(`group ${group.first}`), group);
    this.order.add(group.writer, () => void this.said.push(`outcome ${group.first}`));
  }
}

t.test('groups come in the order of their sequences, outcomes behind their groups', async () => {
  fc.assert(
    fc.property(anyGroups, fc.array(fc.nat(3), { maxLength: 60 }), (groups, turns) => {
      const rig = new Rig(groups);
      for (const writer of turns) rig.add(writer);
      for (const _ of groups) rig.add(0);
      const told = rig.said.filter((word) => word.startsWith('group'));
      const wanted = groups.map(({ first }) => `group ${first}`);
      if (told.join() !== wanted.join()) throw new Error(`${told.join()}, not ${wanted.join()}`);
      for (const { first } of groups) {
        const outcome = rig.said.indexOf(`outcome ${first}`);
        if (outcome < rig.said.indexOf(`group ${first}`))
          throw new Error(`${first} was told early`);
      }
      if (rig.said.length !== 2 * groups.length) throw new Error('something is left');
    }),
  );
});

t.test('what settles no group waits for its own worker alone', async (t) => {
  const order = new CommitOrder(2, 0);
  const said: string[] = [];
  order.add(1, () => void said.push('later group'), { first: 3, end: 5 });
  order.add(1, () => void said.push('behind it'));
  order.add(0, () => void said.push('other'));
  order.add(0, () => void said.push('usage'), { first: 0, end: 0 });
  t.same(said, ['other', 'usage']);
  order.add(0, () => void said.push('first group'), { first: 0, end: 3 });
  t.same(said, ['other', 'usage', 'first group', 'later group', 'behind it']);
});

t.test('nothing passes a group that is being closed off', async (t) => {
  const order = new CommitOrder(2, 0);
  const said: string[] = [];
  const closing = Promise.withResolvers<void>();
  order.add(0, () => closing.promise, { first: 0, end: 2 });
  order.add(0, () => void said.push('behind it'));
  order.add(1, () => void said.push('next group'), { first: 2, end: 3 });
  await new Promise((resolve) => setImmediate(resolve));
  t.same(said, []);
  closing.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  t.same(said, ['behind it', 'next group']);
});

t.test(
  'of a worker that died the groups stay, and its last claim is settled by its recovery',
  async (t) => {
    const order = new CommitOrder(2, 0);
    const said: string[] = [];
    order.add(0, () => void said.push('told'), { first: 2, end: 4 });
    order.add(0, () => void said.push('outcome'));
    order.forget(0);
    order.addLast(0, async () => void said.push('recovered'), { first: 6, end: 9 });
    order.add(1, () => void said.push('one'), { first: 0, end: 2 });
    order.add(1, () => void said.push('two'), { first: 4, end: 6 });
    order.add(1, () => void said.push('three'), { first: 9, end: 10 });
    t.same(said, ['one', 'told', 'two', 'recovered']);
    await new Promise((resolve) => setImmediate(resolve));
    t.same(said, ['one', 'told', 'two', 'recovered', 'three']);
    order.addLast(1, async () => void said.push('recovered too'), { first: 9, end: 10 });
    order.add(0, () => void said.push('four'), { first: 10, end: 11 });
    t.same(said.slice(5), ['recovered too', 'four'], 'a claim that was told is settled once');
  },
);
