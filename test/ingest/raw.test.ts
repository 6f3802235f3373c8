import t from 'tap';
import { PATH_MESSAGE, PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { BadBody } from '../../server/decode/body.ts';
import { Decoder } from '../../server/decode/decoder.ts';
import { makeTemplates, type TemplateCounts } from '../../server/decode/template/templates.ts';
import type { BodyForm, Span } from '../../server/ingest/protocol.ts';
import { type LinesPlace, RawDecoder, type RawLines } from '../../server/ingest/raw.ts';
import { digestOf, makeKey } from '../../server/registry/digest.ts';
import { KeyLookup, NO_CELL } from '../../server/registry/key-table.ts';
import { dayOf, UsageCells } from '../../server/registry/usage.ts';
import { decodeBody } from '../support/decode-body.ts';
import { referenceOf } from '../support/twice.ts';

const RECEIVED_MS = 1_800_000_000_000;
const DAY = dayOf(RECEIVED_MS);
const KEYS = [makeKey(), makeKey()];
/** Where the lines lie in the memory: behind others. */
const START = 128;

function messages(rows: Rows): string[] {
  const found: string[] = [];
  for (let entry = 0; entry < rows.entryCount; entry++) {
    if (rows.path[entry] === PATH_MESSAGE) found.push(Buffer.from(rows.text(entry)).toString());
  }
  return found;
}

/** `counts` are those of the kernel of known lines, which is left out without them. */
function setUp(counts?: TemplateCounts): {
  cells: UsageCells;
  decode: (
    text: string,
    cell?: number,
    spans?: Span[],
    from?: LinesPlace,
  ) => RawLines & { messages: string[] };
} {
  const cells = new UsageCells();
  const keys = new KeyLookup();
  const entries = KEYS.map((key, cell) => {
    return { digest: digestOf(key), id: `id${cell}`, name: `name${cell}`, cell };
  });
  for (const { cell } of entries) cells.begin(cell);
  keys.update({ version: 1, entries });
  const memory = new Uint8Array(new SharedArrayBuffer(65_536));
  const rows = new Rows();
  const paths = new PathTable();
  const decoder = new Decoder(paths, rows);
  decoder.isWriteKey = (...text) => keys.find(...text) !== NO_CELL;
  if (counts !== undefined) {
    decoder.known.templates = makeTemplates(paths, referenceOf(paths), counts, (error) => {
      throw error;
    });
  }
  const raw = new RawDecoder(decoder, rows, { keys, cells, memory });
  const decode = (
    text: string,
    cell = NO_CELL,
    spans: Span[] = [],
    from?: LinesPlace,
  ): RawLines & { messages: string[] } => {
    const bytes = Buffer.from(text);
    memory.fill(0x6b).set(bytes, START);
    const task = {
      type: 'lines',
      channel: 'tcp',
      task: 0,
      start: START,
      bytes: bytes.length,
      receivedMs: RECEIVED_MS,
      cell,
      spans,
    } as const;
    return { ...raw.decode(task, from), messages: messages(rows) };
  };
  return { cells, decode };
}

t.test('each line counts for its own key', async (t) => {
  const { cells, decode } = setUp();
  const [one, two] = KEYS;
  const got = decode(`${one} first\r\n${two} {"message":"second"}\n${one} "third"\n`);
  t.same(got.messages, ['first', 'second', 'third']);
  t.equal(got.droppedCount, 0);
  t.same(
    got.reservation.usage((cell) => `id${cell}`),
    [
      { key: 'id0', day: DAY, bytes: 128, events: 2 },
      { key: 'id1', day: DAY, bytes: 64, events: 1 },
    ],
  );
  t.equal(cells.usedBytes(0, DAY), 128);
  got.reservation.release(cells);
  t.equal(cells.usedBytes(0, DAY), 0);
});

t.test('lines that a kernel reads count for their keys, as those that it leaves', async (t) => {
  const counts = { rows: 0, faults: 0 };
  const fast = setUp(counts);
  const plain = setUp();
  const [one, two] = KEYS;
  const header = '2026-11-23T10:00:00Z host app - - -';
  const forms: ((n: number) => string)[] = [
    (n) => `<14>1 ${header} text a=${n} b="x"`,
    (n) => `<34>Nov 23 10:00:00 host app[1]: text ${n}`,
    (n) => `{"n":${n},"message":"x ${n}"}`,
    (n) => `<14>1 ${header} {"n":${n}}`,
    (n) => `text ${n}`,
  ];
  const keys = [`${one} `, `${two} `, '', `${one}x `];
  const lines = Array.from({ length: 600 }, (_, n) => {
    const form = forms[Math.floor(n / 7) % forms.length];
    return `${keys[Math.floor(n / 20) % keys.length]}${form(n)}${n % 3 === 0 ? '\r\n' : '\n'}`;
  }).join('');
  for (const cell of [NO_CELL, 1]) {
    for (let turn = 0; turn < 2; turn++) {
      const [got, wanted] = [fast.decode(lines, cell), plain.decode(lines, cell)];
      t.same(got.messages, wanted.messages);
      t.equal(got.droppedCount, wanted.droppedCount);
      const name = (cell: number): string => `id${cell}`;
      t.same(got.reservation.usage(name), wanted.reservation.usage(name));
    }
  }
  t.equal(counts.faults, 0);
  t.ok(counts.rows > 500, `${counts.rows} rows of the kernel`);
});

t.test('lines without a good key are dropped, the others stay', async (t) => {
  const { cells, decode } = setUp();
  const [one, two] = KEYS;
  cells.enable(1, false);
  const got = decode(
    `garbage\n${one}x no\n${'y'.repeat(300)}\n${two} disabled\n\n\r\n${one} good\n"quoted"\n{}\n${one}\n`,
  );
  t.same(got.messages, ['good']);
  t.equal(got.droppedCount, 6);
});

t.test('a spent quota drops the lines behind the one that crossed it', async (t) => {
  const { cells, decode } = setUp();
  const [one] = KEYS;
  cells.limit(0, 5);
  const got = decode(`${one} 1234567\n${one} more\n`);
  t.same(got.messages, ['1234567']);
  t.equal(got.droppedCount, 1);
});

t.test('a JSON object brings its key as an attribute, which is not stored', async (t) => {
  const { decode } = setUp();
  const [one] = KEYS;
  const got = decode(
    `{"logmaticKey":"${one}","message":"in"}\n{"logmaticKey":"nope","message":"out"}\n{"message":"out"}\n{"logmaticKey":"${one}"\n${one} {"logmaticKey":"kept","message":"with prefix"}\n`,
  );
  t.same(got.messages, ['in', 'with prefix']);
  t.equal(got.droppedCount, 3);
  t.equal(got.reservation.usage(String)[0]?.events, 2);
});

t.test('bodies are read as they are declared', async (t) => {
  const rows = new Rows();
  const decoder = new Decoder(new PathTable(), rows);
  const read = (form: BodyForm, text: string): string[] => {
    const source = Buffer.from(text);
    decoder.begin(source, RECEIVED_MS, undefined);
    decodeBody(decoder, source, form);
    return messages(rows);
  };
  t.same(read('lines', '{"message":"a"}\nb'), ['a', 'b']);
  t.same(read('json', ' [{"message":"a"},"b"]'), ['a', 'b']);
  t.throws(() => read('json', '[{"message":"a"}'), BadBody);
  t.same(read('auto', '[{"message":"a"}]'), ['a']);
  t.same(read('auto', '[2026-01-01] started\nsecond'), ['[2026-01-01] started', 'second']);
  t.same(read('auto', 'plain\ntext'), ['plain', 'text']);
  t.same(read('frames', '5 first7 second\n'), ['first', 'second']);
  t.throws(() => read('frames', '5 first9 second'), BadBody);
});

t.test('lines of a bound listener need no key, and may bring one', async (t) => {
  const { cells, decode } = setUp();
  const [one, two] = KEYS;
  const got = decode(`plain\n${one} own\n${two} {"message":"other"}\n{"message":"json"}\n`, 0);
  t.same(got.messages, ['plain', 'own', 'other', 'json']);
  t.equal(got.droppedCount, 0);
  t.equal(cells.usedBytes(0, DAY), 3 * 64);
  t.equal(cells.usedBytes(1, DAY), 64);
  cells.enable(0, false);
  t.equal(decode('plain\n', 0).droppedCount, 1);
});

t.test('a frame is one content, line feeds included', async (t) => {
  const { decode } = setUp();
  const [one] = KEYS;
  const text = `${one} a\nb\n${one} c\n`;
  const got = decode(text, NO_CELL, [{ form: 'frame', start: 0, end: 26 }]);
  t.same(got.messages, ['a\nb', 'c']);
});

t.test(
  'later lines of a datagram belong to its first key, unless they bring their own',
  async (t) => {
    const { cells, decode } = setUp();
    const [one, two] = KEYS;
    const datagram = `${one} a\r\nb\n${one} c\n${two} d\n{"message":"e"}\nf`;
    const text = `${two} before\n${datagram}\nno key\n`;
    const start = text.indexOf(datagram);
    const got = decode(text, NO_CELL, [{ form: 'datagram', start, end: start + datagram.length }]);
    t.same(got.messages, ['before', 'a', 'b', 'c', 'd', 'e', 'f']);
    t.equal(got.droppedCount, 1);
    t.equal(cells.usedBytes(1, DAY), 2 * 64);
    const none = decode('bad\nworse\n', NO_CELL, [{ form: 'datagram', start: 0, end: 9 }]);
    t.same([none.messages, none.droppedCount], [[], 2]);
  },
);

t.test('lines come in pieces of 4,096, and a datagram keeps its key over them', async (t) => {
  const { cells, decode } = setUp();
  const [one] = KEYS;
  const lines = Array.from({ length: 9_000 }, (_, at) => `${at}`);
  const text = `${one} ${lines.join('\n')}\n`;
  const spans: Span[] = [{ form: 'datagram', start: 0, end: text.length - 1 }];
  const pieces: string[][] = [];
  let place: LinesPlace | undefined;
  do {
    const { messages, rest, reservation, droppedCount } = decode(text, NO_CELL, spans, place);
    t.equal(droppedCount, 0);
    t.equal(reservation.usage(String)[0]?.events, messages.length);
    pieces.push(messages);
    place = rest;
  } while (place !== undefined);
  t.same(
    pieces.map(({ length }) => length),
    [4_096, 4_096, 808],
  );
  t.same(pieces.flat(), lines);
  t.equal(cells.usedBytes(0, DAY), 9_000 * 64);
});
