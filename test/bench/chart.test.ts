import t from 'tap';
import { groupedBars, growthPanels, ratioBars, stepPanels } from '../../bench/report/chart.ts';

/** The texts of an SVG, after a look at it as XML: tags nest and close, attributes are quoted, entities are known. */
function textsOf(svg: string): string[] {
  const open: string[] = [];
  const texts: string[] = [];
  const token =
    /<(\/?)([\w:]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|<!\[CDATA\[[\s\S]*?\]\]>|<!--[\s\S]*?-->|([^<]+)/y;
  while (token.lastIndex < svg.length) {
    const at = token.lastIndex;
    const match = token.exec(svg);
    if (match === null) throw new Error(`no XML at ${at}: ${svg.slice(at, at + 60)}`);
    const [, closing, name, attributes = '', alone, text = ''] = match;
    const bare = /&(?!(amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);)/i.exec(attributes + text);
    if (bare !== null) throw new Error(`a bare ampersand at ${at}`);
    if (/NaN|undefined/.test(attributes)) throw new Error(`no number at ${at}: ${attributes}`);
    if (text.trim() !== '') texts.push(text);
    if (name === undefined || alone === '/') continue;
    if (closing !== '/') open.push(name);
    else if (open.pop() !== name) throw new Error(`</${name}> at ${at} closes another`);
  }
  if (open.length > 0) throw new Error(`${open.join(', ')} is open at the end`);
  return texts;
}

t.test('bars of ratios are an SVG with their names and values', async (t) => {
  const texts = textsOf(
    ratioBars({ text: 'Ours & theirs', note: 'commit <1>' }, [
      { name: 'top 10 "URLs" <all>', ratio: 3 },
      { name: 'count', ratio: 0.5 },
    ]),
  );
  const wanted = [
    'Ours &amp; theirs',
    'commit &lt;1&gt;',
    'top 10 &quot;URLs&quot; &lt;all&gt;',
    'count',
  ];
  for (const text of [...wanted, '3.00', '0.50']) t.ok(texts.includes(text), text);
});

t.test('grouped bars are an SVG in which a series may lack a value', async (t) => {
  const series = [
    { name: 'logseam', values: [9.5, 1234] },
    { name: 'duckdb', values: [undefined, 3] },
  ];
  const texts = textsOf(groupedBars({ text: 'CPU', note: '' }, ['plain', 'rough'], series));
  for (const text of ['plain', 'rough', 'logseam', 'duckdb', '9.50', '1,234', '3.00'])
    t.ok(texts.includes(text), text);
});

t.test('panels of growth are an SVG with logarithmic axes', async (t) => {
  const panels = Array.from({ length: 5 }, (_, n) => ({
    title: `question ${n}`,
    lines: [
      {
        name: 'logseam',
        points: [
          [1e6, 3],
          [1e7, 30 * (n + 1)],
        ] as const,
      },
      { name: 'duckdb', points: [[1e6, 1]] as const },
    ],
  }));
  const texts = textsOf(growthPanels({ text: 'Growth', note: '' }, panels));
  for (const text of ['Growth', 'question 0', 'question 4', 'logseam', '1M', '10M'])
    t.ok(texts.includes(text), text);
});

t.test('panels over steps are an SVG with the names of the steps', async (t) => {
  const lines = [
    {
      name: 'a',
      points: [
        [0, 3],
        [1, 4],
      ] as const,
    },
  ];
  const texts = textsOf(
    stepPanels({ text: 'History', note: '' }, [{ title: 'ms', lines }], ['v1', 'v2']),
  );
  for (const text of ['History', 'ms', 'v1', 'v2']) t.ok(texts.includes(text), text);
});
