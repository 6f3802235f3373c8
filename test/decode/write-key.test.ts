import t from 'tap';
import { compileStep } from '../../server/extend/compile.ts';
import { Extender } from '../../server/extend/extender.ts';
import type { ExtensionAction } from '../../server/extend/extension.ts';
import { Decoding } from '../support/decoding.ts';

const KEY = 'AbcdefghijklmnopqrstuV';
const isWriteKey = (bytes: Uint8Array, start: number, end: number): boolean =>
  Buffer.from(bytes.subarray(start, end)).toString() === KEY;

/** Knows one write key; extends events when it is told how. */
function knowing(...actions: ExtensionAction[]): Decoding {
  const decoding = new Decoding();
  const { decoder, paths, rows } = decoding;
  decoder.isWriteKey = isWriteKey;
  const steps = actions.map((action) =>
    compileStep({
      ...{ id: action.kind, action, predicate: { type: 'all' } },
      ...{ sources: ['message'], target: undefined },
    }),
  );
  const extender = new Extender(steps, paths, rows, decoder.counters, {
    failed: (id, error) => t.fail(`${id}: ${error}`),
    isWriteKey,
  });
  if (steps.length > 0) decoder.extension = (hasDate) => extender.extendRow(hasDate);
  return decoding;
}

const HEADS = ['<13>1 2026-11-21T11:12:13Z h a - - - ', '<13>Nov 21 11:12:13 h a: ', '<13>'];
const wide = Array.from({ length: 1200 }, (_, place) => `"k${place}":${place}`).join(',');

t.test('a write key as logmaticKey is in no event, however it comes', async (t) => {
  const object = `{"logmaticKey":"${KEY}","a":1}`;
  const bodies = [
    object,
    `{"a":1,"logmaticKey":"${KEY}"}`,
    `{"logmaticKey":"\\u0041${KEY.slice(1)}","a":1}`,
    `{"logmatic\\u004bey":"${KEY}","a":1}`,
    `{"a":1,"logmaticKey":"x","logmaticKey":"${KEY}"}`,
    `{"a.b":1,"logmaticKey":"${KEY}","a":1,"message":"of ${KEY}"}`,
    `{${wide},"a":1,"logmaticKey":"${KEY}"}`,
    `{"logmaticKey":"${KEY}","a":1,"b":["${KEY}"]}`,
  ];
  for (const head of HEADS) {
    bodies.push(`${head}${object}`, `${head}before ${object} behind`);
    bodies.push(`${head}logmaticKey=${KEY} a=1`, `${head}a=1, logmaticKey="${KEY}"; text`);
    bodies.push(`${head}a.b=1 logmaticKey='${KEY}' a=1`);
  }
  for (const body of bodies) {
    for (const [event] of [knowing().line(body), knowing().lines(body)]) {
      t.notMatch(event, KEY, body);
      t.match(event, /"a\\?":|"a\.b":/, 'all else stays');
    }
  }
  t.same(knowing().lines(`${HEADS[2]}logmaticKey=${KEY} a=1`), [
    '{"custom":{"a":1},"syslog":{"prival":13,"severity":5,"facility":1},"message":"logmaticKey=*** a=1"}',
  ]);
  const array = `[${object},"${HEADS[0]}logmaticKey=${KEY} a=1"]`;
  t.notMatch(knowing().json(array).join(), KEY);
});

t.test('extensions give no event a write key', async (t) => {
  const json = knowing({ kind: 'json' });
  t.same(json.lines(`see {"logmaticKey":"${KEY}","a":1}`), [
    '{"custom":{"a":1},"message":"see {\\"logmaticKey\\":\\"***\\",\\"a\\":1}"}',
  ]);
  const rules = 'one key %{notSpace:logmaticKey} end';
  const grok = knowing({ kind: 'grok', rules, helperRules: '' });
  t.same(grok.lines(`key ${KEY} end`), ['{"custom":{},"message":"key *** end"}']);
  const pairs = knowing({ kind: 'keyvalue' });
  t.same(pairs.lines(`logmaticKey=${KEY} a=1`), [
    '{"custom":{"a":1},"message":"logmaticKey=*** a=1"}',
  ]);
});

t.test('a logmaticKey that is no write key stays', async (t) => {
  for (const body of [
    '{"logmaticKey":"other","message":"m"}',
    '{"logmaticKey":null}',
    '{"logmaticKey":["x"]}',
  ])
    t.match(knowing().lines(body)[0], JSON.stringify(JSON.parse(body).logmaticKey), body);
  t.match(knowing().lines(`${HEADS[0]}logmaticKey=other`)[0], '"logmaticKey":"other"');
});
