import t from 'tap';
import { Kind } from '../../engine/column/kind.ts';
import { decodeText, escapeSurrogates, templateOf } from '../../engine/segment/block/rebuild.ts';
import { batchOf, frameOf, open } from './block-maker.ts';
import { encodeText, type TestLeaf } from './leaves.ts';

function event(leaves: TestLeaf[]): string {
  return open(frameOf(batchOf([{ timeMs: 0, leaves }]), 0, 1)).eventText(0);
}

t.test('events are printed as their leaves say', async (t) => {
  const table: [string, TestLeaf[], string][] = [
    ['nothing', [], '{"custom":{}}'],
    ['an empty custom', [{ names: ['custom'], kind: 'object' }], '{"custom":{}}'],
    ['an empty syslog', [{ names: ['syslog'], kind: 'object' }], '{"custom":{},"syslog":{}}'],
    [
      'a message before the rest',
      [
        { names: ['message'], kind: 'string', text: 'm' },
        { names: ['syslog', 's'], kind: 'number', text: '5' },
        { names: ['custom', 'c'], kind: 'null' },
      ],
      '{"custom":{"c":null},"syslog":{"s":5},"message":"m"}',
    ],
    [
      'a message between attributes',
      [
        { names: ['custom', 'a', 'b'], kind: 'object' },
        { names: ['message'], kind: 'string', text: '' },
        { names: ['custom', 'a', 'c'], kind: 'array', text: '[]' },
      ],
      '{"custom":{"a":{"b":{},"c":[]}},"message":""}',
    ],
    [
      'a name with dots beside what it would be',
      [
        { names: ['custom', 'a'], kind: 'number', text: '1' },
        { names: ['custom', 'a.b'], kind: 'number', text: '2' },
        { names: ['custom', 'c', 'd.e', 'f'], kind: 'boolean', value: false },
      ],
      '{"custom":{"a":1,"a.b":2,"c":{"d.e":{"f":false}}}}',
    ],
    [
      'names like numbers stay in their order',
      [
        { names: ['custom', '2'], kind: 'number', text: '-0' },
        { names: ['custom', '1'], kind: 'number', text: '0.610' },
      ],
      '{"custom":{"2":-0,"1":0.610}}',
    ],
    [
      'lone surrogates and controls as escapes',
      [
        { names: ['custom', '\udfff'], kind: 'string', text: 'a\ud800\u0000"\\\n😀' },
        { names: ['custom', 'l'], kind: 'array', text: '["\ud8ab"]' },
      ],
      '{"custom":{"\\udfff":"a\\ud800\\u0000\\"\\\\\\n😀","l":["\\ud8ab"]}}',
    ],
  ];
  for (const [name, leaves, text] of table) t.equal(event(leaves), text, name);
});

t.test('text is decoded from WTF-8 with the surrogates that it holds', async (t) => {
  for (const text of [
    '',
    'a',
    'é',
    '한국어',
    '\ud800',
    'x\udc00y',
    '\ud800x\udbff',
    '퟿',
    '😀\ud83d',
    '\ud83d\u00e9',
  ]) {
    const bytes = encodeText(`<${text}>`);
    t.equal(decodeText(bytes, 1, bytes.length - 1), text, JSON.stringify(text));
  }
  t.equal(decodeText(Uint8Array.of(0x61, 0xed), 0, 2), 'a\ufffd', 'cut bytes do no harm');
  t.equal(escapeSurrogates('["\ud800","😀"]'), '["\\ud800","😀"]');
});

t.test('a template has a place for each value', async (t) => {
  const template = templateOf([
    { names: ['custom', 'a'], kind: Kind.STRING, column: 4 },
    { names: ['custom', 'b'], kind: Kind.NULL, column: -1 },
    { names: ['message'], kind: Kind.STRING, column: 2 },
  ]);
  t.same(template.columns, [4, 2]);
  t.same(template.texts, ['{"custom":{"a":', ',"b":null},"message":', '}']);
});
