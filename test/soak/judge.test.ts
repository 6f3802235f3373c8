import t from 'tap';
import { Maker, type Source } from './content.ts';
import { type FaultSort, Faults, Judge, recognise, type Sent } from './judge.ts';
import { Ledger } from './ledger.ts';
import { flatness } from './memory.ts';

const SOURCE: Source = {
  id: 1,
  name: 'one',
  kinds: ['access', 'application', 'wide', 'noise', 'large'],
};
const maker = new Maker(7, Date.UTC(2026, 0, 10));

/** A ledger of 100 events: 0 to 59 acknowledged, 60 to 79 a request without an answer, 80 to 99 refused. */
function sentHundred(): Sent {
  const ledger = new Ledger();
  ledger.settle({ first: ledger.take(60), count: 60, whole: true }, 'acknowledged');
  ledger.settle({ first: ledger.take(20), count: 20, whole: true }, 'unknown');
  ledger.settle({ first: ledger.take(20), count: 20, whole: true }, 'refused');
  return { source: SOURCE, ledger };
}

/** The line of an export. */
function lineOf(number: number): string {
  const { date, stored } = maker.make(SOURCE, number);
  return `{"id":"abc_-${number}","date":"${date}","event":${stored}}`;
}

/** Numbers in the order of an export: by date, then as they were sent. */
function inOrder(count: number): number[] {
  const numbers = Array.from({ length: count }, (_, number) => number);
  return numbers.sort((a, b) => maker.dateMs(SOURCE, a) - maker.dateMs(SOURCE, b) || a - b);
}

function judged(numbers: readonly number[], line = lineOf): [FaultSort, number][] {
  const faults = new Faults();
  const judge = new Judge(maker, new Map([[SOURCE.name, sentHundred()]]), faults);
  for (const number of numbers) judge.take(line(number));
  judge.finish();
  return [...faults.counts];
}

t.test('an event is made of its number alone, and is JSON', async (t) => {
  const again = new Maker(7, Date.UTC(2026, 0, 10));
  for (let number = 0; number < 40; number++) {
    const made = maker.make(SOURCE, number);
    t.same(again.make(SOURCE, number), made);
    const { message, ...custom } = JSON.parse(made.line);
    const stored = message === undefined ? { custom } : { custom, message };
    t.same(JSON.parse(made.stored), stored);
    t.equal(custom.number, number);
  }
});

t.test('what was acknowledged must be there, what got no answer may', async (t) => {
  t.same(judged(inOrder(60)), []);
  t.same(judged(inOrder(80)), []);
});

t.test('every fault is found', async (t) => {
  const all = inOrder(80);
  t.same(judged(all.filter((number) => number !== 5)), [['lost', 1]], 'an event is missing');
  t.same(judged(all.filter((number) => number !== 70)), [['lost', 1]], 'a part of a request');
  t.same(judged(inOrder(81)), [['unsent', 1]], 'what was refused is there');
  t.same(
    judged(all.flatMap((number) => (number === 9 ? [9, 9] : [number]))),
    [['twice', 1]],
    'an event is there twice',
  );
  const swapped = [...all];
  const at = swapped.indexOf(10);
  [swapped[at], swapped[at + 1]] = [swapped[at + 1], swapped[at]];
  t.same(judged(swapped), [['disordered', 1]], 'two events of a date in the wrong order');
  t.same(judged([...all].reverse())[0][0], 'disordered', 'dates that descend');
  const changed = (number: number): string =>
    number === 12 ? lineOf(12).replace('optional_', 'optionel_') : lineOf(number);
  t.same(
    judged(all, changed),
    [
      ['changed', 1],
      ['lost', 1],
    ],
    'another name of an attribute',
  );
  t.same(judged([...all, 100]), [['unsent', 1]], 'a number that was never given out');
});

t.test('an answer that is partial is a fault', async (t) => {
  const faults = new Faults();
  const sources = new Map([[SOURCE.name, sentHundred()]]);
  recognise('{"damaged":{"blocks":1}}', maker, sources, faults);
  t.same([...faults.counts], [['partial', 1]]);
  t.equal(faults.toString(), '1 partial');
});

t.test('growth is that of the whole, whatever single samples do', async (t) => {
  const samples = (rss: (minute: number) => number) =>
    Array.from({ length: 60 }, (_, minutes) => ({
      minutes,
      events: 0,
      threads: 5,
      heap: 0,
      outside: 0,
      rss: rss(minutes),
    }));
  const growth = (rss: (minute: number) => number): number =>
    flatness(samples(rss), 10, (sample) => sample.rss);
  t.equal(
    growth((minute) => (minute < 10 ? minute : 300)),
    0,
  );
  t.equal(
    growth((minute) => (minute % 7 === 0 ? 500 : 300)),
    0,
  );
  t.ok(growth((minute) => 300 + minute) > 0.1);
  t.equal(
    flatness([], 10, () => 1),
    0,
    'nothing was measured',
  );
});
