import { must } from '../../../engine/base/assert.ts';
import type { Units } from '../../../engine/base/pause.ts';
import type { AggregateResult, ListedEvent, MetricValue } from '../../../engine/engine.ts';
import { isoIn, type Zone } from '../../language/zone.ts';
import type { QueryJob } from '../job.ts';
import { BucketTexts, VALUE_TEXTS } from './aggregate-answer.ts';
import type { AnswerWriter } from './answer-writer.ts';

/**
 * An event as a saved list view shows it: `id`, `date`, what the event has of `custom`, `syslog` and `message`, and its
 * reception date. Its only column is `syslog`, which tells whether there is one; `{}` stands for none.
 * Source: INTERFACE.md 4.7.
 */
export function rawEventText(event: ListedEvent, zone: Zone): string {
  const text = must(event.event, 'event of a list view');
  const syslog = event.columns[0] === 'null' ? ',"syslog":{}' : '';
  const date = isoIn(zone, event.timeMs);
  const received = isoIn(zone, event.receivedMs);
  return (
    `{"id":${JSON.stringify(event.id)},"date":"${date}",${text.slice(1, -1)}${syslog},` +
    `"reception":{"date":"${received}"}}`
  );
}

/**
 * Writes the member `values` of `result` of an analytical view, as JSON text: a row for each bucket, and for each step
 * of computes that are time series, which all have the same steps. Fields are counted without those of time. Works in
 * units. Source: INTERFACE.md 4.7.
 */
export function* writeRows(
  writer: AnswerWriter,
  job: Extract<QueryJob, { type: 'aggregate' }>,
  result: AggregateResult,
): Units<void> {
  const texts = new BucketTexts(job);
  const { computes, fromMs } = job.query;
  const [first] = computes;
  const rowsMax = must(job.saved, 'form of a saved analysis').rowsMax;
  let rowCount = 0;
  const addRow = (timeMs: number, fields: string, values: MetricValue[]): void => {
    writer.add(`${rowCount++ === 0 ? '' : ','}{"time":${timeMs},"fields":{${fields}},"metrics":{`);
    for (const [place, value] of values.entries()) {
      writer.add(`${place === 0 ? '' : ','}"m${place}":${texts.value(value, place)}`, VALUE_TEXTS);
    }
    writer.add('}}');
  };
  const series = first.type === 'timeseries' ? first.boundaries.slice(0, -1) : undefined;
  writer.add('"values":[');
  for (const { keys, values } of result.buckets) {
    let timeMs = fromMs;
    const fields: string[] = [];
    for (const [place, key] of keys.entries()) {
      if (key.type === 'time') timeMs = key.timeMs;
      else fields.push(`"f${fields.length}":${texts.key(key, place)}`);
    }
    for (const [step, stepMs] of (series ?? [timeMs]).entries()) {
      if (rowCount === rowsMax) break;
      addRow(stepMs, fields.join(','), values.map(numberAt(step)));
      if (writer.isFull()) yield;
    }
  }
  writer.add(']');
}

/** Picks the value of a step of what is a time series, and the only one of what is none. */
function numberAt(step: number): (value: MetricValue | MetricValue[]) => MetricValue {
  return (value) => (Array.isArray(value) ? value[step] : value);
}
