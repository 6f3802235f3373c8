import t from 'tap';
import { CORPORA } from '../../bench/corpus/index.ts';
import { Draw } from '../../bench/corpus/random.ts';
import { must } from '../../engine/base/assert.ts';
import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { useKernels } from '../../engine/kernel/kernel.ts';
import { stepOf } from '../../server/api/admin/extension-steps.ts';
import { NOTHING_DECLARED } from '../../server/api/resolver.ts';
import { Decoder } from '../../server/decode/decoder.ts';
import { makeTemplates } from '../../server/decode/template/templates.ts';
import { compileSteps } from '../../server/extend/compile.ts';
import { defaultExtensions } from '../../server/registry/default-extensions.ts';
import { failed, linesOf, mutatedLine, RECEIVED_MS, referenceOf, Twice } from '../support/twice.ts';

// The build whose every access is checked against the bounds of its region.
useKernels('checked');

t.test(
  'the kernel reads each line of each corpus as the reference does, or leaves it',
  async (t) => {
    for (const corpus of CORPORA) {
      const lines = linesOf(corpus, corpus.name === 'hostile' ? 300 : 3_000);
      const twice = new Twice();
      for (let turn = 0; turn < 3; turn++) t.equal(twice.difference(lines), undefined, corpus.name);
      t.equal(twice.counts.faults, 0, corpus.name);
      if (corpus.name.startsWith('access') || corpus.name.startsWith('syslog')) {
        t.ok(
          twice.counts.rows >= 0.99 * twice.rowCount,
          `${corpus.name}: ${twice.counts.rows} rows`,
        );
      }
    }
  },
);

/** Asserts that the kernel reads a share of lines at least, when they come again, and all as the reference does. */
function knowsAgain(
  t: { equal(found: unknown, wanted: unknown): unknown; ok(value: unknown, name: string): unknown },
  twice: Twice,
  lines: readonly Buffer[],
  share: number,
): void {
  t.equal(twice.difference(lines), undefined);
  const before = twice.counts.rows;
  t.equal(twice.difference(lines), undefined);
  const known = twice.counts.rows - before;
  t.ok(known >= share * lines.length, `${known} rows`);
  t.equal(twice.counts.faults, 0);
}

t.test('lines of a thousand shapes are known when each shape has come', async (t) => {
  const corpus = CORPORA.find(({ name }) => name === 'application-shapes');
  const lines = linesOf(must(corpus, 'a corpus'), 4_000);
  const twice = new Twice();
  knowsAgain(t, twice, lines, 0.98);
});

t.test('members are learnt anew where the lines of others have left no room', async (t) => {
  const others = Array.from({ length: 500 }, (_, line) =>
    Buffer.from(`{${Array.from({ length: 40 }, (__, name) => `"${line}_${name}":1`).join(',')}}`),
  );
  const twice = new Twice();
  t.equal(twice.difference(others), undefined);
  const lines = Array.from({ length: 20_000 }, (_, line) => Buffer.from(`{"new${line % 20}":2}`));
  knowsAgain(t, twice, lines, 0.98);
});

t.test('members that are known are so in each order, inside of their objects alone', async (t) => {
  const draw = new Draw(13);
  const inner = ['"id":1', '"kind":"a"', '"kind_of_it":true', '"kind_of_that":null'];
  const some = (from: readonly string[]): string => from.filter(() => draw.chance(0.5)).join(',');
  const lines = Array.from({ length: 4_000 }, () => {
    const objects = ['a', 'b', 'id'].map((name) => `"${name}":{${some(inner)}}`);
    const members = [...objects, ...inner].sort(() => draw.next() - 0.5);
    return Buffer.from(`{${some(members)}}`);
  });
  const twice = new Twice();
  knowsAgain(t, twice, lines, 0.7);
});

t.test('lines that many members could go on are for the reference', async (t) => {
  const draw = new Draw(7);
  const lines = Array.from({ length: 12_000 }, () => {
    const hubs = [0, 1, 2].map(
      (hub) => `"hub${hub}":1,"the_same_beginning_${hub}_${draw.below(1_000)}":2`,
    );
    return Buffer.from(`{${hubs.join(',')}}`);
  });
  const twice = new Twice();
  t.equal(twice.difference(lines), undefined);
  const before = twice.counts.rows;
  t.equal(twice.difference(lines), undefined);
  t.ok(twice.counts.rows - before < 0.5 * lines.length, `${twice.counts.rows - before} rows`);
  t.equal(twice.counts.faults, 0);
});

t.test('events of known lines are extended as those that the reference has read', async (t) => {
  const steps = defaultExtensions().map((definition) =>
    stepOf({ ...definition, enabled: true }, NOTHING_DECLARED),
  );
  for (const corpus of CORPORA) {
    const lines = linesOf(corpus, corpus.name === 'hostile' ? 100 : 1_000);
    const twice = new Twice(compileSteps(steps, failed));
    for (let turn = 0; turn < 3; turn++) t.equal(twice.difference(lines), undefined, corpus.name);
    const elements = lines.filter(isJson);
    t.equal(twice.differenceInArray(elements, ', '), undefined, corpus.name);
    t.equal(twice.counts.faults, 0, corpus.name);
    const isKnown = corpus.name === 'kubernetes' || corpus.name.startsWith('access');
    if (isKnown) t.ok(twice.counts.rows >= 0.6 * twice.rowCount, `${twice.counts.rows} rows`);
  }
});

t.test(
  'a piece of a body ends behind the event that spent it, extended ones of known lines too',
  async (t) => {
    const paths = new PathTable();
    const rows = new Rows();
    const decoder = new Decoder(paths, rows);
    const counts = { rows: 0, faults: 0 };
    decoder.known.templates = makeTemplates(paths, referenceOf(paths), counts, (error) => {
      throw error;
    });
    let events = 0;
    decoder.extension = () => events++;
    const body = Buffer.from(Array.from({ length: 1_000 }, (_, n) => `{"n":${n}}`).join('\n'));
    decoder.begin(body, RECEIVED_MS, undefined);
    decoder.beginBody(0, body.length, false);
    const seen: number[] = [];
    for (let isOver = false; !isOver; decoder.goOn()) {
      const until = events + 7;
      const isSpent = (): boolean => events >= until;
      isOver = decoder.readBody({ events: 4_096, bytes: 65_536, isSpent });
      t.ok(rows.rowCount <= 8, `${rows.rowCount} rows`);
      for (let row = 0; row < rows.rowCount; row++) seen.push(rows.value[rows.rowEntry[row]]);
    }
    t.same(seen, [...Array(1_000).keys()]);
    t.equal(events, 1_000);
    t.ok(counts.rows > 800, `${counts.rows} rows of the kernel`);
  },
);

t.test('elements of arrays are read as by the reference', async (t) => {
  for (const corpus of CORPORA) {
    const lines = linesOf(corpus, corpus.name === 'hostile' ? 300 : 2_000).filter(isJson);
    const twice = new Twice();
    for (const between of [',', ', ', ',\r\n\t', ',', ' ,']) {
      t.equal(twice.differenceInArray(lines, between), undefined, corpus.name);
    }
    t.equal(twice.counts.faults, 0, corpus.name);
    if (!corpus.name.startsWith('access')) continue;
    t.ok(twice.counts.rows >= 0.7 * twice.rowCount, `${corpus.name}: ${twice.counts.rows} rows`);
  }
});

function isJson(line: Buffer): boolean {
  try {
    JSON.parse(line.toString());
    return line[0] === 0x7b;
  } catch {
    return false;
  }
}

t.test('lines with mutated bytes are read as by the reference', async (t) => {
  const draw = new Draw(3);
  const bytes = Buffer.from('"\\{}[],:0123456789.-+eEtrufalsnuuuu \t\r\u0001');
  for (const name of ['access-plain', 'access-rough', 'application']) {
    const corpus = CORPORA.find((found) => found.name === name);
    if (corpus === undefined) throw new Error(name);
    const lines = linesOf(corpus, 500);
    const twice = new Twice();
    twice.difference(lines);
    for (let round = 0; round < 40; round++) {
      const mutated = lines.map((line) => {
        const copy = mutatedLine(line, bytes, draw);
        return draw.below(8) === 0 ? copy.subarray(0, draw.below(copy.length)) : copy;
      });
      t.equal(twice.difference(mutated), undefined, `${name}, round ${round}`);
    }
    t.equal(twice.counts.faults, 0);
  }
});

t.test('lines that are no JSON do not end the work of the kernel', async (t) => {
  const twice = new Twice();
  const lines = Array.from({ length: 6_000 }, (_, n) =>
    Buffer.from(n % 3 === 0 ? `{"date":"2026-11-23T10:00:00Z","n":${n}}` : `<14>text ${n}`),
  );
  for (let turn = 0; turn < 3; turn++) t.equal(twice.difference(lines), undefined);
  t.ok(twice.counts.rows >= 5_900, `${twice.counts.rows} rows`);
  t.equal(twice.counts.faults, 0);
});

t.test('rows keep the dates of their form while others take its number', async (t) => {
  const draw = new Draw(11);
  const names = ['date', 'a', 'b', 'timestamp', 'c', 'd', 'syslog_timestamp', 'e', 'f'];
  const twice = new Twice();
  for (let round = 0; round < 30; round++) {
    const lines = Array.from({ length: 3_000 }, () => {
      const members = names.filter(() => draw.below(2) === 0);
      const dated = members.map((name, at) => `"${name}":"2026-11-23T10:00:0${at}Z"`);
      return Buffer.from(`{"id":1${dated.map((member) => `,${member}`).join('')}}`);
    });
    t.equal(twice.difference(lines), undefined, `round ${round}`);
  }
  t.equal(twice.counts.faults, 0);
});

t.test(
  'members that repeat, collide or come in another order are read as by the reference',
  async (t) => {
    const draw = new Draw(5);
    const names = [
      'a',
      'b',
      'a.b',
      'a.b.c',
      'c',
      'message',
      'timestamp',
      'date',
      'syslog',
      'syslog.x',
      'd.e',
      'd.f',
      'message.x',
      'date.y',
      '@timestamp',
    ];
    const values = [
      ...[
        '1',
        '-0.50',
        '12345678901234567',
        '1e3',
        '"x"',
        '"2026-11-23T10:00:00Z"',
        '"\\n\\u00e9"',
        '"\\u003ca\\u003E\\u0000\\u20AC\\u07ff\\uffff"',
        '"\\ud83d\\ude00"',
        '"\\ud83d!\\u00g0"',
        '"\\u12"',
        '1793491409.212429',
        '9007199254740991',
        '9007199254740993',
        '123456789012345678',
      ],
      ...[
        'null',
        'true',
        'false',
        '[]',
        '[1,"x",true]',
        '[[1]]',
        '[1, 2]',
        '{}',
        '{"b":1,"g":{"h":2}}',
        '{"c":"y"}',
      ],
    ];
    const twice = new Twice();
    for (let round = 0; round < 30; round++) {
      const lines = Array.from({ length: 400 }, () => {
        const count = draw.below(5);
        const members = Array.from(
          { length: count },
          () => `"${draw.pick(names)}":${draw.pick(values)}`,
        );
        return Buffer.from(`{${members.join(draw.below(9) === 0 ? ', ' : ',')}}`);
      });
      t.equal(twice.difference(lines), undefined, `round ${round}`);
    }
    t.equal(twice.counts.faults, 0);
    t.ok(twice.counts.rows > 0, 'the kernel reads some of them');
  },
);

t.test('dates of all forms, and what is nearly one, are read as by the reference', async (t) => {
  const draw = new Draw(8);
  const two = (most: number): string => String(draw.below(most + 1)).padStart(2, '0');
  const fractions = [
    '',
    '.123',
    '.000456',
    '.5',
    '.99',
    '.1234567',
    '.999999999',
    '.1234567890',
    '.',
  ];
  const zones = [
    '',
    'Z',
    'Z',
    '+01:00',
    '-0330',
    '+05:45',
    '-00:00',
    '+24:00',
    '+01:07',
    'z',
    '+1',
  ];
  const date = (): string => {
    const year = draw.pick(['0000', '0001', '1969', '1970', '2024', '2026', '2100', '9999']);
    const day = `${year}-${two(13)}-${two(31)}`;
    const time = `${two(24)}:${two(60)}:${two(60)}`;
    return `"${day}${draw.pick(['T', 'T', ' ', 't'])}${time}${draw.pick(fractions)}${draw.pick(zones)}"`;
  };
  const number = (): string => {
    const whole = String(draw.below(10 ** draw.below(10)) * 10 ** draw.below(5));
    return draw.below(2) === 0 ? whole : `${whole}.${draw.below(10 ** draw.below(7))}`;
  };
  const names = ['date', 'timestamp', '@timestamp', 'syslog.timestamp', 'other'];
  const twice = new Twice();
  for (let round = 0; round < 40; round++) {
    const lines = Array.from({ length: 400 }, (_, n) => {
      const value = draw.below(3) === 0 ? number() : date();
      const good = '"2026-11-23T10:00:00.123Z"';
      const text = `{"n":${n},"${draw.pick(names)}":${draw.below(2) === 0 ? good : value}}`;
      return Buffer.from(text);
    });
    t.equal(twice.difference(lines), undefined, `round ${round}`);
  }
  t.equal(twice.counts.faults, 0);
  t.ok(twice.counts.rows > 0, 'the kernel reads some of them');
});

t.test(
  'lines whose dates cannot be read are for the reference, and those around them are not',
  async (t) => {
    const line = (date: string, n: number): Buffer => Buffer.from(`{"date":"${date}","n":${n}}`);
    const good = Array.from({ length: 100 }, (_, n) => line('2026-11-23T10:00:00Z', n));
    const mixed = Array.from({ length: 1_000 }, (_, n) =>
      line(n % 10 === 0 ? 'soon' : '2026-11-23T10:00:00Z', n),
    );
    const twice = new Twice();
    t.equal(twice.difference(good), undefined);
    const { rows } = twice.counts;
    t.equal(twice.difference(mixed), undefined);
    t.equal(twice.counts.rows - rows, 900);
    t.equal(twice.counts.faults, 0);
  },
);
