import fc from 'fast-check';
import t from 'tap';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { Decoder } from '../../server/decode/decoder.ts';
import {
  BODY_MALFORMED,
  LINE_DROPPED,
  TROUBLE_KINDS,
  TroubleLog,
  TroubleNotes,
} from '../../server/ingest/trouble.ts';
import {
  TROUBLE_KEPT_BYTES,
  TROUBLE_LINE_BYTES,
  troubleLine,
} from '../../server/ingest/trouble-line.ts';
import { decodeBody } from '../support/decode-body.ts';

const KEY = 'aB3-_zY9xW8vU7tS6rQ5pO';

/** As a worker keeps and shows a line. */
function shownLine(line: string): string {
  const bytes = Buffer.from(line);
  return troubleLine(bytes.subarray(0, TROUBLE_KEPT_BYTES), bytes.length <= TROUBLE_KEPT_BYTES);
}

t.test('keys are masked and control characters escaped', async (t) => {
  const lines: [string, string][] = [
    [`${KEY} {"a":1}`, '*** {"a":1}'],
    [`${KEY}`, '***'],
    [`${KEY.slice(0, 18)} cut short`, '*** cut short'],
    [`${KEY}xyz too long`, '*** too long'],
    ['a line of words', 'a line of words'],
    ['internationalised words are short enough', '*** words are short enough'],
    [`{"logmaticKey":"${KEY}","a":1}`, '{"logmaticKey":"***","a":1}'],
    ['{"a":1,"logmaticKey": "wrong","b":2}', '{"a":1,"logmaticKey": "***","b":2}'],
    ['{"logmaticKey":"never closed', '{"logmaticKey":"***'],
    [`123 ${KEY} <34>1 x`, '123 *** <34>1 x'],
    [`<13>1 - - - - - - ${KEY}: x`, '<13>1 - - - - - - ***: x'],
    ['a\nb\r\tc\u0000\u001b[31m\u202e\u2028', 'a\\nb\\r\\tc\\u0000\\u001b[31m\\u202e\\u2028'],
    ['é€😀', 'é€😀'],
    ['', ''],
  ];
  for (const [place, [line, shown]] of lines.entries()) {
    t.equal(shownLine(line), shown, `line ${place}`);
  }
  t.equal(troubleLine(Uint8Array.from([0x61, 0xff, 0x62]), true), 'a\ufffdb');
});

t.test('a line is cut behind 512 bytes, between characters', async (t) => {
  t.equal(shownLine('.'.repeat(2_000)), '.'.repeat(TROUBLE_LINE_BYTES));
  t.equal(shownLine('€'.repeat(1_000)), '€'.repeat(170));
  t.equal(shownLine(`.${'😀'.repeat(1_000)}`), `.${'😀'.repeat(127)}`);
});

t.test('no part of a key is shown, wherever the line is cut', async (t) => {
  const seed = Number(process.env['FC_SEED'] ?? Date.now() % 2 ** 31);
  t.comment(`seed ${seed}`);
  const blanks = fc.integer({ min: 0, max: 700 });
  fc.assert(
    fc.property(blanks, fc.constantFrom(' ', '.', '"', 'é '), (count, filler) => {
      const shown = shownLine(`${filler.repeat(count)} ${KEY} tail${filler.repeat(600)}`);
      for (let end = 6; end <= KEY.length; end++) {
        if (shown.includes(KEY.slice(0, end))) return false;
      }
      return true;
    }),
    { seed },
  );
});

t.test('the last line of each kind is reported once, whatever came before', async (t) => {
  const notes = new TroubleNotes();
  t.equal(notes.report(), undefined);
  const source = Buffer.from('first line|second line');
  notes.note(LINE_DROPPED, source.subarray(0, 10), 5);
  notes.note(LINE_DROPPED, source.subarray(11, 22), 7);
  notes.noteBody(BODY_MALFORMED, source, 3, 6, 'malformed JSON at byte 3');
  t.same(notes.report(), [
    {
      ...{ kind: BODY_MALFORMED, atMs: 6, line: 'first line|second line' },
      reason: 'malformed JSON at byte 3',
    },
    { kind: LINE_DROPPED, atMs: 7, line: 'second line' },
  ]);
  t.equal(notes.report(), undefined);
  const large = Buffer.from(`${'.'.repeat(5_000)}${'!'.repeat(5_000)}`);
  notes.noteBody(BODY_MALFORMED, large, 5_000, 8, 'x');
  t.match(notes.report(), [{ line: '.'.repeat(256) + '!'.repeat(256) }], 'from before the fault');
  const keyed = Buffer.from(`${' '.repeat(1_000)}${KEY} ${'.'.repeat(1_000)}`);
  notes.noteBody(BODY_MALFORMED, keyed, 1_010 + 256, 9, 'x');
  t.match(notes.report(), [{ line: ` ${'.'.repeat(511)}` }], 'and not from within a key');
});

t.test('the front keeps what workers report last, also when the clock was set back', async (t) => {
  const log = new TroubleLog();
  t.equal(log.last(LINE_DROPPED), undefined);
  log.take([{ kind: LINE_DROPPED, atMs: 5, line: 'a' }]);
  log.take([{ kind: LINE_DROPPED, atMs: 4, line: 'b' }]);
  t.match(log.last(LINE_DROPPED), { line: 'b' });
  log.refused({ status: 413, message: 'too large' }, 9, 'http');
  log.refusedTo(413, '192.0.2.1');
  const wanted = { atMs: 9, line: '', reason: 'too large', channel: 'http', peer: '192.0.2.1' };
  t.match(log.last('body_too_large'), wanted);
  log.refused({ status: 401, message: 'no key' }, 9, 'http');
  log.refusedTo(401, '192.0.2.2');
  t.same(
    TROUBLE_KINDS.filter((kind) => log.last(kind) !== undefined),
    ['body_too_large', LINE_DROPPED],
  );
});

t.test('decoding tells the line or element for which something was counted', async (t) => {
  const told: string[] = [];
  const decoder = new Decoder(new PathTable(), new Rows());
  const notes = new TroubleNotes();
  decoder.watch = (counters, source, start, end) => {
    told.push(Buffer.from(source.subarray(start, end)).toString());
    notes.noteCounted(counters, source.subarray(start, end), 1);
  };
  const read = (text: string, isJson: boolean): void => {
    const source = Buffer.from(text, 'latin1');
    decoder.begin(source, 0, undefined);
    if (isJson) decodeBody(decoder, source, 'json');
    else decodeBody(decoder, source, 'lines');
  };
  const bad = '{"date":"never"}';
  read(`good\n${bad}\ngood`, false);
  t.same(told.splice(0), [bad]);
  t.match(notes.report(), [{ kind: 'date_unread', line: bad }]);
  read(`[{"a":1}, ${bad}, "text", {"b":2}]`, true);
  t.same(told.splice(0), [bad]);
  read('ok\nbr\xffken\nok', false);
  t.same(told.splice(0), ['br\ufffdken']);
  const deep = `{"x":${'['.repeat(30)}${']'.repeat(30)}}`;
  read(`{"a":1}\n${deep}`, true);
  t.same(told.splice(0), [deep]);
  t.same(
    notes.report()?.map(({ kind }) => kind),
    ['subtree_too_deep', 'date_unread', 'text_repaired'],
  );
  read('good\n{"date":"2026-01-01"}', false);
  t.same(told, []);
});
