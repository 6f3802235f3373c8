import fc from 'fast-check';
import t from 'tap';
import { finished } from '../../engine/base/pause.ts';
import type { NumberColumn } from '../../engine/column/column.ts';
import { Kind } from '../../engine/column/kind.ts';
import { plainValues } from '../../engine/packed/cells.ts';
import { Summary } from '../../engine/query/metric/metric.ts';
import type { Aggregation, MetricValue } from '../../engine/query/model/query.ts';
import { Pairs } from '../../engine/query/value/pairs.ts';
import { ValueHash } from '../../engine/query/value/value-hash.ts';

type Form = 'mantissas' | 'packed' | 'coded';

const GROUPS = 5;
const LIGHT: Aggregation[] = ['sum', 'avg', 'min', 'max', 'count'];

/** A column of numbers that has them in one form beside mantissas, by row. */
function columnOf(mantissas: readonly number[], scale: number, form: Form): NumberColumn {
  const table = Float64Array.from(new Set(mantissas));
  const codes = Uint32Array.from(mantissas, (mantissa) => table.indexOf(mantissa));
  const isSmall = mantissas.every((mantissa) => mantissa >= 0 && mantissa < 2 ** 31 - 2);
  const packed = Uint32Array.from(mantissas, (mantissa) => mantissa + 1);
  const column = {
    kind: Kind.NUMBER,
    presence: undefined,
    scale,
    mantissas: Float64Array.from(mantissas),
    exceptions: [],
    packed: () => (form === 'packed' && isSmall ? plainValues(packed) : undefined),
    coded: () => (form === 'coded' ? { codes: plainValues(codes), table } : undefined),
  };
  return column as unknown as NumberColumn;
}

function valuesOf(summary: Summary, asked: readonly Aggregation[]): MetricValue[] {
  return asked.flatMap((aggregation) =>
    Array.from({ length: GROUPS }, (_, group) => summary.value(aggregation, group)),
  );
}

t.test(
  'numbers that are packed or coded add up to what their mantissas do, also after others that were taken away',
  async (t) => {
    const mantissa = fc.oneof(
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: -1_000, max: 2 ** 31 }),
      fc.constantFrom(Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 2 ** 51 + 1, 1e15),
    );
    const small = fc.integer({ min: 0, max: 2 ** 31 - 3 });
    const rows = fc.oneof(
      fc.array(fc.tuple(mantissa, fc.nat({ max: GROUPS - 1 })), { minLength: 1, maxLength: 40 }),
      fc.array(fc.tuple(small, fc.nat({ max: GROUPS - 1 })), { minLength: 1, maxLength: 40 }),
    );
    const asked = fc.uniqueArray(fc.constantFrom(...LIGHT), { minLength: 1, maxLength: 2 });
    const form = fc.constantFrom<Form>('packed', 'coded');
    fc.assert(
      fc.property(rows, asked, form, fc.constantFrom(0, 2, -1), (rows, asked, form, scale) => {
        const pairs = new Pairs();
        for (const [row, [, group]] of rows.entries()) if (row % 7 !== 3) pairs.add(row, group);
        const mantissas = rows.map(([mantissa]) => mantissa);
        const make = (): Summary => {
          const summary = new Summary(new Set(asked), new ValueHash(new Uint8Array(8)));
          summary.ensure(GROUPS);
          return summary;
        };
        const [plain, quick] = [make(), make()];
        plain.add(columnOf(mantissas, scale, 'mantissas'), pairs);
        quick.add(columnOf([...mantissas].reverse(), scale, form), pairs);
        quick.clear();
        quick.add(columnOf(mantissas, scale, form), pairs);
        finished(quick.settle());
        t.strictSame(valuesOf(quick, asked), valuesOf(plain, asked));
      }),
      { numRuns: 400 },
    );
  },
);

t.test('rows take the groups that their block has for them', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 100 }), (chosen) => {
      const rows = new Uint32Array(Math.ceil(chosen.length / 32));
      for (const [row, isChosen] of chosen.entries()) {
        if (isChosen) rows[row >>> 5] |= 1 << (row & 31);
      }
      const pairs = new Pairs();
      pairs.resetTo(
        rows,
        Uint32Array.from(chosen, (_, row) => row * 3),
      );
      const wanted = chosen.flatMap((isChosen, row) => (isChosen ? [row] : []));
      t.same([...pairs.rows.subarray(0, pairs.count)], wanted);
      t.same(
        [...pairs.groups.subarray(0, pairs.count)],
        wanted.map((row) => row * 3),
      );
    }),
    { numRuns: 50 },
  );
});
