import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import t from 'tap';
import { makeSequences, Sequences } from '../../engine/store/sequences.ts';

const MODULE = new URL('../../engine/store/sequences.ts', import.meta.url).href;

/** Runs `body` in a thread that has the counter as `sequences`; resolves with what it posts, or with its end. */
function inThread(shared: SharedArrayBuffer, body: string): Promise<unknown> {
  const code = `
    import { parentPort, workerData } from 'node:worker_threads';
    import { Sequences } from '${MODULE}';
    const sequences = new Sequences(workerData);
    ${body}`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const thread = new Worker(url, { workerData: shared });
  return new Promise((resolve, reject) => {
    thread.on('message', resolve);
    thread.on('exit', () => resolve(undefined));
    thread.on('error', reject);
  });
}

t.test('claims of many threads lie end to end', async (t) => {
  const shared = makeSequences(4, 1_000);
  const lists = await Promise.all(
    [0, 1, 2, 3].map((writer) =>
      inThread(
        shared,
        `const claims = [];
        for (let n = 0; n < 20_000; n++) claims.push(sequences.claim(${writer}, 1 + (n % 5)));
        parentPort.postMessage(claims);`,
      ),
    ),
  );
  const claims = (lists as { first: number; end: number }[][]).flat();
  claims.sort((a, b) => a.first - b.first);
  let end = 1_000;
  let gaps = 0;
  for (const claim of claims) {
    if (claim.first !== end) gaps++;
    end = claim.end;
  }
  t.equal(gaps, 0);
  t.equal(end, 1_000 + 4 * 20_000 * 3);
});

t.test('the last claim of a writer that died is known, and the others go on', async (t) => {
  const sequences = new Sequences(makeSequences(3, 5));
  t.same(sequences.claimOfDead(1), { first: 0, end: 0 }, 'it made none');
  sequences.claim(0, 2);
  sequences.claim(1, 3);
  t.same(sequences.claim(2, 1), { first: 10, end: 11 });
  t.same(sequences.claimOfDead(1), { first: 7, end: 10 });
  t.same(sequences.claimOfDead(0), { first: 5, end: 7 });
});

t.test('a writer that dies at any place of a claim leaves a claim whole, or none', async () => {
  // What is in memory after so many of the steps of `claim`, the lock held: first, end, the counter itself.
  const property = fc.property(
    fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 4 }),
    fc.integer({ min: 1, max: 9 }),
    fc.nat(3),
    (before, rows, steps) => {
      const shared = makeSequences(2, 100);
      const sequences = new Sequences(shared);
      let last = { first: 0, end: 0 };
      for (const count of before) last = sequences.claim(1, count);
      const numbers = new Float64Array(shared, 8);
      const [next = 0] = numbers;
      new Int32Array(shared, 0, 1)[0] = 2;
      if (steps > 0) numbers[3] = next;
      if (steps > 1) numbers[4] = next + rows;
      if (steps > 2) numbers[0] = next + rows;
      const found = sequences.claimOfDead(1);
      const after = sequences.claim(0, 1);
      const wanted =
        steps === 3 ? { first: next, end: next + rows } : steps === 0 ? last : undefined;
      if (after.first !== (steps === 3 ? next + rows : next))
        throw new Error(`on from ${after.first}`);
      if (wanted === undefined && found.first !== found.end) throw new Error('a claim nobody made');
      if (wanted !== undefined && found.first !== wanted.first) throw new Error('not its claim');
      if (wanted !== undefined && found.end !== wanted.end) throw new Error('not its whole claim');
    },
  );
  fc.assert(property);
});

t.test('whoever waits for a dead writer goes on when it is known to be dead', async (t) => {
  const shared = makeSequences(2, 0);
  const lock = new Int32Array(shared, 0, 1);
  Atomics.store(lock, 0, 2);
  const waiting = inThread(shared, 'parentPort.postMessage(sequences.claim(0, 4));');
  new Sequences(shared).claimOfDead(1);
  t.same(await waiting, { first: 0, end: 4 });
});

t.test('sequences end at 2^48', async (t) => {
  const sequences = new Sequences(makeSequences(1, 2 ** 48 - 2));
  t.throws(() => sequences.claim(0, 3), { code: 'LIMIT' });
  t.same(sequences.claim(0, 2), { first: 2 ** 48 - 2, end: 2 ** 48 });
});
