import fc from 'fast-check';
import t from 'tap';
import { makeTemplates } from '../../server/decode/template/templates.ts';
import type { BodyTask } from '../../server/ingest/protocol.ts';
import { isSmallBody, JoinedBodies, SMALL_BYTES } from '../../server/ingest/turns/joined-bodies.ts';
import { Decoding, RECEIVED_MS } from '../support/decoding.ts';
import { referenceOf } from '../support/twice.ts';

/** Bodies in a memory, each with bytes of others behind it. */
function place(
  bodies: readonly Uint8Array[],
  facts: Partial<BodyTask> = {},
): { memory: Uint8Array; tasks: BodyTask[] } {
  const tasks: BodyTask[] = [];
  const parts: Uint8Array[] = [];
  let start = 0;
  for (const [task, body] of bodies.entries()) {
    const key = { id: 'key', cell: 1 };
    const plain = { type: 'body', channel: 'http', form: 'lines', enrichment: undefined } as const;
    const place = { task, start, bytes: body.length, key, receivedMs: RECEIVED_MS };
    tasks.push({ ...plain, ...place, ...facts });
    parts.push(body, Buffer.from('{"of":"another"}\n'));
    start += body.length + 17;
  }
  return { memory: Buffer.concat(parts), tasks };
}

function decoding(): Decoding {
  const made = new Decoding();
  const { paths, decoder } = made;
  const fault = (error: Error): void => {
    throw error;
  };
  const counts = { rows: 0, faults: 0 };
  decoder.known.templates = makeTemplates(paths, referenceOf(paths), counts, fault);
  return made;
}

t.test('bodies of lines that are read as one have the events of each', async () => {
  const line = fc.oneof(
    fc.record({ a: fc.integer(), b: fc.string() }).map((event) => JSON.stringify(event)),
    fc.constantFrom(
      '',
      ' ',
      '\r',
      'text',
      '{"a":1,"b":2}\r',
      '{"a":',
      '<14>1 - - - - - - x',
      '[1]',
    ),
    fc.string(),
  );
  const body = fc.record({ lines: fc.array(line, { maxLength: 6 }), ends: fc.boolean() });
  const together = decoding();
  const alone = decoding();
  fc.assert(
    fc.property(fc.array(body, { minLength: 1, maxLength: 8 }), (made) => {
      const bodies = made.map(({ lines, ends }) =>
        Buffer.from(lines.join('\n') + (ends ? '\n' : '')),
      );
      const { memory, tasks } = place(bodies);
      const joined = new JoinedBodies(memory);
      const taken = tasks.filter((task) => joined.joins(task, task, 0));
      const wanted = taken.map(({ task }) => alone.lines(bodies[task]));
      const counts: number[] = [];
      together.decoder.begin(joined.join(taken), RECEIVED_MS, undefined);
      together.decoder.readLinesOf(joined.ends, counts);
      const events = together.events();
      const found = counts.map((count) => events.splice(0, count));
      return JSON.stringify([found, events]) === JSON.stringify([wanted, []]);
    }),
  );
});

t.test('bodies are read as one that have one key and need nothing but decoding', async (t) => {
  const first = Buffer.from('{"a":1}\n');
  const joins = (body: string | Uint8Array, facts: Partial<BodyTask> = {}, bytes = 8): boolean => {
    const { memory, tasks } = place([Buffer.from(body)], facts);
    return new JoinedBodies(memory).joins(place([first]).tasks[0], tasks[0], bytes);
  };
  t.ok(joins('b\n'));
  t.ok(joins('b'), 'its last line has no end');
  t.notOk(joins('b\r'), 'this is a part of the line, as no line feed follows');
  t.notOk(joins(Buffer.from([0xef, 0xbb, 0xbf, 0x61])), 'a byte order mark');
  t.notOk(joins(''));
  t.notOk(joins('b\n', { form: 'json' }), 'may have faults');
  t.notOk(joins('b\n', { key: { id: 'other', cell: 2 } }));
  t.notOk(joins('b\n', { channel: 'https' }));
  t.ok(joins('b\n', { receivedMs: RECEIVED_MS + 4 }));
  t.notOk(joins('b\n', { receivedMs: RECEIVED_MS + 5 }), 'it came later');
  t.notOk(joins('b\n', { enrichment: { attributes: [] } }));
  t.notOk(joins('b\n', { dry: {} }));
  t.notOk(joins('b\n', { compression: { encoding: 'gzip', bytesMax: 9 } }));
  t.notOk(joins('x'.repeat(SMALL_BYTES + 1)));
  t.notOk(joins('b\n', {}, 131_070), 'others wait');
});

t.test('a small body is one that is read in one go', async (t) => {
  const [task] = place([Buffer.from('a')]).tasks;
  t.ok(isSmallBody(task));
  t.ok(isSmallBody({ ...task, form: 'json' }));
  t.notOk(isSmallBody({ ...task, form: 'frames' }));
  t.notOk(isSmallBody({ ...task, bytes: SMALL_BYTES + 1 }));
  t.notOk(isSmallBody({ ...task, dry: {} }));
});
