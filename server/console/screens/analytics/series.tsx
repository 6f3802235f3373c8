import { useMemo, useState } from 'preact/hooks';
import { textOf } from '../../api/exact.ts';
import { go } from '../../base/address.ts';
import { pointTime } from '../../base/format.ts';
import { STATUS, STATUSES } from '../../base/status.ts';
import { zoomTo } from '../../base/zoom.ts';
import { later } from '../../parts/later.tsx';
import { brief } from '../../parts/log-text.tsx';
import type { PlotSeries } from '../../parts/plot.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import {
  type Answer,
  type Before,
  type Bucket,
  difference,
  numberOf,
  shownNumber,
} from './answer.ts';
import { before, metricName, valueOfNone } from './panels.ts';
import { eventsOf } from './through.ts';

const Plot = later(async () => (await import('../../parts/plot.tsx')).Plot);

const HEIGHT_PX = 180;
/** Colours of series in turn; so many are drawn. */
export const COLOURS = [
  ...['info', 'accent', 'ok', 'violet', 'critical', 'teal', 'warn', 'brown', 'error', 'muted'],
];

/** A chart for each metric of a time series, and the table behind it. */
export function Charts({ answer, isRun }: { answer: Answer; isRun: boolean }) {
  return (
    <div class="figures">
      {answer.metrics.map((id, at) => (
        <Figure key={id} answer={answer} metric={at} isRun={isRun} />
      ))}
    </div>
  );
}

interface FigureProps {
  answer: Answer;
  /** Number of the metric. */
  metric: number;
  isRun: boolean;
}

function Figure({ answer, metric, isRun }: FigureProps) {
  const { metrics, buckets, range, zone, times } = answer;
  const [at, setAt] = useState<number>();
  const [isOpen, setOpen] = useState(metrics.length === 1);
  const earlier = before.data.value;
  const name = metricName(metrics[metric] ?? '');
  const drawn = buckets.slice(0, COLOURS.length);
  const series = useMemo(() => seriesOf(answer, drawn, metric, earlier), [answer, metric, earlier]);
  const label = `${name}, ${buckets.length} series from ${pointTime(range.fromMs, zone)} to ${pointTime(range.toMs, zone)}`;
  return (
    <section class="figure" aria-label={name}>
      <h2>{name}</h2>
      <Plot
        label={label}
        {...{ range, zone, times, series, height: HEIGHT_PX, select: zoomTo }}
        point={(ms) => setAt(ms === undefined ? undefined : stepAt(times, ms))}
        {...(isRun
          ? {}
          : {
              press: (ms: number, number: number) => {
                const bucket = drawn[number % drawn.length];
                go(eventsOf(answer, bucket, times[stepAt(times, ms) ?? -1]));
              },
            })}
      >
        {at !== undefined && <Tip {...{ answer, drawn, metric, at }} />}
      </Plot>
      <ul class="legend">
        {answer.groupings.length > 0 &&
          drawn.map((bucket, place) => (
            <li class="legend-item" style={swatch(answer, bucket, place)}>
              {isRun ? (
                bucketName(bucket)
              ) : (
                <a href={eventsOf(answer, bucket)}>{bucketName(bucket)}</a>
              )}
            </li>
          ))}
        {buckets.length > drawn.length && (
          <li>
            the first {drawn.length} of {buckets.length} are drawn
          </li>
        )}
      </ul>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Table</summary>
        {isOpen && <StepTable {...{ answer, metric, name, isRun }} />}
      </details>
    </section>
  );
}

function seriesOf(
  answer: Answer,
  drawn: readonly Bucket[],
  metric: number,
  earlier: Before | undefined,
): PlotSeries[] {
  const none = valueOfNone(answer.metrics[metric] ?? '');
  const isAlone = isOfBars(answer, metric);
  const now = drawn.map(
    (bucket, place): PlotSeries => ({
      values: (bucket.metrics[metric] ?? []).map(numberOf),
      colour: colourOf(answer, bucket, place),
      shape: isAlone ? 'bars' : 'line',
    }),
  );
  if (earlier === undefined) return now;
  const then = drawn.map((bucket, place): PlotSeries => {
    const values = earlier.valuesOf(bucket, metric, none);
    return {
      values: answer.times.map((_, at) => numberOf(values?.[at])),
      colour: isAlone ? 'text' : colourOf(answer, bucket, place),
      shape: 'dashes',
    };
  });
  return [...now, ...then];
}

/** Reports whether a metric is drawn as bars: a number of events that no grouping parts. */
export function isOfBars({ groupings, metrics }: Answer, metric: number): boolean {
  return groupings.length === 0 && valueOfNone(metrics[metric] ?? '') === 0;
}

/** The colour of a series: of a status that of the status. */
function colourOf({ groupings }: Answer, { groups }: Bucket, place: number): string {
  const id = textOf(groups[0]);
  return groupings.length === 1 && groupings[0] === STATUS && Object.hasOwn(STATUSES, id)
    ? id
    : (COLOURS[place % COLOURS.length] ?? 'info');
}

function swatch(answer: Answer, bucket: Bucket, place: number): Record<string, string> {
  return { '--status': `var(--${colourOf(answer, bucket, place)})` };
}

/** The name of a bucket: its values. */
export function bucketName({ groups }: Bucket): string {
  return groups.map((value) => brief(textOf(value)) || '""').join(' · ') || 'all events';
}

function stepAt(times: readonly number[], ms: number): number | undefined {
  const at = times.findLastIndex((time) => time <= ms);
  return at < 0 ? undefined : at;
}

interface TipProps {
  answer: Answer;
  drawn: readonly Bucket[];
  metric: number;
  at: number;
}

function Tip({ answer, drawn, metric, at }: TipProps) {
  const { times, zone } = answer;
  return (
    <div class={at > times.length / 2 ? 'tip left' : 'tip right'} aria-hidden="true">
      <b>{pointTime(times[at] ?? 0, zone)}</b>
      {drawn.map((bucket, place) => (
        <span class="legend-item" style={swatch(answer, bucket, place)}>
          {answer.groupings.length > 0 && bucketName(bucket)}{' '}
          <b>{shownNumber(bucket.metrics[metric]?.[at])}</b>
        </span>
      ))}
    </div>
  );
}

interface Step {
  readonly at: number;
  readonly time: number;
}

/** The table behind a chart: a row for each step, a column for each series. */
function StepTable({ answer, metric, name, isRun }: FigureProps & { name: string }) {
  const { times, zone, buckets } = answer;
  const earlier = before.data.value;
  const none = valueOfNone(answer.metrics[metric] ?? '');
  const columns: Column<Step>[] = [
    {
      ...{ name: 'From', isHead: true, class: 'when', order: ({ time }) => time },
      cell: ({ time }) =>
        isRun ? (
          pointTime(time, zone)
        ) : (
          <a href={eventsOf(answer, undefined, time)}>{pointTime(time, zone)}</a>
        ),
    },
    ...buckets.flatMap((bucket): Column<Step>[] => {
      const now = bucket.metrics[metric];
      const then = earlier?.valuesOf(bucket, metric, none);
      const title = answer.groupings.length === 0 ? name : bucketName(bucket);
      const own: Column<Step> = {
        ...{ name: title, class: 'number' },
        cell: ({ at }) => shownNumber(now?.[at]),
        order: ({ at }) => numberOf(now?.[at]) ?? Number.NEGATIVE_INFINITY,
      };
      if (earlier === undefined) return [own];
      return [
        own,
        {
          ...{ name: `${title}, before`, class: 'number' },
          cell: ({ at }) => shownNumber(then?.[at]),
        },
        {
          ...{ name: `${title}, difference`, class: 'number' },
          cell: ({ at }) => difference(now?.[at], then?.[at]),
        },
      ];
    }),
  ];
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={`${name}, table`}>
      <Table
        label={`${name} over time`}
        columns={columns}
        rows={times.map((time, at) => ({ time, at }))}
        keyOf={({ time }) => time}
      />
    </div>
  );
}
