import { assert, must } from '../../engine/base/assert.ts';
import type { AggregateBucket, AggregateResult, BucketKey } from '../../engine/engine.ts';
import { colorOf } from './color.ts';
import { formatNumber } from './format.ts';
import type { ComputeOutput, GroupOutput, QueryJob } from './job.ts';
import { isoIn, parseZone, type Zone } from './zone.ts';

type AggregateJob = Extract<QueryJob, { type: 'aggregate' }>;
type ComputedValue = AggregateBucket['values'][number];

/** Values that are written at once: a few milliseconds. */
export const VALUES_A_UNIT = 4_096;

/**
 * The members of `result` of an aggregation, as JSON text without braces: `aggregates`, and `lastBucket` when there are more
 * buckets. Written in units. Source: interface.md 2.8 and 4.8, decisions.md 5b.
 */
export function* aggregatesUnits(
  job: AggregateJob,
  result: AggregateResult,
): Generator<undefined, string> {
  const writer = new BucketWriter(job);
  const { computes, groupBys } = job.query;
  const names = job.outputs.map((output) => JSON.stringify(output.name));
  const groupNames = job.groupOutputs.map((output) => JSON.stringify(output.name));
  assert(names.length === computes.length, 'an output for each compute');
  assert(groupNames.length === groupBys.length, 'an output for each groupBy');
  const buckets: string[] = [];
  let unitCount = 0;
  for (const { keys, values } of result.buckets) {
    const bucket = groupNames.map((name, place) => `${name}:${writer.key(keys[place], place)}`);
    const computed: string[] = [];
    for (const [place, name] of names.entries()) {
      const value = values[place];
      computed.push(`${name}:${writer.values(value, place)}`);
      unitCount += Array.isArray(value) ? value.length : 1;
      if (unitCount < VALUES_A_UNIT) continue;
      unitCount = 0;
      yield;
    }
    buckets.push(`{"bucket":{${bucket.join(',')}},"values":{${computed.join(',')}}}`);
  }
  const last = lastKey(job, result);
  const lastBucket =
    last === undefined ? '' : `,"lastBucket":{${groupNames[0]}:${writer.plainKey(last, 0)}}`;
  return `"aggregates":[${buckets.join(',')}]${lastBucket}`;
}

/** The last bucket of the first level, when there are more that can be asked for. Source: decisions.md 5b.5. */
function lastKey(job: AggregateJob, result: AggregateResult): BucketKey | undefined {
  const first = job.query.groupBys[0];
  if (!result.more || first.type === 'time' || first.order.by.type !== 'natural') return undefined;
  return result.last;
}

/** Writes keys and values of one reply. */
export class BucketWriter {
  readonly #format: boolean;
  readonly #zone: Zone;
  readonly #outputs: readonly ComputeOutput[];
  readonly #groupOutputs: readonly GroupOutput[];
  /** ISO texts of the steps of computes that are time series. */
  readonly #steps: string[][];

  constructor(job: AggregateJob) {
    this.#format = job.format;
    this.#zone = must(parseZone(job.zone), `zone ${job.zone}`);
    this.#outputs = job.outputs;
    this.#groupOutputs = job.groupOutputs;
    this.#steps = job.query.computes.map((compute) =>
      compute.type === 'metric'
        ? []
        : compute.boundaries.slice(0, -1).map((ms) => `"${isoIn(this.#zone, ms)}"`),
    );
  }

  /** JSON text of the key of a level. */
  key(key: BucketKey, place: number): string {
    if (!this.#format) return this.plainKey(key, place);
    const { tags } = this.#groupOutputs[place];
    if (key.type === 'tag') {
      const tag = must(
        tags?.find(({ id }) => id === key.id),
        `tag ${key.id}`,
      );
      return `{"id":${JSON.stringify(tag.id)},"name":${JSON.stringify(tag.name)},"color":${JSON.stringify(tag.color)}}`;
    }
    const text = JSON.stringify(this.#text(key, place));
    return `{"id":${text},"name":${text},"color":"${colorOf(`${key.type} ${text}`)}"}`;
  }

  /** JSON text of the key of a level, as it is without `format`. */
  plainKey(key: BucketKey, place: number): string {
    const text = this.#text(key, place);
    return key.type === 'number' || key.type === 'boolean' ? text : JSON.stringify(text);
  }

  /** JSON text of the values of a compute. */
  values(value: ComputedValue, place: number): string {
    if (!Array.isArray(value)) return this.value(value, place);
    const steps = this.#steps[place];
    const points = value.map(
      (point, step) => `{"time":${steps[step]},"value":${this.value(point, place)}}`,
    );
    return `[${points.join(',')}]`;
  }

  /** JSON text of a number of a compute; what JSON has no number for is null. */
  value(value: number | null, place: number): string {
    const shown = value !== null && Number.isFinite(value) ? value : null;
    const text = JSON.stringify(shown);
    if (!this.#format) return text;
    const { unit } = this.#outputs[place];
    const formatted = formatNumber(shown);
    const withUnit = unit === undefined || shown === null ? formatted : `${formatted} ${unit}`;
    return `{"value":${text},"formatted":${JSON.stringify(withUnit)}}`;
  }

  #text(key: BucketKey, place: number): string {
    switch (key.type) {
      case 'boolean':
        return String(key.value);
      case 'tag':
        return key.id;
      case 'time':
        return isoIn(this.#zone, key.timeMs);
      case 'total':
        return must(this.#groupOutputs[place].total, 'label of a total');
      default:
        return key.text;
    }
  }
}
