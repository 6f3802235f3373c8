import fc from 'fast-check';
import t from 'tap';
import { jsonFault, parseJsonBody } from '../../server/api/json.ts';
import { ApiError } from '../../server/api/reply.ts';

t.test('a syntax error is named by its position and what was expected', async (t) => {
  const texts: [string, number, string][] = [
    ['', 0, 'value'],
    [' \n', 2, 'value'],
    ['{', 1, 'name or }'],
    ['{"a":}', 5, 'value'],
    ['{"a":1,}', 7, 'name'],
    ['{"a" 1}', 5, ':'],
    ['{a:1}', 1, 'name or }'],
    ["{'a':1}", 1, 'name or }'],
    ['{"a":1]', 6, ', or }'],
    ['[1,]', 3, 'value'],
    ['[1 2]', 3, ', or ]'],
    ['[}', 1, 'value or ]'],
    ['{}x', 2, 'end'],
    ['01', 1, 'end'],
    ['"abc', 0, 'value'],
    ['["\\x"]', 1, 'value or ]'],
    ['"a\nb"', 0, 'value'],
    ['{"a":[1,{"b":tru}]}', 13, 'value'],
    ['[NaN]', 1, 'value or ]'],
  ];
  for (const [text, position, expected] of texts) {
    t.same(jsonFault(text), { position, expected }, text);
    const message = `the body is not JSON: at position ${position}: expected ${expected}`;
    t.throws(() => parseJsonBody(Buffer.from(text)), { status: 400, message });
  }
});

t.test('bodies are UTF-8, with or without a mark', async (t) => {
  t.same(parseJsonBody(Buffer.from('\ufeff{"a":"é"}')), { a: 'é' });
  t.throws(() => parseJsonBody(Uint8Array.of(0x22, 0xff, 0x22)), /not UTF-8/);
});

t.test('long strings and deep nesting cost no more than their length', async (t) => {
  const half = 400_000;
  t.ok(Array.isArray(parseJsonBody(Buffer.from('['.repeat(half) + ']'.repeat(half)))));
  t.same(jsonFault('['.repeat(half)), { position: half, expected: 'value or ]' });
  t.same(jsonFault(`"${'a\\n'.repeat(half)}`), { position: 0, expected: 'value' });
  t.same(jsonFault(`"${'a'.repeat(half)}`), { position: 0, expected: 'value' });
});

t.test('the fault of a cut text is where it was cut, or in the token there', async () => {
  const cuts = fc.tuple(fc.json(), fc.double({ min: 0, max: 1, noNaN: true }));
  fc.assert(
    fc.property(cuts, ([text, share]) => {
      const cut = text.slice(0, Math.floor(text.length * share));
      try {
        parseJsonBody(Buffer.from(cut));
        return true;
      } catch (error) {
        return (
          (error instanceof ApiError && jsonFault(cut).position <= cut.length) ||
          /not UTF-8/.test(String(error))
        );
      }
    }),
  );
});

t.test('what stands behind a whole text is the fault', async () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const fault = jsonFault(`${text} ]`);
      return fault.position === text.length + 1 && fault.expected === 'end';
    }),
  );
});
