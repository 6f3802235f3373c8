import t from 'tap';
import { Crowd, type Member } from '../../server/listen/crowd.ts';

/** A connection that tells what was done to it. */
class Spy implements Member {
  readonly place: number;
  heldBytes = 0;
  isIdle = true;
  readonly done: string[] = [];

  constructor(crowd: Crowd, place = 0) {
    this.place = place;
    crowd.join(this);
  }

  refuse(): void {
    this.done.push('refused');
  }

  cut(): void {
    this.done.push('cut');
  }
}

t.test('who has brought no key ends 10 seconds after a line has begun', async (t) => {
  const crowd = new Crowd();
  const [idle, begun, later, known] = Array.from({ length: 4 }, () => new Spy(crowd));
  if (idle === undefined || begun === undefined || later === undefined || known === undefined)
    return;
  crowd.note(begun, true, 1_000);
  crowd.note(later, true, 5_000);
  crowd.note(later, false, 5_500);
  crowd.note(known, true, 1_000);
  crowd.know(known);
  crowd.sweep(10_999);
  t.same(begun.done, []);
  crowd.note(later, true, 6_000);
  crowd.note(begun, true, 10_999);
  crowd.sweep(11_000);
  t.same(
    [idle, begun, later, known].map(({ done }) => done),
    [[], ['refused'], [], []],
  );
  crowd.sweep(16_000);
  t.same(later.done, ['refused']);
  t.same(idle.done, [], 'one that sends nothing stays');
});

t.test(
  'for new connections the oldest idle one without a key ends, of a peer when it is said',
  async (t) => {
    const crowd = new Crowd();
    const spies = [0, 0, 1, 0].map((place) => new Spy(crowd, place));
    const [known, busy, other, last] = spies;
    if (known === undefined || busy === undefined || other === undefined || last === undefined)
      return;
    crowd.know(known);
    busy.isIdle = false;
    crowd.evict(0);
    t.same(
      spies.map(({ done }) => done.length),
      [0, 0, 0, 1],
    );
    crowd.evict();
    t.same(
      spies.map(({ done }) => done.length),
      [0, 0, 1, 1],
    );
    crowd.evict();
    t.same(
      spies.map(({ done }) => done.length),
      [0, 0, 1, 1],
      'there is none left',
    );
  },
);

t.test('the line that holds most is cut, of a peer when it is said', async (t) => {
  const crowd = new Crowd();
  const spies = [10, 30, 30, 20].map((heldBytes, at) => {
    const spy = new Spy(crowd, at === 3 ? 1 : 0);
    spy.heldBytes = heldBytes;
    crowd.note(spy, false, 0);
    return spy;
  });
  crowd.cutLargest();
  crowd.cutLargest(1);
  t.same(
    spies.map(({ done }) => done.length),
    [0, 1, 0, 1],
  );
  for (const spy of spies.slice(1)) crowd.leave(spy);
  crowd.cutLargest();
  t.same(
    spies.map(({ done }) => done.length),
    [1, 1, 0, 1],
  );
});
