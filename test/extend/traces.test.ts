import t from 'tap';
import { CORPORA, corpusOf } from '../../bench/corpus/index.ts';
import { Draw } from '../../bench/corpus/random.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { stepOf } from '../../server/api/admin/extension-steps.ts';
import { NOTHING_DECLARED } from '../../server/api/resolver.ts';
import { Decoder } from '../../server/decode/decoder.ts';
import { isSameRow } from '../../server/decode/template/same-row.ts';
import { compileSteps } from '../../server/extend/compile.ts';
import { Extender } from '../../server/extend/extender.ts';
import type { ExtensionStep } from '../../server/extend/extension.ts';
import { defaultExtensions } from '../../server/registry/default-extensions.ts';
import { failed, linesOf, mutatedLine, RECEIVED_MS } from '../support/twice.ts';

const LINES = 400;
const BYTES = Buffer.from('"\\{}[]:=,;&?%#+-/ .0123456789aZ\té');

const presets = defaultExtensions().map((definition) =>
  stepOf({ ...definition, enabled: true }, NOTHING_DECLARED),
);

/** A decoder whose events are extended. */
class Extending {
  readonly rows = new Rows();
  readonly decoder: Decoder;
  readonly extender: Extender;

  constructor(paths: PathTable, steps: readonly ExtensionStep[], isPlain: boolean) {
    const { rows } = this;
    this.decoder = new Decoder(paths, rows);
    const options = { failed, isPlain };
    const { counters } = this.decoder;
    const extender = new Extender(compileSteps(steps, failed), paths, rows, counters, options);
    this.decoder.extension = (hasDate) => extender.extendRow(hasDate);
    this.extender = extender;
  }

  read(lines: readonly Buffer[]): void {
    const body = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]));
    this.decoder.begin(body, RECEIVED_MS, undefined);
    this.decoder.beginBody(0, body.length, false);
    const all = { events: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
    while (!this.decoder.readBody(all));
  }
}

/** Extends events of one path table by the steps alone, and by traces. */
class Both {
  readonly #paths = new PathTable();
  readonly #plain: Extending;
  readonly #traced: Extending;

  constructor(steps: readonly ExtensionStep[] = presets) {
    this.#plain = new Extending(this.#paths, steps, true);
    this.#traced = new Extending(this.#paths, steps, false);
  }

  get tracedRows(): number {
    return this.#traced.extender.tracedRows;
  }

  /** The difference; `undefined` when there is none. */
  difference(lines: readonly Buffer[]): string | undefined {
    const plain = this.#plain;
    const traced = this.#traced;
    plain.read(lines);
    traced.read(lines);
    const { rowCount } = plain.rows;
    if (rowCount !== traced.rows.rowCount) return `${rowCount} rows, not as many`;
    for (let row = 0; row < rowCount; row++)
      if (!isSameRow(plain.rows, row, traced.rows, row)) return `row ${row}: ${lines[row]}`;
    const counts = [plain, traced].map(({ decoder }) => JSON.stringify(decoder.counters));
    return counts[0] === counts[1] ? undefined : `counters ${counts.join(', not ')}`;
  }
}

t.test(
  'traces do what steps do with the lines of each corpus, and with mutated ones',
  async (t) => {
    const draw = new Draw(11);
    const both = new Both();
    for (const corpus of CORPORA) {
      const lines = linesOf(corpus, corpus.name === 'hostile' ? 50 : LINES);
      t.equal(both.difference(lines), undefined, corpus.name);
      for (let round = 0; round < 2; round++) {
        const mutated = lines.map((line) => mutatedLine(line, BYTES, draw));
        t.equal(both.difference(mutated), undefined, `${corpus.name}, mutated`);
      }
      t.equal(both.difference(lines), undefined, `${corpus.name} once more`);
    }
  },
);

t.test('most rows of friendly corpora are extended by traces', async (t) => {
  for (const name of ['kubernetes', 'access-plain', 'access-rough', 'syslog-pairs']) {
    const both = new Both();
    const lines = linesOf(corpusOf(name), 4 * LINES);
    for (let round = 0; round < 3; round++) t.equal(both.difference(lines), undefined, name);
    t.ok(both.tracedRows > 0.85 * 3 * lines.length, `${name}: ${both.tracedRows}`);
  }
});

t.test('a shape that never ends the same is left to the steps', async (t) => {
  const both = new Both();
  const lines = Array.from({ length: 2_000 }, (_, number) =>
    Buffer.from(JSON.stringify({ message: `name${number}=1 other${number % 977}=x` })),
  );
  t.equal(both.difference(lines), undefined);
  t.equal(both.tracedRows, 0);
  const known = lines.map(() => Buffer.from('{"message":"a=1 b=2","level":"warn"}'));
  t.equal(both.difference(known), undefined);
  t.ok(both.tracedRows > known.length - 10);
});

t.test('a text that is another kind of value in the next row is followed as such', async (t) => {
  const both = new Both();
  const texts = ['{"msg":"a"}', '{"msg":7}', '{"msg":true}', '{"msg":["a"]}', '{"msg":{"a":1}}'];
  const lines = ['1', '"x"', 'null'].flatMap((level) =>
    texts.flatMap((text) => [
      `{"message":${JSON.stringify(text)},"level":${level}}`,
      `{"log":${JSON.stringify(text)},"stream":"stdout","level":${level}}`,
      `{"message":"msg=${text.slice(7, -1)} timestamp=2026-01-02T03:04:05Z","level":${level}}`,
      `{"message":"msg=a timestamp=never","level":${level}}`,
    ]),
  );
  const all = Array.from({ length: 6 }, () => lines)
    .flat()
    .map((line) => Buffer.from(line));
  t.equal(both.difference(all), undefined);
  t.ok(both.tracedRows > 0);
});

t.test('an event without a date of its own gets that of what a trace adds', async (t) => {
  const both = new Both();
  const line = Buffer.from('{"message":"timestamp=2026-01-02T03:04:05Z a=1"}');
  t.equal(both.difference(Array.from({ length: 9 }, () => line)), undefined);
  t.equal(both.tracedRows, 7);
});
