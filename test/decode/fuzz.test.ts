import fc from 'fast-check';
import t from 'tap';
import { BadBody, EventTooLarge } from '../../server/decode/body.ts';
import { Decoding } from '../support/decoding.ts';
import { seedOf } from '../support/seed.ts';

seedOf(t);

const SEEDS = [
  '{"date":"2016-05-10T15:48:47.123Z","http.status":200,"a":{"b":[1, 2],"c":"\\u00e9"},"message":"x"}',
  '{"a":1,"a.b":2,"syslog":{"x":null},"a":-0.5e3,"c.d":{},"e":true,"c.f":"\\ud83d\\ude00"}',
  'some text "quoted" k=v',
];
const BEFORE = '{"first":"\\n","a.b":1}';
const BEHIND = '{"last":[1, 2],"a.b":3}';
const BEFORE_EVENT = '{"custom":{"first":"\\n","a":{"b":1}}}';
const BEHIND_EVENT = '{"custom":{"last":[1,2],"a":{"b":3}}}';

/** Bytes without line feeds: random ones, or JSON in which some were changed, cut out or put in. */
const line = fc
  .oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc
      .tuple(
        fc.constantFrom(...SEEDS),
        fc.array(
          fc.tuple(
            fc.nat(),
            fc.nat(3),
            fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('{}[]",:\\.e-0'))),
          ),
        ),
      )
      .map(([seed, edits]) => {
        const bytes = [...Buffer.from(seed)];
        for (const [place, count, byte] of edits.slice(0, 6))
          bytes.splice(place % bytes.length, count, byte);
        return Uint8Array.from(bytes);
      }),
  )
  .map((bytes) => bytes.map((byte) => (byte === 0x0a ? 0x20 : byte)));

t.test('no line throws, and its neighbours come back untouched', async () => {
  let decoding = new Decoding();
  let runs = 0;
  fc.assert(
    fc.property(line, fc.boolean(), (bytes, unquotes) => {
      if (runs++ % 1000 === 0) decoding = new Decoding();
      decoding.decoder.unquotes = unquotes;
      decoding.line(bytes);
      const body = Buffer.concat([Buffer.from(`${BEFORE}\n`), bytes, Buffer.from(`\n${BEHIND}`)]);
      const events = decoding.lines(body);
      return events[0] === BEFORE_EVENT && events.at(-1) === BEHIND_EVENT && events.length <= 3;
    }),
    { numRuns: 5000 },
  );
});

t.test('a body of type JSON is read whole or refused whole, as JSON.parse would', async () => {
  let decoding = new Decoding();
  let runs = 0;
  fc.assert(
    fc.property(line, (bytes) => {
      if (runs++ % 1000 === 0) decoding = new Decoding();
      const body = Buffer.concat([Buffer.from(`[${BEFORE},`), bytes, Buffer.from(`,${BEHIND}]`)]);
      let isValid = true;
      try {
        JSON.parse(body.toString());
      } catch {
        isValid = false;
      }
      try {
        const events = decoding.json(body);
        return isValid && events[0] === BEFORE_EVENT && events.at(-1) === BEHIND_EVENT;
      } catch (error) {
        const isRefusal = error instanceof BadBody || error instanceof EventTooLarge;
        return isRefusal && !isValid && decoding.rows.rowCount === 0;
      }
    }),
    { numRuns: 5000 },
  );
});

t.test('a line is an event exactly when JSON.parse finds an object', async () => {
  let decoding = new Decoding();
  let runs = 0;
  fc.assert(
    fc.property(line, (bytes) => {
      if (runs++ % 1000 === 0) decoding = new Decoding();
      const [event] = decoding.line(bytes);
      const text = Buffer.from(bytes).toString();
      let isObject = false;
      try {
        isObject = /^[ \t\r\n]*\{/.test(text) && JSON.parse(text) !== null;
      } catch {
        isObject = false;
      }
      if (isObject) return event !== undefined;
      if (/^[ \t\r\n]*$/.test(text)) return event === undefined;
      return event === `{"custom":{},"message":${JSON.stringify(text)}}`;
    }),
    { numRuns: 5000 },
  );
});
