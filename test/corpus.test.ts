import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import t from 'tap';
import { Batch } from '../engine/column/batch.ts';
import { PathTable } from '../engine/column/path.ts';
import { Rows } from '../engine/column/rows.ts';
import { Decoder } from '../server/decode/decoder.ts';
import type { Enrichment } from '../server/decode/enrichment.ts';
import { addedAttributes } from '../server/listen/header.ts';
import { frameOf, open } from './segment/block-maker.ts';
import { decodeBody } from './support/decode-body.ts';
import { RECEIVED_MS } from './support/decoding.ts';

/**
 * Runs the corpus of what programs send, `test/fixture/corpus/*.jsonl`: each input goes through decoder, batch and
 * block, and the text of its event and its date have to be those that the line says.
 *
 * A line is a JSON object: `source` (who sends it, or the rule), `channel`, `input` or `inputBase64`, maybe `query` and
 * `headers` of the request, `date` of the event when it is not the reception date, and last `event`, the exact text of
 * the event; an array of events when the input is not one event. `date` is that of all of them.
 */

const FOLDER = new URL('fixture/corpus/', import.meta.url).pathname;
const ENTRIES_MIN = 350;
const CALLER = '192.0.2.7';
const EVENT_MARK = ',"event":';
const FORMS = new Map([
  ['text body', 'lines'],
  ['json body', 'json'],
  ['frames body', 'frames'],
  ['body', 'auto'],
] as const);

interface Entry {
  source: string;
  channel: 'line' | 'text body' | 'json body' | 'frames body' | 'body';
  input?: string;
  inputBase64?: string;
  query?: string;
  headers?: Record<string, string>;
  date?: string;
}

function enrichmentOf({ query, headers }: Entry): Enrichment {
  const asked = query === undefined ? undefined : new URLSearchParams(query);
  const given = new Map(Object.entries(headers ?? {}));
  return { attributes: addedAttributes(asked, given, () => CALLER) };
}

/** Texts and dates of the events of an entry. */
function stored(entry: Entry): { texts: string[]; dates: string[] } {
  const { channel, input, inputBase64 } = entry;
  const source =
    inputBase64 === undefined ? Buffer.from(input ?? '') : Buffer.from(inputBase64, 'base64');
  const paths = new PathTable();
  const rows = new Rows();
  const decoder = new Decoder(paths, rows);
  decoder.begin(source, RECEIVED_MS, enrichmentOf(entry));
  const form = channel === 'line' ? undefined : FORMS.get(channel);
  if (form === undefined) {
    decoder.unquotes = true;
    decoder.line(0, source.length);
  } else {
    decodeBody(decoder, source, form);
  }
  if (rows.rowCount === 0) return { texts: [], dates: [] };
  const batch = new Batch(paths);
  batch.append(rows, 0);
  const block = open(frameOf(batch, 0, rows.rowCount));
  return {
    texts: Array.from({ length: rows.rowCount }, (_, row) => block.eventText(row)),
    dates: [...block.timeMs()].map((ms) => new Date(ms).toISOString()),
  };
}

let entryCount = 0;

for (const file of globSync(`${FOLDER}*.jsonl`).sort()) {
  t.test(`each input of ${basename(file)} comes back as the rules say`, async (t) => {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    entryCount += lines.length;
    const titles = new Set<string>();
    for (const [index, line] of lines.entries()) {
      // The text counts, which parsing would change: the mark cannot stand inside of a JSON string.
      const at = line.indexOf(EVENT_MARK);
      const entry: Entry = JSON.parse(`${line.slice(0, at)}}`);
      const event = line.slice(at + EVENT_MARK.length, -1);
      const title = `line ${index + 1}: ${entry.source}`;
      const { texts, dates } = stored(entry);
      t.equal(texts.length === 1 ? texts[0] : `[${texts.join(',')}]`, event, title);
      const date = entry.date ?? new Date(RECEIVED_MS).toISOString();
      t.same([...new Set(dates)], dates.length === 0 ? [] : [date], `${title}, date`);
      t.notOk(titles.has(entry.source), `${title}, told apart`);
      titles.add(entry.source);
    }
  });
}

t.test('the corpus is not thinned out', async (t) => {
  t.ok(entryCount >= ENTRIES_MIN, `${entryCount} entries`);
});
