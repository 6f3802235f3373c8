import t from 'tap';
import { textCell, valueCell } from '../../server/query/answer/csv.ts';

t.test('a cell is in quotes when it has to be', async (t) => {
  t.equal(textCell('plain text; no need', false), 'plain text; no need');
  t.equal(textCell('a,b', false), '"a,b"');
  t.equal(textCell('say "x"', false), '"say ""x"""');
  t.equal(textCell('two\nlines', false), '"two\nlines"');
  t.equal(textCell('', false), '""');
});

t.test('values are cells by their kind, and null is not the empty string', async (t) => {
  const cells = ['null', '""', '"a\\"b\\u00e9\\n"', '0.610', '-5', 'true', '[1,"x"]', '{"a":1}'];
  t.same(
    cells.map((json) => valueCell(json, true)),
    ['', '""', '"a""bé\n"', '0.610', '-5', 'true', '"[1,""x""]"', '"{""a"":1}"'],
  );
});

t.test(
  'a quote stands before what a spreadsheet computes only when cells are to be safe',
  async (t) => {
    for (const text of ['=1+1', '+1', '-1', '@x', '\tx']) {
      t.equal(textCell(text, false), text);
      t.equal(textCell(text, true), `'${text}`);
      t.equal(valueCell(JSON.stringify(text), true), `'${text}`);
    }
    t.equal(textCell('\r=1', true), `"'\r=1"`);
    t.equal(textCell('a=1', true), 'a=1');
  },
);
