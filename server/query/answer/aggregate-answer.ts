import { assert, must } from '../../../engine/base/assert.ts';
import type { Units } from '../../../engine/base/pause.ts';
import type { AggregateResult, BucketKey, MetricValue } from '../../../engine/engine.ts';
import { isoIn, parseZone, type Zone } from '../../language/zone.ts';
import type { ComputeOutput, GroupOutput, QueryJob } from '../job.ts';
import type { AnswerWriter } from './answer-writer.ts';
import { colorOf, formatNumber } from './format.ts';

type AggregateJob = Extract<QueryJob, { type: 'aggregate' }>;

/** Short texts in whose time the key of a bucket is made, and a value, with its date. */
export const KEY_TEXTS = 8;
export const VALUE_TEXTS = 4;
/** Short texts that are added together. */
const TOGETHER_TEXTS = 64;

/**
 * Writes the members of `result` of an aggregation, as JSON text without braces: `aggregates`, and `lastBucket` when
 * there are more buckets. Works in units. Source: INTERFACE.md 2.8 and 4.8.
 */
export function* writeAggregates(
  writer: AnswerWriter,
  job: AggregateJob,
  result: AggregateResult,
): Units<void> {
  const texts = new BucketTexts(job);
  const { computes, groupBys } = job.query;
  const names = namesOf(job.outputs);
  const groupNames = namesOf(job.groupOutputs);
  assert(names.length === computes.length, 'an output for each compute');
  assert(groupNames.length === groupBys.length, 'an output for each groupBy');
  writer.add('"aggregates":[');
  const { buckets } = result;
  for (let at = 0; at < buckets.length; at++) {
    const { keys, values } = buckets[at];
    let text = at === 0 ? '{"bucket":{' : ',{"bucket":{';
    for (let place = 0; place < keys.length; place++) {
      text += groupNames[place] + texts.key(keys[place], place);
    }
    text += '},"values":{';
    let made = KEY_TEXTS * keys.length;
    for (let place = 0; place < names.length; place++) {
      const value = values[place];
      text += names[place];
      if (Array.isArray(value)) {
        writer.add(text, made);
        [text, made] = ['', 0];
        yield* writeSeries(writer, texts, value, place);
      } else {
        text += texts.value(value, place);
        made += VALUE_TEXTS + 1;
      }
      if (made < TOGETHER_TEXTS) continue;
      writer.add(text, made);
      [text, made] = ['', 0];
      if (writer.isFull()) yield;
    }
    writer.add(`${text}}}`, made);
    if (writer.isFull()) yield;
  }
  writer.add(']');
  const last = lastKey(job, result);
  if (last !== undefined) {
    writer.add(`,"lastBucket":{${groupNames[0]}${texts.plainKey(last, 0)}}`);
  }
}

/** The names of members of an object as they stand in it, up to their values. */
function namesOf(outputs: readonly { name: string }[]): string[] {
  return outputs.map(({ name }, place) => `${place === 0 ? '' : ','}${JSON.stringify(name)}:`);
}

/** Writes the values of a compute that is a time series. */
function* writeSeries(
  writer: AnswerWriter,
  texts: BucketTexts,
  points: readonly MetricValue[],
  place: number,
): Units<void> {
  writer.add('[');
  for (let step = 0; step < points.length; step++) {
    const time = texts.step(step, place);
    const value = texts.value(points[step], place);
    writer.add(`${step === 0 ? '' : ','}{"time":${time},"value":${value}}`, VALUE_TEXTS);
    if (writer.isFull()) yield;
  }
  writer.add(']');
}

/** The last bucket of the first level, when there are more that can be asked for. Source: INTERFACE.md 4.8. */
function lastKey(job: AggregateJob, result: AggregateResult): BucketKey | undefined {
  const first = job.query.groupBys[0];
  if (!result.more || first.type === 'time' || first.order.by.type !== 'natural') return undefined;
  return result.last;
}

/** Makes the JSON texts of keys and values of one reply. */
export class BucketTexts {
  readonly #format: boolean;
  readonly #zone: Zone;
  readonly #outputs: readonly ComputeOutput[];
  readonly #groupOutputs: readonly GroupOutput[];
  /** Starts of the steps of each compute that is a time series, and the texts of those that were asked for. */
  readonly #boundaries: (ArrayLike<number> | undefined)[];
  readonly #steps: string[][];

  constructor(job: AggregateJob) {
    this.#format = job.format;
    this.#zone = must(parseZone(job.zone), `zone ${job.zone}`);
    this.#outputs = job.outputs;
    this.#groupOutputs = job.groupOutputs;
    this.#boundaries = job.query.computes.map((compute) =>
      compute.type === 'metric' ? undefined : compute.boundaries,
    );
    this.#steps = this.#boundaries.map(() => []);
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
    if (key.type === 'time') return `"${text}"`;
    return key.type === 'number' || key.type === 'boolean' ? text : JSON.stringify(text);
  }

  /** JSON text of when a step of a compute that is a time series begins. */
  step(step: number, place: number): string {
    const known = this.#steps[place];
    if (step < known.length) return known[step];
    const boundaries = must(this.#boundaries[place], 'a time series');
    const text = `"${isoIn(this.#zone, boundaries[step])}"`;
    if (step === known.length) known.push(text);
    return text;
  }

  /** JSON text of a number of a compute; what JSON has no number for is null. */
  value(value: MetricValue, place: number): string {
    const shown = value !== null && Number.isFinite(Number(value)) ? value : null;
    const text = String(shown);
    if (!this.#format) return text;
    const { unit } = this.#outputs[place];
    const formatted = formatNumber(shown === null ? null : Number(shown));
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
