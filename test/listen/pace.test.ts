import t from 'tap';
import { Pace } from '../../server/listen/turn/pace.ts';

interface Made {
  it: Pace;
  nowMs: number;
  rested: number;
}

function makePace(): Made {
  const made = { nowMs: 1_000, rested: 0 };
  const it = new Pace({
    monotonicMs: () => made.nowMs,
    rest: () => {
      made.rested++;
    },
  });
  return Object.assign(made, { it });
}

/** Senders whose next bodies come when all of them were answered. */
interface Fleet {
  senders: number;
  /** Milliseconds between turns of the event loop, and bodies that each brings. */
  everyMs: number;
  bodies?: number;
}

/** How often a pace rests in so many turns. */
function rests(turns: number, fleet: Fleet, pace = makePace()): number {
  const { senders, everyMs, bodies = 1 } = fleet;
  const { rested } = pace;
  let waiting = 0;
  for (let turn = 0; turn < turns; turn++) {
    if (waiting >= senders) waiting = 0;
    pace.nowMs += everyMs;
    waiting += bodies;
    pace.it.turned(bodies, waiting);
  }
  return pace.rested - rested;
}

t.test('a loop rests while bodies of many senders come one by one', async (t) => {
  const pace = makePace();
  rests(1_000, { senders: 64, everyMs: 0.06 }, pace);
  t.equal(rests(640, { senders: 64, everyMs: 0.06 }, pace), 630, 'not when all of them have come');
  t.equal(rests(1_000, { senders: 64, everyMs: 0.25 }), 0, '4,000 a second');
  t.equal(rests(1_000, { senders: 64, everyMs: 1, bodies: 16 }), 0, 'a turn brings many');
  t.equal(rests(1_000, { senders: 16, everyMs: 0.06 }), 0, 'all come within a millisecond');
  t.equal(rests(1, { senders: 1, everyMs: 0 }), 0, 'the first body');
});

t.test('a loop rests no more when bodies come seldom again', async (t) => {
  const pace = makePace();
  t.ok(rests(1_000, { senders: 64, everyMs: 0.06 }, pace) > 700);
  t.equal(rests(10, { senders: 64, everyMs: 100 }, pace), 0);
});
