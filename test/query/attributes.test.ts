import fc from 'fast-check';
import t from 'tap';
import { attributesUnits } from '../../engine/query/group/attributes.ts';
import type { AttributeFacts, AttributesQuery, BucketKey } from '../../engine/query/model/query.ts';
import type { BlockSource } from '../../engine/query/model/source.ts';
import type { TestLeaf, TestRow } from '../segment/leaves.ts';
import { modelBuckets } from '../support/bucket-model.ts';
import {
  distinctKey,
  type Model,
  type ModelEvent,
  type ModelPredicate,
  type Node,
} from '../support/model.ts';
import { run } from './blocks.ts';
import { PATHS, predicate, testRow } from './events.ts';
import { stored } from './stored.ts';

const ALL: ModelPredicate = { type: 'all' };
const EVER = { fromMs: -1e12, toMs: 1e12 };

/** Paths of the leaves of an event, with what they are; strings and dates are both text. */
function leavesOf(node: Node, path: string, found: Map<string, Set<string>>): void {
  if (node.type === 'object') {
    for (const [name, member] of node.members) {
      leavesOf(member, path === '' ? name : `${path}.${name}`, found);
    }
    return;
  }
  if (node.type === 'null') return;
  const kinds = found.get(path) ?? new Set();
  found.set(path, kinds.add(node.type === 'string' ? 'text' : node.type));
}

/** An attribute's measurements, as a text that two sides can be compared by. */
interface Wanted {
  path: string;
  eventCount: number;
  kinds: string[];
  distinctCount: number;
  values: string[];
  numbers: string[] | null;
}

function wantedOf(model: Model, query: AttributesQuery): Wanted[] {
  const { fromMs, toMs, predicate, paths, prefix } = query;
  const events = model.selected(fromMs, toMs, predicate);
  const counts = new Map<string, number>();
  const kinds = new Map<string, Set<string>>();
  for (const event of events) {
    const leaves = new Map<string, Set<string>>();
    leavesOf(model.node(event), '', leaves);
    for (const [path, own] of leaves) {
      counts.set(path, (counts.get(path) ?? 0) + 1);
      kinds.set(path, new Set([...(kinds.get(path) ?? []), ...own]));
    }
  }
  return [...counts]
    .filter(([path]) => paths?.includes(path) ?? true)
    .filter(([path]) => path.startsWith(prefix ?? ''))
    .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
    .slice(0, query.limit)
    .map(([path, eventCount]) => wantedAttribute(model, events, query, path, eventCount, kinds));
}

function wantedAttribute(
  model: Model,
  events: ModelEvent[],
  query: AttributesQuery,
  path: string,
  eventCount: number,
  kinds: Map<string, Set<string>>,
): Wanted {
  const { cardinality, min, texts } = model.summaryOf(events, path);
  const order = { by: { type: 'core' as const }, direction: 'desc' as const };
  const limit = query.values ?? 0;
  const buckets = modelBuckets(model, {
    ...{ fromMs: query.fromMs, toMs: query.toMs, predicate: query.predicate },
    computes: [{ type: 'metric', metric: { type: 'core' } }],
    groupBys: [{ type: 'field', path, limit, order, total: false }],
  });
  return {
    path,
    eventCount,
    kinds: [...(kinds.get(path) ?? [])],
    distinctCount: cardinality,
    values: buckets.map(({ keys, values }) => `${keys[0]} ${Object(values[0]).exact}`),
    numbers: min === null ? null : [texts.min, texts.max].map(numberKey),
  };
}

/** A text that equal numbers have alike. */
function numberKey(number: number | string): string {
  return distinctKey({ type: 'number', text: String(number) });
}

function keyText(key: BucketKey): string {
  if (key.type === 'boolean') return `boolean ${key.value}`;
  if (key.type === 'string') return `string ${key.text}`;
  if (key.type !== 'number') throw new Error(`a key of type ${key.type}`);
  const [, digits = '', point = '', exponent = '0'] =
    /^(-?\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(key.text) ?? [];
  let mantissa = BigInt(digits + point);
  let power = Number(exponent) - point.length;
  if (mantissa === 0n) return 'number 0e0';
  for (; mantissa % 10n === 0n; mantissa /= 10n) power++;
  return `number ${mantissa}e${power}`;
}

function foundOf(facts: AttributeFacts): Wanted {
  const { path, eventCount, distinctCount = -1, values, bounds } = facts;
  const own = facts.kinds.map((kind) => (kind === 'date' || kind === 'string' ? 'text' : kind));
  return {
    path,
    eventCount,
    kinds: [...new Set(own)],
    distinctCount,
    values: (values ?? []).map(({ key, eventCount }) => `${keyText(key)} ${eventCount}`),
    numbers: bounds?.type === 'number' ? [bounds.min, bounds.max].map(numberKey) : null,
  };
}

t.test('attributes and their values are those of the model', async () => {
  const queries = fc.record(
    {
      predicate: fc.oneof(predicate, fc.constant(ALL)),
      range: fc.tuple(fc.integer({ min: -1, max: 6 }), fc.integer({ min: 5, max: 13 })),
      paths: fc.uniqueArray(fc.constantFrom(...PATHS), { maxLength: 3 }),
      prefix: fc.constantFrom('custom.', 'custom.o', 'message', 'x'),
      limit: fc.integer({ min: 1, max: 9 }),
      values: fc.integer({ min: 0, max: 4 }),
    },
    { requiredKeys: ['predicate', 'limit', 'values'] },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(testRow, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 4 }),
      fc.nat(4),
      queries,
      fc.constantFrom(3, 50_000),
      // Of little memory the share of each attribute is none: all are counted again.
      fc.constantFrom(1e5, 1e9),
      async (written, sealedCount, { range, ...asked }, distinctMax, memoryBytesMax) => {
        const { shelf, model } = await stored(written, sealedCount);
        const [fromMs, toMs] = range ?? [EVER.fromMs, EVER.toMs];
        const query = { ...asked, fromMs, toMs };
        const limits = { distinctMax, memoryBytesMax };
        const snapshot = { blocks: shelf.refs };
        const { attributes } = run(attributesUnits(shelf.reader, snapshot, query, limits));
        const wanted = wantedOf(model, query);
        for (const [place, facts] of attributes.entries()) {
          const want = wanted[place];
          if (facts.values === null) {
            if (want.distinctCount <= distinctMax) throw new Error(`no values of ${facts.path}`);
            want.values = [];
          }
          want.kinds.sort();
          const found = foundOf(facts);
          found.kinds.sort();
          if (JSON.stringify(found) !== JSON.stringify(want)) {
            throw new Error(`${JSON.stringify(found)}, not ${JSON.stringify(want)}`);
          }
        }
        if (attributes.length !== wanted.length) throw new Error(`${attributes.length} attributes`);
      },
    ),
    { numRuns: 80 },
  );
});

const text = (name: string, value: string): TestLeaf => ({
  names: ['custom', name],
  kind: 'string',
  text: value,
});

t.test('sealed blocks that are selected whole are counted by their footers', async (t) => {
  const rows = Array.from({ length: 40 }, (_, timeMs) => ({
    timeMs,
    leaves: [text('a', String(timeMs)), ...(timeMs % 4 === 0 ? [text('b', 'x')] : [])],
  }));
  const { shelf } = await stored([rows], 1);
  const query = { ...EVER, predicate: ALL, limit: 10 };
  const snapshot = { blocks: shelf.refs };
  const counted = run(attributesUnits(shelf.reader, snapshot, query));
  t.same(counted.attributes, [
    { path: 'custom.a', eventCount: 40, kinds: ['string'] },
    { path: 'custom.b', eventCount: 10, kinds: ['string'] },
  ]);
  t.match(counted.stats, { blocksTotal: 2, blocksOpened: 0, rowsScanned: 0 });
  const cut = run(attributesUnits(shelf.reader, snapshot, { ...query, toMs: 10 }));
  t.match(cut, { attributes: [{ eventCount: 10 }, { eventCount: 3 }], stats: { blocksOpened: 1 } });
});

t.test('attributes of few events are counted together', async (t) => {
  const names = Array.from({ length: 60 }, (_, place) => `a${100 + place}`);
  const rows = names.map((name, timeMs) => ({ timeMs, leaves: [text(name, 'x')] }));
  const { shelf } = await stored([rows], 0);
  let openings = 0;
  const source = {
    secret: shelf.reader.secret,
    ids: shelf.reader.ids,
    open: (ref: (typeof shelf.refs)[number]) => {
      openings++;
      return shelf.reader.open(ref);
    },
  };
  const query = { ...EVER, predicate: ALL, limit: 100, values: 1 };
  const { attributes } = run(attributesUnits(source, { blocks: shelf.refs }, query));
  const counts = attributes.map(({ path, values }) => ({ path, count: values?.[0].eventCount }));
  t.same(
    counts,
    names.map((name) => ({ path: `custom.${name}`, count: 1 })),
  );
  t.ok(openings <= 3 * shelf.refs.length, `${openings} openings`);
});

t.test('dates have bounds, numbers win over them, and text has none', async (t) => {
  const row = (timeMs: number, ...leaves: TestLeaf[]): TestRow => ({ timeMs, leaves });
  const date = (name: string, value: string): TestLeaf => ({
    names: ['custom', name],
    kind: 'date',
    text: value,
  });
  const { shelf } = await stored(
    [
      [
        row(
          1,
          date('d', '2026-01-02T00:00:00Z'),
          date('m', '2026-01-02T00:00:00Z'),
          text('s', 'a'),
        ),
      ],
      [row(2, date('d', '2026-01-01T00:00:00.250Z'), text('m', '1e400'), text('s', '-'))],
      [row(3, date('d', '2026-01-03T00:00:00Z'), text('m', '7.50'), text('s', ''))],
    ],
    1,
  );
  for (const distinctMax of [2, 100]) {
    const limits = { distinctMax, memoryBytesMax: 1e9 };
    const query = { ...EVER, predicate: ALL, limit: 10, values: 1 };
    const { attributes } = run(
      attributesUnits(shelf.reader, { blocks: shelf.refs }, query, limits),
    );
    t.same(
      attributes.map(({ bounds }) => bounds),
      [
        { type: 'date', minMs: Date.UTC(2026, 0, 1) + 250, maxMs: Date.UTC(2026, 0, 3) },
        { type: 'number', min: 7.5, max: 7.5 },
        undefined,
      ],
    );
    t.equal(attributes[0].values === null, distinctMax === 2);
  }
});

t.test('a damaged block is left out of all counts', async (t) => {
  const rows = (value: string) => [{ timeMs: 1, leaves: [text('a', value)] }];
  const { shelf } = await stored([rows('x'), rows('y'), rows('y')], 0);
  const refs = shelf.refs;
  const source = {
    secret: shelf.reader.secret,
    ids: shelf.reader.ids,
    open: (ref: (typeof refs)[number]) =>
      shelf.reader.open(ref === refs[1] ? { ...ref, ordinal: 7 } : ref),
  };
  const query = { ...EVER, predicate: ALL, limit: 10, values: 5 };
  const { attributes, stats } = run(attributesUnits(source, { blocks: refs }, query));
  t.match(attributes, [{ eventCount: 2, distinctCount: 2 }]);
  t.equal(stats.blocksDamaged, 1);
});

t.test('measures of log blocks are right whichever blocks were measured before', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(testRow, { minLength: 1, maxLength: 20 }), { minLength: 2, maxLength: 4 }),
      fc.array(fc.record({ chosen: fc.nat(15), damaged: fc.nat(30) }), { maxLength: 5 }),
      async (written, asked) => {
        const { shelf } = await stored(written, 1);
        const { secret, ids, sums } = shelf.reader;
        const query = { ...EVER, predicate: ALL, limit: 100, values: 0 };
        for (const { chosen, damaged } of asked) {
          const blocks = shelf.refs.filter((_, place) => ((chosen >>> place) & 1) === 1);
          const open = (ref: (typeof blocks)[number]) =>
            shelf.reader.open(ref === shelf.refs[damaged] ? { ...ref, ordinal: 7 } : ref);
          const answer = (source: BlockSource) => run(attributesUnits(source, { blocks }, query));
          const found = answer({ secret, ids, open, sums });
          const wanted = answer({ secret, ids, open });
          if (JSON.stringify(found) !== JSON.stringify(wanted)) {
            throw new Error(`${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
          }
        }
      },
    ),
    { numRuns: 30 },
  );
});
