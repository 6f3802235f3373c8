import type { AggregateResult, ExecuteResult } from '../../api/contract.ts';
import { type Json, textOf } from '../../api/exact.ts';
import { whole } from '../../base/format.ts';
import { type Range, stepMs } from '../../base/range.ts';

/** The grouping by steps of time. */
export const TIME = '@time';

/** A bucket with its values. */
export interface Bucket {
  /** Its path, the same in the answer about another time. */
  readonly path: readonly string[];
  readonly groups: readonly Json[];
  /** A value for each metric; of a time series one for each step. */
  readonly metrics: readonly (readonly Json[])[];
}

/** An aggregation that was answered. */
export interface Answer {
  readonly range: Range;
  readonly zone: string;
  readonly query: string;
  readonly step: string;
  readonly metrics: readonly string[];
  readonly groupings: readonly string[];
  /** Begins of the steps of a time series; of all else there are none. */
  readonly times: readonly number[];
  readonly buckets: readonly Bucket[];
  /** The most buckets that each grouping may have in one of that before. */
  readonly limits: readonly number[];
  readonly whole: Pick<AggregateResult, 'bound' | 'damaged'>;
  readonly explain: AggregateResult['explain'];
  /** The name of a saved analysis that was executed. */
  readonly name?: string | undefined;
}

/** An answer without what the service has told. */
export type Asked = Omit<Answer, 'times' | 'buckets' | 'whole' | 'explain'>;

/** The answer of an aggregation whose outputs are those of `bodyOf`. */
export function answerOf(asked: Asked, result: AggregateResult): Answer {
  let times: readonly number[] = [];
  const buckets = result.aggregates.map(({ bucket, values }): Bucket => {
    const groups = asked.groupings.map((_, at) => bucket[`g${at}`] as Json);
    const metrics = asked.metrics.map((_, at) => {
      const value = values[`m${at}`];
      if (!Array.isArray(value)) return [value as Json];
      times = value.map(({ time }) => Date.parse(time));
      return value.map((step) => step.value as Json);
    });
    return { path: pathOf(asked, groups), groups, metrics };
  });
  const { bound, damaged, explain } = result;
  return { ...asked, times, buckets, whole: wholeOf(bound, damaged), explain };
}

function wholeOf(
  bound: AggregateResult['bound'],
  damaged: AggregateResult['damaged'],
): Answer['whole'] {
  return { ...(bound && { bound }), ...(damaged && { damaged }) };
}

/** The answer of the execution of a saved analysis that is no list; steps without a row are `null`. */
export function executedAnswer(
  asked: Pick<Asked, 'range' | 'zone' | 'query' | 'step'>,
  result: Extract<ExecuteResult, { values: unknown }>,
): Answer {
  const [first] = result.values;
  const metrics = Object.keys(first?.metrics ?? {}).map(
    (name, at) => result.names?.metrics[at] ?? name,
  );
  const groupings = Object.keys(first?.fields ?? {}).map(
    (name, at) => result.names?.fields[at] ?? name,
  );
  const times = [...new Set(result.values.map(({ time }) => time))].sort((a, b) => a - b);
  const whole = { ...asked, metrics, groupings, limits: [] };
  const buckets = new Map<string, { path: string[]; groups: Json[]; metrics: Json[][] }>();
  for (const row of result.values) {
    const groups = Object.values(row.fields) as Json[];
    const path = pathOf(whole, groups);
    const key = path.join('\n');
    const bucket = buckets.get(key) ?? {
      ...{ path, groups },
      metrics: metrics.map(() => times.map((): Json => null)),
    };
    buckets.set(key, bucket);
    const step = times.indexOf(row.time);
    for (const [at, value] of Object.values(row.metrics).entries()) {
      const values = bucket.metrics[at];
      if (values !== undefined) values[step] = value as Json;
    }
  }
  const [fromMs, lastMs] = [times[0], times.at(-1)];
  const isSeries = fromMs !== undefined && lastMs !== undefined && fromMs < lastMs;
  return {
    ...whole,
    ...(isSeries ? { range: { fromMs, toMs: lastMs + (lastMs - fromMs) / times.length } } : {}),
    times: isSeries ? times : [],
    buckets: [...buckets.values()],
    whole: wholeOf(result.bound, result.damaged),
    explain: undefined,
    name: result.names?.name,
  };
}

/** The path of a bucket: JSON texts of its values, of a time the number of its step. */
function pathOf(
  { groupings, range, step }: Pick<Asked, 'groupings' | 'range' | 'step'>,
  groups: readonly Json[],
): string[] {
  return groups.map((value, at) =>
    groupings[at] === TIME
      ? String(Math.round((Date.parse(String(value)) - range.fromMs) / stepMs(step)))
      : `${typeof value} ${textOf(value)}`,
  );
}

/** Values of the buckets of the time before, which may lack some. */
export class Before {
  readonly #answer: Answer;
  readonly #byPath = new Map<string, Bucket>();
  /** Children of each bucket that has some. */
  readonly #children = new Map<string, Set<string>>();

  constructor(answer: Answer) {
    this.#answer = answer;
    for (const bucket of answer.buckets) {
      this.#byPath.set(bucket.path.join('\n'), bucket);
      for (const [level, name] of bucket.path.entries()) {
        const parent = bucket.path.slice(0, level).join('\n');
        const known = this.#children.get(parent) ?? new Set();
        this.#children.set(parent, known.add(name));
      }
    }
  }

  /** The missing parts of the answer. */
  get whole(): Answer['whole'] {
    return this.#answer.whole;
  }

  /** The values of a metric in a bucket; `undefined` when the answer does not tell. `none` stands for no event. */
  valuesOf({ path }: Bucket, metric: number, none: Json): readonly Json[] | undefined {
    const found = this.#byPath.get(path.join('\n'));
    if (found !== undefined) return found.metrics[metric];
    return this.#isAbsent(path) ? this.#answer.times.map(() => none).concat(none) : undefined;
  }

  /** Reports whether there was no event: its siblings are all there, and it is not among them. */
  #isAbsent(path: readonly string[]): boolean {
    for (const [level, name] of path.entries()) {
      const siblings = this.#children.get(path.slice(0, level).join('\n'));
      if (siblings?.has(name) === true) continue;
      return (siblings?.size ?? 0) < (this.#answer.limits[level] ?? 0);
    }
    return true;
  }
}

/** A value of a metric with all of its digits. */
export function shownNumber(value: Json | undefined): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'number' && Number.isSafeInteger(value) ? whole(value) : textOf(value);
}

/** The value as a number; `null` where there is none. */
export function numberOf(value: Json | undefined): number | null {
  return value === undefined || value === null ? null : Number(textOf(value));
}

/** By how much a value is more than the one before, in numbers and percent. */
export function difference(now: Json | undefined, before: Json | undefined): string {
  const [to, from] = [numberOf(now), numberOf(before)];
  if (to === null || from === null) return '–';
  const by = Number((to - from).toPrecision(12));
  const sign = by > 0 ? '+' : by < 0 ? '−' : '±';
  const text = Number.isSafeInteger(by) ? whole(Math.abs(by)) : String(Math.abs(by));
  const part = from === 0 ? '' : ` (${sign}${Math.round(Math.abs((100 * by) / from))} %)`;
  return `${sign}${text}${part}`;
}
