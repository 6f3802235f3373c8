import fc from 'fast-check';
import t from 'tap';
import {
  type Framing,
  LINE_BYTES_MAX,
  RecordSplitter,
} from '../../server/listen/record-splitter.ts';

interface Line {
  text: string;
  cut: boolean;
}

/** Lines that come out of a frame for a stream that arrives in these chunks. */
function framed(chunks: readonly Uint8Array[], isBound = false): Line[] {
  const frame = new RecordSplitter(isBound);
  const lines: Line[] = [];
  const take = (head: Uint8Array, rest: Uint8Array, framing: Framing): void => {
    const text = Buffer.concat([head, rest]).toString('latin1');
    const cut = framing === 'cut';
    if (framing !== 'lines') {
      if (text.includes('\n') !== (framing === 'frame')) throw new Error(`a ${framing}: ${text}`);
      lines.push({ text, cut });
      return;
    }
    if (!text.endsWith('\n')) throw new Error('lines end with a line feed');
    for (const line of text.slice(0, -1).split('\n')) lines.push({ text: line, cut });
  };
  for (const chunk of chunks) frame.push(chunk, take);
  frame.end(take);
  if (frame.heldBytes !== 0) throw new Error('nothing is held at the end');
  return lines;
}

/** The lines of a text as the rules have it. */
function expected(text: string): Line[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => ({
    text: line.slice(0, LINE_BYTES_MAX),
    cut: line.length > LINE_BYTES_MAX,
  }));
}

function cutAt(text: string, places: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text, 'latin1');
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort(
    (a, b) => a - b,
  );
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

t.test('any cut of a stream gives the same lines', async () => {
  const line = fc.string({ maxLength: 30, unit: fc.constantFrom('a', ' ', '\r', '"', '{') });
  const stream = fc
    .tuple(fc.array(line, { maxLength: 12 }), fc.boolean())
    .map(([lines, ended]) => lines.join('\n') + (ended ? '\n' : ''));
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 20 }), (text, places) => {
      const got = framed(cutAt(text, places));
      return JSON.stringify(got) === JSON.stringify(expected(text));
    }),
  );
});

t.test('a NUL ends a line, and stays in none', async (t) => {
  const texts = (text: string, places: number[]) =>
    framed(cutAt(text, places)).map((line) => line.text);
  t.same(texts('one\0two\0\nthree\0', [2, 4, 9]), ['one', 'two', '', 'three']);
  t.same(texts('\0\0x', []), ['', '', 'x']);
});

t.test('long lines are cut at the same place whatever the chunks', async (t) => {
  const around = [LINE_BYTES_MAX - 1, LINE_BYTES_MAX, LINE_BYTES_MAX + 1, 3 * LINE_BYTES_MAX];
  for (const bytes of around) {
    for (const ending of ['', '\n', '\nnext\n']) {
      const text = `before\n${'x'.repeat(bytes)}${ending}`;
      for (const chunkBytes of [65_536, 1_000_003, text.length]) {
        const places = Array.from(
          { length: Math.floor(text.length / chunkBytes) },
          (_, i) => (i + 1) * chunkBytes,
        );
        const same = JSON.stringify(framed(cutAt(text, places))) === JSON.stringify(expected(text));
        t.ok(same, `${bytes} bytes, ${JSON.stringify(ending)}, chunks of ${chunkBytes}`);
      }
    }
  }
});

t.test('a key that lies over two chunks comes out whole', async (t) => {
  const chunks = ['kéy1 fir', 'st\r\nke', 'y2 second\r\n'].map((text) =>
    Buffer.from(text, 'latin1'),
  );
  t.same(
    framed(chunks).map((line) => line.text),
    ['kéy1 first\r', 'key2 second\r'],
  );
});

t.test('a frame holds memory only while a line has begun', async (t) => {
  const frame = new RecordSplitter();
  const take = (): void => {};
  frame.push(Buffer.from('one\ntwo\n'), take);
  t.equal(frame.heldBytes, 0);
  frame.push(Buffer.from('three'), take);
  t.equal(frame.heldBytes, 5);
  frame.push(Buffer.from('\n'), take);
  t.equal(frame.heldBytes, 0);
  for (let index = 0; index < 40; index++) frame.push(new Uint8Array(65_536).fill(97), take);
  t.equal(frame.heldBytes, 0, 'what is skipped is not held');
});

/** A stream of lines and frames as the rules have it, read byte by byte from the front. */
function read(text: string, isBound: boolean): string[] {
  const found: string[] = [];
  for (let rest = text; rest !== ''; ) {
    const counted = (isBound ? /^([1-9]\d{0,6}) (?=[<{])/ : /^([1-9]\d{0,6}) /).exec(rest);
    if (counted !== null) {
      const start = counted[0].length;
      const end = start + Number(counted[1]);
      found.push(rest.slice(start, end).replace(/[\r\n]+$/, ''));
      rest = rest.slice(end);
    } else {
      const end = rest.indexOf('\n') < 0 ? rest.length : rest.indexOf('\n');
      found.push(rest.slice(0, end));
      rest = rest.slice(end + 1);
    }
  }
  return found.filter((line) => line !== '');
}

t.test('frames and lines may follow one another, however they are cut', async () => {
  const unit = fc.constantFrom('a', ' ', '\r', '\n', '{', '<', '1', '12');
  const content = fc.string({ maxLength: 12, unit });
  const part = fc.oneof(
    content,
    content.map((text) => `${text}\n`),
    content.map((text) => `${text.length} ${text}`),
    content.map((text) => `${text.length + 1} <${text}`),
    fc.nat({ max: 99_999_999 }).map((count) => `${count} {`),
  );
  const stream = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(
      stream,
      fc.array(fc.nat(), { maxLength: 30 }),
      fc.boolean(),
      (text, places, bound) => {
        const got = framed(cutAt(text, places), bound).map((line) => line.text);
        const wanted = read(text, bound);
        return JSON.stringify(got.filter((line) => line !== '')) === JSON.stringify(wanted);
      },
    ),
    { numRuns: 2_000 },
  );
});

t.test(
  'a frame holds its line feeds; what begins like a length and is none is a line',
  async (t) => {
    const texts = (text: string, isBound = false): string[] =>
      framed([Buffer.from(text)], isBound).map((line) => line.text);
    t.same(texts('8 key a\nb\n7 key c\r\nkey d\n'), ['key a\nb', 'key c', 'key d']);
    t.same(texts('12345678 x\n12 \n'), ['12345678 x']);
    t.same(texts('404 not found\n5 <1>ab6 {"a":1}\n7', true), [
      '404 not found',
      '<1>ab',
      '{"a":1',
      '}',
      '7',
    ]);
  },
);

t.test('lines that begin like a length are given together with others', async (t) => {
  const text = '1key one\n12345678 x\nkey two\n9 \nkey three\n2026-01-05 four\n';
  const given: string[] = [];
  const take = (_: Uint8Array, rest: Uint8Array): number =>
    given.push(Buffer.from(rest).toString());
  new RecordSplitter().push(Buffer.from(text.replace('9 \n', '')), take);
  new RecordSplitter(true).push(Buffer.from(text), take);
  t.same(given, [text.replace('9 \n', ''), text]);
});

t.test('a long frame is cut, and what follows it is not lost', async (t) => {
  for (const bytes of [LINE_BYTES_MAX, LINE_BYTES_MAX + 1, 3 * LINE_BYTES_MAX]) {
    const text = `${bytes} ${'x'.repeat(bytes)}next\n`;
    for (const places of [[], [3], [100_000, 1_200_000]]) {
      const got = framed(cutAt(text, places));
      t.same(
        got.map((line) => [line.text.length, line.cut]),
        [
          [LINE_BYTES_MAX, bytes > LINE_BYTES_MAX],
          [4, false],
        ],
      );
    }
  }
});
