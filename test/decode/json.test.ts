import fc from 'fast-check';
import t from 'tap';
import { compactJson, ValueScanner } from '../../server/decode/json.ts';

const scanner = new ValueScanner();

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isAccepted(text: string): boolean {
  const bytes = Buffer.from(text);
  return scanner.skip(bytes, 0, bytes.length) === bytes.length;
}

t.test('depth and blanks of a value are found', async (t) => {
  const table: [string, number, boolean][] = [
    ['1', 0, false],
    ['"a b"', 0, false],
    ['[]', 1, false],
    ['{}', 1, false],
    ['[ ]', 1, true],
    ['[1,2]', 1, false],
    ['[1, 2]', 1, true],
    ['[[1],[[2]]]', 3, false],
    ['{"a":{"b":[1]}}', 3, false],
    ['{"a" :1}', 1, true],
    ['[1 ]', 1, true],
  ];
  for (const [text, depth, hasBlanks] of table) {
    t.ok(isAccepted(text), text);
    t.equal(scanner.depth, depth, text);
    t.equal(scanner.hasBlanks, hasBlanks, text);
  }
});

t.test('an accepted value may be followed by something else', async (t) => {
  const bytes = Buffer.from('[1] x');
  t.equal(scanner.skip(bytes, 0, bytes.length), 3);
});

t.test('nothing is read behind the end', async (t) => {
  for (const text of ['"abc"', '[1,2]', 'true', '{"a":1}', '-1.5e3', '"\\u00e9"']) {
    const bytes = Buffer.from(text);
    for (let end = 0; end < bytes.length; end++) {
      const behind = scanner.skip(bytes, 0, end);
      t.ok(behind === -1 || (behind <= end && /^-\d/.test(text)), `${text} up to ${end}`);
    }
  }
});

t.test('a million nested arrays are read, more are refused', async (t) => {
  const nested = '['.repeat(1_000_000) + ']'.repeat(1_000_000);
  t.ok(isAccepted(nested));
  t.equal(scanner.depth, 1_000_000);
  t.notOk(isAccepted('['.repeat(1_000_000)));
  t.notOk(isAccepted('['.repeat(2_000_000) + ']'.repeat(2_000_000)));
  t.notOk(isAccepted('{"a":'.repeat(100_000)));
});

t.test('exactly what JSON.parse accepts is accepted', async () => {
  const token = fc.constantFrom(
    ...['{', '}', '[', ']', ',', ':', '"a"', '"\\n"', '"\\u12aF"', '"\\x"', '"\\u12"', '"', '\\'],
    ...['1', '-', '0', '.5', 'e1', 'true', 'false', 'null', 'nul', ' ', '\n', '\t', '\u0001', 'é'],
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 8 }), (tokens) => {
      const text = tokens.join('').trim();
      return isAccepted(text) === isJson(text);
    }),
    { numRuns: 3000 },
  );
  fc.assert(
    fc.property(
      fc.json(),
      fc.nat(),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      (json, place, character) => {
        const at = place % (json.length + 1);
        const broken = json.slice(0, at) + character + json.slice(at + 1);
        const text = broken.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '').toWellFormed();
        return isAccepted(json) && isAccepted(text) === isJson(text);
      },
    ),
    { numRuns: 1000 },
  );
});

t.test('compact JSON has the same value and no blanks between its tokens', async () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const bytes = Buffer.from(JSON.stringify(value, undefined, 2));
      const target = new Uint8Array(bytes.length);
      const end = compactJson(bytes, 0, bytes.length, target, 0);
      return Buffer.from(target.subarray(0, end)).toString() === JSON.stringify(value);
    }),
  );
});
