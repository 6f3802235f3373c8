import fc from 'fast-check';
import t from 'tap';
import { EVENT_BYTES_MAX } from '../../engine/base/limits.ts';
import { BadBody, EventTooLarge } from '../../server/decode/body.ts';
import { decodePieces } from '../../server/ingest/content.ts';
import { decodeBody } from '../support/decode-body.ts';
import { Decoding, RECEIVED_MS } from '../support/decoding.ts';

/** The events of a body of frames. */
function frames(body: string | Uint8Array): string[] {
  const decoding = new Decoding();
  const source = Buffer.from(body);
  decoding.decoder.begin(source, RECEIVED_MS, undefined);
  decodeBody(decoding.decoder, source, 'frames');
  return decoding.events();
}

const textEvent = (message: string): string => `{"custom":{},"message":${JSON.stringify(message)}}`;

t.test('octet-counted frames are lines, whatever bytes they hold', async (t) => {
  const state =
    '<40>1 2012-11-30T06:45:29+00:00 host app web.3 - State changed from starting to up\n';
  const start =
    '<40>1 2012-11-30T06:45:26+00:00 host app web.3 - Starting process with command `x`\n';
  const events = frames(`${state.length} ${state}${start.length} ${start}`);
  t.equal(events.length, 2);
  t.match(events[0], '"procid":"web.3"},"message":"State changed from starting to up"}');
  t.match(events[1], '"message":"Starting process with command `x`"}');
  t.same(frames('3 a\nb5 é c\n'), [textEvent('a\nb'), textEvent('é c')]);
  t.same(frames('1 a\n2 bc\r\n'), [textEvent('a'), textEvent('bc')], 'line ends between them');
  t.same(frames('0 1 a'), [textEvent('a')], 'a frame without bytes');
  t.same(frames('{"a":1}'.replace(/^/, '7 ')), ['{"custom":{"a":1}}']);
  t.same(frames(''), []);
});

t.test('frames come back one by one', async () => {
  const frame = fc.string({ unit: fc.constantFrom('a', 'é', '\n', ' ', '7', '<'), minLength: 1 });
  fc.assert(
    fc.property(fc.array(frame), (lines) => {
      const body = lines.map((line) => `${Buffer.byteLength(line)} ${line}`).join('');
      const wanted = lines
        .map((line) => line.replace(/[\r\n]+$/, ''))
        .filter((line) => line.trim() !== '');
      return JSON.stringify(frames(body)) === JSON.stringify(wanted.map(textEvent));
    }),
  );
});

t.test('a body whose counts are wrong is refused whole', async (t) => {
  for (const body of ['text', '1 a2 b', '1 ab', '1', '1 ', ' 1 a', '12345678 a', '-1 a', '1 a b']) {
    t.throws(() => frames(body), BadBody, body);
  }
  t.throws(
    () => frames(`1 a${EVENT_BYTES_MAX + 1} ${'x'.repeat(EVENT_BYTES_MAX + 1)}`),
    EventTooLarge,
  );
});

t.test(
  'a piece has no more events than it may, however little they take in the body',
  async (t) => {
    for (const form of ['json', 'lines', 'frames'] as const) {
      const one = { json: '1,', lines: 'a\n', frames: '1 a' }[form];
      const text = one.repeat(100_000);
      const source = Buffer.from(form === 'json' ? `[${text}1]` : text);
      const { decoder, rows } = new Decoding();
      decoder.begin(source, RECEIVED_MS, undefined);
      let most = 0;
      const size = { events: 4_096, bytes: 4 * 1024 * 1024 };
      for (const _ of decodePieces(decoder, source, form, size))
        most = Math.max(most, rows.rowCount);
      t.equal(most, 4_096, form);
    }
  },
);
