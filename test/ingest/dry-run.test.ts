import t from 'tap';
import type { Predicate } from '../../engine/query/model/predicate.ts';
import { compileStep } from '../../server/extend/compile.ts';
import { dryRun } from '../../server/ingest/dry-run.ts';
import type { BodyForm } from '../../server/ingest/protocol.ts';
import { RECEIVED_MS } from '../support/decoding.ts';

const ALL: Predicate = { type: 'all' };

function run(body: string, form: BodyForm, kinds: ('keyvalue' | 'json')[] = []) {
  const steps = kinds.map((kind) =>
    compileStep({
      ...{ id: kind, action: { kind }, predicate: ALL },
      ...{ sources: ['message'], target: undefined },
    }),
  );
  const task = { form, receivedMs: RECEIVED_MS, enrichment: undefined };
  const failures: string[] = [];
  const outcome = dryRun(task, Buffer.from(body), steps, { failed: (id) => failures.push(id) });
  t.same(failures, []);
  return outcome;
}

t.test('a dry run tells of each event what found something in it', async (t) => {
  t.match(run('a=1 {"b":2}\nplain\n{"c":3}', 'lines', ['keyvalue', 'json']), {
    events: [
      {
        timeMs: RECEIVED_MS,
        event: '{"custom":{"a":1,"b":2},"message":"a=1 {\\"b\\":2}"}',
        matches: [{ extension: 'keyvalue' }, { extension: 'json' }],
      },
      { event: '{"custom":{},"message":"plain"}', matches: [] },
      { event: '{"custom":{"c":3}}', matches: [] },
    ],
    tookMs: Number,
  });
});

t.test('what began like JSON and is text is told as that', async (t) => {
  const outcome = run('{"message":"a=1"}\n{"message":"b"}\n{"message":"c=1', 'auto', ['keyvalue']);
  t.match(outcome, {
    events: [
      { event: '{"custom":{"a":1},"message":"a=1"}', matches: [{ extension: 'keyvalue' }] },
      { matches: [] },
      { event: /^\{"custom":\{.*"message":"\{\\"message/ },
    ],
  });
  t.equal('events' in outcome && outcome.events[0].matches.length, 1, 'not twice');
});

t.test('too many events and too long ones are refused', async (t) => {
  t.match(run('x\n'.repeat(101), 'lines'), { status: 413, message: /allowed: 100$/ });
  t.match(run('x\n'.repeat(100), 'lines'), { tookMs: Number });
  // Control characters take six times as many characters in JSON.
  const escaped = `a="${'\u0001'.repeat(900_000)}"\n`;
  t.match(run(escaped.repeat(2), 'lines', ['keyvalue']), {
    status: 413,
    message: /too long for a dry run; allowed: 16777216 characters/,
  });
});

t.test('a body that is malformed is refused as ever', async (t) => {
  t.throws(() => run('[{"a":1},', 'json'), { name: 'BadBody' });
});
