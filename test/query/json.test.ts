import fc from 'fast-check';
import t from 'tap';
import { Kind } from '../../engine/column/kind.ts';
import { ArrayCursor, attributeText } from '../../engine/query/filter/json.ts';
import { encodeText } from '../../engine/query/filter/text.ts';

const decoder = new TextDecoder();

function elementsOf(array: string): unknown[] {
  const bytes = encodeText(`xx${array}yy`);
  const cursor = new ArrayCursor();
  cursor.open(bytes, 2, bytes.length - 2);
  const elements: unknown[] = [];
  while (cursor.next()) {
    const text = decoder.decode(cursor.bytes.subarray(cursor.start, cursor.end));
    if (cursor.kind === Kind.BOOLEAN) elements.push(cursor.truth);
    else elements.push(cursor.kind === Kind.NUMBER ? Number(text) : text);
  }
  return elements;
}

/** JSON text of `text` with everything escaped that can be. */
function escaped(text: string): string {
  return `"${text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;
}

t.test('the scalars of an array are its elements, nulls and nested values are not', async (t) => {
  t.same(elementsOf('[]'), []);
  t.same(elementsOf('[null,[1,[2]],{"a":[3,"]"]},"x,]\\"",4.50,true,false]'), [
    'x,]"',
    4.5,
    true,
    false,
  ]);
  t.same(elementsOf('["\\b\\f\\n\\r\\t\\/\\\\\\u00e9\\ud83d\\uDE00"]'), ['\b\f\n\r\t/\\é😀']);
});

t.test('elements are those that JSON.parse finds', async () => {
  const scalar = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean());
  fc.assert(
    fc.property(fc.array(fc.oneof(scalar, fc.jsonValue()), { maxLength: 6 }), (array) => {
      const wanted = (JSON.parse(JSON.stringify(array)) as unknown[]).filter(
        (element) => element !== null && typeof element !== 'object',
      );
      return JSON.stringify(elementsOf(JSON.stringify(array))) === JSON.stringify(wanted);
    }),
  );
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      (text) => elementsOf(`[${escaped(text)}]`)[0] === text,
    ),
  );
});

t.test('an attribute is found by its names joined by dots', async (t) => {
  const event =
    '{"custom":{"a":{"b":{"c":1,"d":[1,{"e":2}]}},"a.b.x":"dot","q\\"\\u00e9":{},"n":null},"message":"{\\"a\\":1}"}';
  const cases: [string, string | undefined][] = [
    ['custom.a.b', '{"c":1,"d":[1,{"e":2}]}'],
    ['custom.a.b.c', '1'],
    ['custom.a.b.d', '[1,{"e":2}]'],
    ['custom.a.b.x', '"dot"'],
    ['custom.q"é', '{}'],
    ['custom.n', 'null'],
    ['message', '"{\\"a\\":1}"'],
    ['custom.a.b.d.e', undefined],
    ['custom.', undefined],
    ['a', undefined],
    ['', undefined],
  ];
  for (const [path, wanted] of cases) t.equal(attributeText(event, path), wanted, path);
});
