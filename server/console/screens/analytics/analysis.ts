import { computed } from '@preact/signals';
import type { AggregateBody } from '../../api/contract.ts';
import { addressOf, change, place } from '../../base/address.ts';
import {
  ANALYTICS,
  decoded,
  encoded,
  filtersOf,
  PARAMETERS,
  type Question,
  said,
} from '../../base/question.ts';
import { type Range, stepFor } from '../../base/range.ts';
import { TIME } from './answer.ts';

/** Ways of showing an aggregation, as saved analyses name them. */
export const KINDS = { timeseries: 'Time series', toplist: 'Top list', table: 'Table' } as const;
/** One of them. */
export type Kind = keyof typeof KINDS;

/** A groupBy of the address; what is empty is as the service has it. */
export interface Grouping {
  /** A field, a tagset, an attribute, or TIME. */
  readonly id: string;
  readonly limit: string;
  /** Number of a metric as `m0`, or `@natural`, with `:asc` or `:desc` behind it. */
  readonly order: string;
}

/** An analysis as the address says it, beside its question. */
export interface Analysis {
  readonly kind: Kind;
  readonly metrics: readonly string[];
  readonly groupings: readonly Grouping[];
  /** An interval; empty: as long as the range asks for. */
  readonly step: string;
  readonly isCompared: boolean;
  /** The id of a saved analysis that is executed in place of all others. */
  readonly run: string | undefined;
}

/** The most metrics of an analysis. Source: INTERFACE.md 4.8. */
export const METRICS_MAX = 5;
/** The most groupBys. Source: INTERFACE.md 4.8. */
export const GROUPINGS_MAX = 3;

const { KIND, METRICS, GROUPINGS, STEP, COMPARED, RUN } = {
  ...{ KIND: 'kind', METRICS: 'm', GROUPINGS: 'g', STEP: 'step', COMPARED: 'vs', RUN: 'run' },
} as const;
const METRIC_DEFAULT = 'count';
const STEPS_OF_CHART = 110;
const STEPS_OF_TABLE = 24;

/** The analysis of the address, the same as long as nothing of it changes. */
export const analysis = computed<Analysis>(() => JSON.parse(analysisText.value) as Analysis);

const analysisText = computed(() => {
  const { params } = place.value;
  const kind = params.get(KIND) ?? '';
  const entries = (name: string, max: number): string[] =>
    (params.get(name) ?? '').split(',', max).filter((entry) => entry !== '');
  const metrics = entries(METRICS, METRICS_MAX).map(decoded);
  return JSON.stringify({
    kind: kind in KINDS ? kind : 'timeseries',
    metrics: metrics.length === 0 ? [METRIC_DEFAULT] : metrics,
    groupings: entries(GROUPINGS, GROUPINGS_MAX).map((entry) => {
      const [id = '', limit = '', order = ''] = entry.split('*').map(decoded);
      return { id, limit, order };
    }),
    step: params.get(STEP) ?? '',
    isCompared: params.get(COMPARED) === '1',
    ...(params.has(RUN) ? { run: params.get(RUN) } : {}),
  });
});

/** Shows another analysis of the same question. */
export function analyse(changes: Partial<Analysis>): void {
  change(parametersOf({ ...analysis.peek(), ...changes }));
}

/** The parameters of an analysis as the address has them. */
function parametersOf(next: Analysis): Record<string, string | undefined> {
  const { kind, metrics, groupings, step, isCompared, run } = next;
  const entries = groupings.map(({ id, limit, order }) =>
    [id, limit, order].map(encoded).join('*').replace(/\*+$/, ''),
  );
  const metricsText = metrics.map(encoded).join(',');
  return {
    [KIND]: kind === 'timeseries' ? undefined : kind,
    [METRICS]: metricsText === METRIC_DEFAULT || metricsText === '' ? undefined : metricsText,
    [GROUPINGS]: entries.length === 0 ? undefined : entries.join(','),
    [STEP]: step === '' ? undefined : step,
    [COMPARED]: isCompared ? '1' : undefined,
    [RUN]: run,
  };
}

/** The address of an analysis of a question. */
export function addressOfAnalysis(
  next: Analysis,
  { query, from, to, zone }: Pick<Question, 'query' | 'from' | 'to' | 'zone'>,
): string {
  const { QUERY, FROM, TO, ZONE } = PARAMETERS;
  const all = { ...{ [QUERY]: query, [FROM]: from, [TO]: to, [ZONE]: zone } };
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(all)) {
    if (said(name, value) !== undefined) params.set(name, value);
  }
  for (const [name, value] of Object.entries(parametersOf(next))) {
    if (value !== undefined) params.set(name, value);
  }
  return addressOf(ANALYTICS, params);
}

/** The step of an analysis in a range. */
export function stepOf({ kind, step }: Analysis, asking: Range): string {
  if (step !== '') return step;
  return stepFor(asking, kind === 'timeseries' ? STEPS_OF_CHART : STEPS_OF_TABLE);
}

/** The body of an aggregation, its outputs `m0` and so on, and `g0` and so on; `time` may be relative. */
export function bodyOf(
  asked: Analysis,
  query: string,
  time: AggregateBody['time'],
  interval: string,
): AggregateBody {
  const { kind, metrics, groupings } = asked;
  return {
    ...{ time, filters: filtersOf(query) },
    compute: metrics.map((id, at) =>
      kind === 'timeseries'
        ? { timeseries: { metricId: id, interval, output: `m${at}` } }
        : { metric: { id, output: `m${at}` } },
    ),
    groupBy: groupings.map(({ id, limit, order }, at) => {
      const output = `g${at}`;
      if (id === TIME) return { time: { interval, output } };
      const [by, direction] = order.split(':');
      return {
        field: {
          ...{ id, output },
          ...(limit === '' ? {} : { limit: Number(limit) }),
          ...(by === undefined || by === '' || direction === undefined
            ? {}
            : { order: { [by]: direction === 'asc' ? ('asc' as const) : ('desc' as const) } }),
        },
      };
    }),
  };
}
