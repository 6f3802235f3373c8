import t from 'tap';
import { FormulaError, formulaMetrics, parseFormula } from '../../server/language/formula.ts';

/** A formula with all its parentheses. */
function written(text: string): string {
  const write = (node: ReturnType<typeof parseFormula>): string => {
    if (node.type === 'number') return String(node.value);
    if (node.type === 'metric') return `[${node.id}]`;
    return `(${write(node.left)}${node.operator}${write(node.right)})`;
  };
  return write(parseFormula(text));
}

t.test('formulas bind as arithmetic does', async (t) => {
  const formulas: [string, string][] = [
    ['count', '[count]'],
    ['1 + 2 * 3', '(1+(2*3))'],
    ['(1 + 2) * 3', '((1+2)*3)'],
    ['8 / 4 / 2 - 1 - 1', '((((8/4)/2)-1)-1)'],
    ['-count * 2', '((-1*[count])*2)'],
    ['2--3', '(2-(-1*3))'],
    ['sum:custom.bytes / count', '([sum:custom.bytes]/[count])'],
    ['sum:custom.bytes/count', '([sum:custom.bytes]/[count])'],
    ['error-rate - 1.5e-3', '([error-rate]-0.0015)'],
    ['100*count', '(100*[count])'],
    ['"sum:custom.a b/c" + .5', '([sum:custom.a b/c]+0.5)'],
    ['5xx / 2', '([5xx]/2)'],
    ['sum:custom.@x', '[sum:custom.@x]'],
  ];
  for (const [text, tree] of formulas) t.equal(written(text), tree, text);
  t.same(formulaMetrics('(a + b) / a'), ['a', 'b', 'a']);
});

t.test('what is no formula is refused with the position', async (t) => {
  const refused: [string, RegExp][] = [
    ['', /position 0: expected a metric id/],
    ['1 +', /position 3: expected a metric id/],
    ['(1', /position 2: expected "\)"/],
    ['1 2', /position 2: expected an operator/],
    ['1 )', /position 2: expected an operator/],
    ['* 2', /position 0/],
    ['a + "b', /position 4/],
    ['1e999', /position 0: expected a smaller number/],
    ['('.repeat(1_000), /levels/],
    ['-'.repeat(1_000), /signs/],
    [Array(600).fill('1').join('+'), /at most 500/],
  ];
  for (const [text, message] of refused) {
    t.throws(() => parseFormula(text), { name: 'FormulaError', message }, text.slice(0, 20));
  }
  t.throws(() => formulaMetrics('a +'), FormulaError);
});
