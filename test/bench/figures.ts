import { type FigureRow, figureRow, type Origin, type Run } from '../../bench/report/row.ts';

/** Where the rows of tests come from. */
export const ORIGIN: Origin = {
  commit: 'abc1234',
  machine: '2 x test, 4 GiB',
  versions: { node: '22.0.0', duckdb: '2.0.0' },
  started: '2026-01-02T03:04:05.000Z',
  scale: 1,
};

/** The row of a question of the workload `peers` over access-plain, in ms unless `more` says otherwise. */
export function rowOf(
  name: string,
  system: string,
  samples: number[],
  more: { unit?: string; events?: number; workload?: string; commit?: string } = {},
): FigureRow {
  const { workload = 'peers', unit = 'ms', events = 1_000_000, commit = ORIGIN.commit } = more;
  const figure = { name, unit, samples, system, corpus: 'access-plain', events };
  return figureRow(workload, figure, { ...ORIGIN, commit });
}

/** A run in which ours is behind twice and ahead twice, and of which two remarks are told. */
export function sampleRun(): Run {
  return {
    figures: [
      rowOf('count of all', 'logseam', [1, 2, 3]),
      rowOf('count of all', 'duckdb', [4]),
      rowOf('top 10 URLs', 'logseam', [300]),
      rowOf('top 10 URLs', 'duckdb', [200]),
      rowOf('top 10 URLs', 'chdb', [100]),
      rowOf('rate', 'logseam', [50_000], { unit: 'events/s' }),
      rowOf('rate', 'duckdb', [100_000], { unit: 'events/s' }),
      rowOf('CPU', 'logseam', [9], { unit: 's/M events' }),
      rowOf('CPU', 'duckdb', [12], { unit: 's/M events' }),
      rowOf('newest 100', 'logseam', [5]),
    ],
    remarks: [
      {
        workload: 'peers',
        kind: 'not measured',
        system: 'victorialogs',
        text: 'VICTORIALOGS_BIN names no binary',
        ...ORIGIN,
      },
      {
        workload: 'peers',
        kind: 'differs',
        system: 'chdb',
        name: 'top 10 URLs',
        events: 1_000_000,
        text: 'row 3: 17 | 18',
        ...ORIGIN,
      },
    ],
  };
}
