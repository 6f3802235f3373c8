import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import { isGzip, packed, wholeText } from '../../server/query/gzip.ts';
import type { JobAnswer } from '../../server/query/job.ts';
import type { QueryUnits } from '../../server/query/scheduler.ts';

/** The units of an answer; without texts there is none. */
function* answerOf(...texts: string[]): QueryUnits<JobAnswer> {
  yield undefined;
  return texts.length === 0 ? undefined : texts.map((text) => new TextEncoder().encode(text));
}

t.test('a large answer becomes one gzip member of the whole reply, piece by piece', async (t) => {
  const large = JSON.stringify(Array.from({ length: 9_000 }, (_, n) => `é ${n} ${n * 7_919}`));
  for (const pieces of [[large], [large.slice(0, 70_001), large.slice(70_001), ' ']]) {
    const units = packed(answerOf(...pieces));
    let count = 0;
    let step = units.next();
    for (; step.done !== true; step = units.next()) count++;
    const answer = step.value ?? [];
    t.ok(isGzip(answer));
    t.equal(gunzipSync(Buffer.concat(answer)).toString(), `{"result":${pieces.join('')}}`);
    t.ok(count >= pieces.length, 'a piece is a unit');
    t.ok(
      answer.every(({ byteLength, buffer }) => buffer.byteLength === byteLength, 'may be moved'),
    );
  }
});

t.test('a small answer stays as it is, and so does none', async (t) => {
  const small = finished(packed(answerOf(`"${'x'.repeat(998)}"`))) ?? [];
  t.notOk(isGzip(small));
  t.equal(Buffer.concat(wholeText(small)).toString(), `{"result":"${'x'.repeat(998)}"}`);
  t.ok(isGzip(finished(packed(answerOf(`"${'x'.repeat(999)}"`))) ?? []));
  t.equal(finished(packed(answerOf())), undefined);
});
