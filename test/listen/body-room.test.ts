import t from 'tap';
import { BodyRoom, type InputBody } from '../../server/listen/body.ts';
import { FakeIntake } from '../support/fake-intake.ts';

const UNIT = 65_536;
/** Fills 16 units with what belongs behind it. */
const LARGE = 16 * UNIT - 64;

/** Room of so many units, with a clock that the test sets, and the names of those who gave way. */
function setUp(units: number) {
  const intake = new FakeIntake(units);
  const clock = { nowMs: 0 };
  const room = new BodyRoom(intake, () => clock.nowMs);
  const gone: string[] = [];
  const begin = (name: string, bytes?: number): InputBody | undefined =>
    room.begin(bytes, LARGE, () => gone.push(name));
  return { clock, gone, begin, room, slots: intake.thread.slots };
}

t.test('a body takes room for what has come, not for what was declared', async (t) => {
  const { begin, slots } = setUp(32);
  const body = begin('a', LARGE);
  t.equal(slots.freeBytes, 28 * UNIT);
  const chunk = Buffer.alloc(UNIT, 'x');
  for (let at = 0; at < 6; at++) t.equal(body?.add(chunk), 'taken');
  t.equal(slots.freeBytes, 24 * UNIT);
  for (let at = 6; at < 15; at++) t.equal(body?.add(chunk), 'taken');
  t.equal(slots.freeBytes, 16 * UNIT);
  const slot = body?.take();
  t.equal(slots.bytes.subarray(slot?.start).indexOf(0), 15 * UNIT);
  t.equal(begin('b')?.add(Buffer.alloc(LARGE + 1)), 'large');
});

t.test('when room lacks the slowest body gives way to new and to faster ones', async (t) => {
  const { begin, clock, gone } = setUp(16);
  const [slow, slower, fast] = [begin('slow', LARGE), begin('slower', LARGE), begin('fast', LARGE)];
  const full = begin('full', LARGE);
  slow?.add(Buffer.alloc(2_000));
  slower?.add(Buffer.alloc(1_000));
  fast?.add(Buffer.alloc(200_000));
  full?.add(Buffer.alloc(200_000));
  clock.nowMs = 999;
  t.equal(begin('early', LARGE), undefined, 'nobody is known to be slow yet');
  clock.nowMs = 1_000;
  const next = begin('next', LARGE);
  t.ok(next);
  t.same(gone, ['slower']);
  t.equal(slower?.add(Buffer.alloc(1)), 'full');
  full?.release();
  t.equal(fast?.add(Buffer.alloc(200_000)), 'taken');
  t.same(gone, ['slower'], 'what lies behind it is free');
  t.equal(fast?.add(Buffer.alloc(400_000)), 'full', 'nobody who gives way has as much');
  t.same(gone, ['slower', 'slow']);
});

t.test('the slowest body is refused itself when it needs more', async (t) => {
  const { begin, clock, gone } = setUp(8);
  const [slow, fast] = [begin('slow', LARGE), begin('fast', LARGE)];
  slow?.add(Buffer.alloc(100_000));
  fast?.add(Buffer.alloc(200_000));
  clock.nowMs = 1_000;
  t.equal(slow?.add(Buffer.alloc(170_000)), 'full');
  t.same(gone, []);
  t.equal(fast?.add(Buffer.alloc(170_000)), 'full');
  t.same(gone, ['slow'], 'it gives way, and what is free is not enough yet');
});

t.test('it is told how long bodies have found no room, until there is some', async (t) => {
  const { begin, clock, room } = setUp(4);
  const first = begin('first');
  t.equal(room.fullMs, 0, 'nobody was refused');
  clock.nowMs = 100;
  t.equal(begin('second'), undefined);
  clock.nowMs = 900;
  t.equal(begin('third'), undefined);
  t.equal(room.fullMs, 800);
  first?.release();
  t.equal(room.fullMs, 0);
});
