import fc from 'fast-check';
import t from 'tap';
import { NUMBER_AS_TEXT } from '../../engine/column/rows.ts';
import { scanNumber } from '../../server/decode/number.ts';

function scan(text: string): { behind: number; value: number; detail: number } {
  const result = { value: -1, detail: -1 };
  const bytes = Buffer.from(text);
  const behind = scanNumber(bytes, 0, bytes.length, result);
  return { behind, ...result };
}

t.test('a plain number is its mantissa and its count of fraction digits', async (t) => {
  const table: [string, number, number][] = [
    ['0', 0, 0],
    ['7', 7, 0],
    ['-12', -12, 0],
    ['0.610', 610, 3],
    ['0.0', 0, 1],
    ['-3.25', -325, 2],
    ['9007199254740991', 9007199254740991, 0],
    ['0.009007199254740991', 9007199254740991, 18],
  ];
  for (const [text, value, detail] of table) {
    t.same(scan(text), { behind: text.length, value, detail }, text);
  }
});

t.test('a number that these would not print back counts as its text', async (t) => {
  const table: [string, number][] = [
    ['-0', 0],
    ['-0.00', 0],
    ['1e3', 1000],
    ['1E+3', 1000],
    ['25e-1', 2.5],
    ['9007199254740992', 9007199254740992],
    ['12345678901234567890', Number('12345678901234567890')],
    ['0.12345678901234567', Number('0.12345678901234567')],
    [`0.${'0'.repeat(30)}1`, 1e-31],
    ['1e999', Number.MAX_VALUE],
    ['-1e999', -Number.MAX_VALUE],
  ];
  for (const [text, value] of table) {
    const found = scan(text);
    t.same(found, { behind: text.length, value, detail: NUMBER_AS_TEXT }, text);
    t.not(Object.is(found.value, -0), true, `${text} is not a negative zero`);
  }
});

t.test('what is no JSON number is refused', async (t) => {
  for (const text of ['', '-', '01', '00', '-01', '.5', '1.', '1.e3', '1e', '1e+', '+1', 'x']) {
    t.equal(scan(text).behind, -1, text);
  }
});

t.test('a number ends where its grammar does, and never behind the end of its text', async (t) => {
  t.equal(scan('12,').behind, 2);
  t.equal(scan('1.5]').behind, 3);
  t.equal(scan('0x').behind, 1);
  const result = { value: 0, detail: 0 };
  t.equal(scanNumber(Buffer.from('12345'), 0, 2, result), 2);
  t.equal(result.value, 12);
});

t.test('every number comes back from its parts or is kept as text', async () => {
  const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,18})(\.\d{1,12})?$/);
  fc.assert(
    fc.property(digits, (text) => {
      const { value, detail } = scan(text);
      if (detail === NUMBER_AS_TEXT) return value === Number(text) + 0;
      const sign = value < 0 ? '-' : '';
      const all = String(Math.abs(value)).padStart(detail + 1, '0');
      const whole = all.slice(0, all.length - detail);
      const fraction = all.slice(all.length - detail);
      return text === sign + whole + (detail > 0 ? `.${fraction}` : '');
    }),
  );
});
