import { type Json, textOf } from '../../api/exact.ts';
import { pointTime } from '../../base/format.ts';
import { question } from '../../base/question.ts';
import { analysis, bodyOf } from '../analytics/analysis.ts';
import { type Answer, numberOf, shownNumber } from '../analytics/answer.ts';
import { groupingName, metricName, nearness } from '../analytics/panels.ts';
import { bucketName, COLOURS, isOfBars } from '../analytics/series.tsx';
import { facets, histogram, list } from '../explore/panels.ts';
import { curlOf } from './curl.ts';
import type { Chart } from './html.ts';
import { type SavedView, saveView } from './save.ts';

/** Saves what one explores as one page. Resolves with what went wrong, if anything did. */
export async function saveExploring(): Promise<string | undefined> {
  const bars = histogram.data.peek();
  const { query, zone } = question.peek();
  if (bars === undefined || histogram.isLoading.peek()) return 'There is nothing to save yet.';
  const { range, tags } = bars;
  const chart: Chart = {
    title: 'Events over time',
    label: 'Events over time by their tags',
    ends: endsOf(range, zone),
    series: tags.map(({ name, colour, counts, count }) => ({
      ...{ name: `${name} ${count.toLocaleString('en-US')}`, colour },
      ...{ shape: 'bars' as const, values: counts },
    })),
  };
  const whole = { ...list.data.peek()?.first, ...bars.whole };
  return saveView({
    ...{ name: 'Events', query, range, zone, whole },
    ...{ charts: [chart], tables: facetTables(), commands: [] },
  });
}

function facetTables(): SavedView['tables'] {
  return (facets.data.peek()?.facets ?? []).map(({ field, values, more }) => ({
    title: `${field}${more ? ', its most frequent values' : ''}`,
    head: ['Value', 'Events'],
    rows: values.map(({ value, count }) => [textOf(value), count.toLocaleString('en-US')]),
  }));
}

/** Saves an analysis as one page. Resolves with what went wrong, if anything did. */
export function saveAnalysis(found: Answer): Promise<string | undefined> {
  const { query, range, zone, step, whole, metrics, times } = found;
  const iso = (ms: number): string => new Date(ms).toISOString();
  const time = { from: iso(range.fromMs), to: iso(range.toMs), timezone: zone };
  const view: SavedView = {
    ...{ name: metrics.map(metricName).join(', '), query, range, zone },
    whole: { ...whole, near: nearness(metrics) },
    charts: times.length === 0 ? [] : metrics.map((_, at) => chartOf(found, at)),
    tables:
      times.length === 0 ? [bucketTable(found)] : metrics.map((_, at) => stepTable(found, at)),
    commands: [curlOf('/beta/events/aggregate', bodyOf(analysis.peek(), query, time, step))],
  };
  return saveView(view);
}

function endsOf({ fromMs, toMs }: Answer['range'], zone: string): [string, string] {
  return [pointTime(fromMs, zone), pointTime(toMs, zone)];
}

function chartOf(found: Answer, metric: number): Chart {
  const title = metricName(found.metrics[metric] ?? '');
  const shape = isOfBars(found, metric) ? 'bars' : 'line';
  return {
    ...{ title, label: `${title} over time`, ends: endsOf(found.range, found.zone) },
    series: found.buckets.slice(0, COLOURS.length).map((bucket, at) => ({
      ...{ name: bucketName(bucket), colour: COLOURS[at] ?? 'muted', shape },
      values: (bucket.metrics[metric] ?? []).map(numberOf),
    })),
  };
}

function stepTable({ metrics, buckets, times, zone }: Answer, metric: number) {
  return {
    title: `${metricName(metrics[metric] ?? '')}, step by step`,
    head: ['From', ...buckets.map(bucketName)],
    rows: times.map((time, at) => [
      pointTime(time, zone),
      ...buckets.map((bucket) => shownNumber(bucket.metrics[metric]?.[at])),
    ]),
  };
}

function bucketTable({ metrics, groupings, buckets }: Answer) {
  return {
    title: 'Buckets',
    head: [...groupings.map(groupingName), ...metrics.map(metricName)],
    rows: buckets.map((bucket) => [
      ...bucket.groups.map((value: Json) => bucketName({ ...bucket, groups: [value] })),
      ...metrics.map((_, at) => shownNumber(bucket.metrics[at]?.[0])),
    ]),
  };
}
