import t from 'tap';
import { send, testService } from '../support/service.ts';
import { openTail, type TailClient } from '../support/tail-client.ts';

const EAGER = ['--seal-rows', '300', '--seal-idle-minutes', '0', '--ingest-workers', '2'];

const service = await testService(t, EAGER);
let sentCount = 0;

/** Sends requests of a few events, which are numbered on, a few at once. */
async function sendSome(requests: number): Promise<void> {
  const one = async (): Promise<void> => {
    const from = sentCount;
    sentCount += 7;
    const body = Array.from({ length: 7 }, (_, index) => ({ n: from + index }));
    const answer = await send(service, JSON.stringify(body));
    if (answer.status !== 200) throw new Error(answer.text);
  };
  for (let request = 0; request < requests; request += 4) await Promise.all([1, 2, 3, 4].map(one));
}

/** How often segments were sealed or merged so far. */
function sealings(): number {
  return service.output().split('segments were sealed').length - 1;
}

/** Sends events until segments were sealed some more times. */
async function sealMore(times: number): Promise<void> {
  const wanted = sealings() + times;
  while (sealings() < wanted) {
    await sendSome(20);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function hasAll(tail: TailClient, from: number): Promise<void> {
  return tail.until(() => tail.data().length >= sentCount - from, `event ${sentCount}`);
}

t.test('sealing and merging show nothing twice and hide nothing', async (t) => {
  const tail = await openTail(service, { limit_per_second: '2000' });
  await sealMore(3);
  await hasAll(tail, 0);
  await sealMore(1);
  await hasAll(tail, 0);
  t.equal(tail.data().length + tail.dropped(), sentCount);
  t.equal(new Set(tail.numbers()).size, sentCount);
  tail.close();
});

t.test('a tail goes on over what was sealed meanwhile, from any event', async (t) => {
  const from = sentCount;
  const first = await openTail(service, { limit_per_second: '2000' });
  await sendSome(60);
  await hasAll(first, from);
  first.close();
  await sealMore(2);
  for (const at of [0, 100, first.messages.length - 1]) {
    const before = new Set(first.numbers().slice(0, at + 1));
    const tail = await openTail(service, { last_event_id: first.messages[at].id });
    await tail.until(() => tail.data().length + before.size >= sentCount - from, 'all');
    const numbers = tail.numbers();
    t.equal(numbers.length + before.size, sentCount - from, 'nothing is repeated');
    t.equal(new Set([...numbers, ...before]).size, sentCount - from, 'nothing is missing');
    tail.close();
  }
});

t.test('a tail that is cut again and again has every event once', async (t) => {
  const from = sentCount;
  let tail = await openTail(service, { limit_per_second: '2000' });
  const numbers: number[] = [];
  for (let cut = 0; cut < 20; cut++) {
    await sendSome(12);
    const { length } = tail.messages;
    // The last ones of what has come are as if they were lost on the way.
    const kept = Math.floor((length * (cut % 4)) / 3);
    numbers.push(...tail.numbers().slice(0, kept));
    const id = kept === 0 ? tail.firstId : tail.messages[kept - 1].id;
    tail.close();
    tail = await openTail(service, { last_event_id: id, limit_per_second: '2000' });
  }
  await tail.until(() => numbers.length + tail.data().length >= sentCount - from, 'all');
  numbers.push(...tail.numbers());
  t.same(
    numbers.toSorted((a, b) => a - b),
    Array.from({ length: sentCount - from }, (_, index) => from + index),
  );
  tail.close();
});
