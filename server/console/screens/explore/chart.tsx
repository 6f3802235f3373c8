import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { clock, counted, duration, isoDay, pointTime, short, whole } from '../../base/format.ts';
import { stepMs } from '../../base/range.ts';
import { STATUS_IDS, STATUS_NAMES } from '../../base/status.ts';
import { theme } from '../../base/theme.ts';
import { Dialog, FaultNote } from '../../parts/controls.tsx';
import { type Histogram, histogram } from './panels.ts';
import { question } from './question.ts';
import { zoomTo } from './zoom.ts';

const HEIGHT_PX = 112;
const DAY_MS = 86_400_000;

/** Events over time, by their status; a drag on it is the next range. */
export function Chart() {
  const [isTable, setTable] = useState(false);
  const data = histogram.data.value;
  const fault = histogram.fault.value;
  return (
    <section class="chart" aria-label="Events over time" aria-busy={histogram.isLoading.value}>
      {fault !== undefined && <FaultNote fault={fault} retry={() => histogram.reload()} />}
      {data !== undefined && (
        <>
          <Bars data={data} />
          <div class="legend">
            {STATUS_IDS.map((id) => ({ id, count: sumOf(data, id) }))
              .filter(({ count }) => count > 0)
              .map(({ id, count }) => (
                <span class={`legend-item status-${id}`}>
                  {STATUS_NAMES[id]?.name} <b>{short(count)}</b>
                </span>
              ))}
            <span class="space" />
            <span class="legend-step">a bar is {duration(stepMs(data.step))}</span>
            <button type="button" class="button quiet small" onClick={() => setTable(true)}>
              Table
            </button>
          </div>
        </>
      )}
      {isTable && data !== undefined && <TableOf data={data} close={() => setTable(false)} />}
    </section>
  );
}

function sumOf({ counts }: Histogram, id: string): number {
  return (counts.get(id) ?? []).reduce((sum, count) => sum + count, 0);
}

/** The bars: each series is the sum of those below it, drawn from the highest one down. */
function Bars({ data }: { data: Histogram }) {
  const element = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | undefined>();
  const { zone } = question.value;
  const look = theme.value;
  useEffect(() => {
    const parent = element.current;
    if (parent === null) return;
    const plot = new uPlot(
      optionsOf(data, zone, parent.clientWidth, setAt),
      stacked(data) as uPlot.AlignedData,
      parent,
    );
    const watch = new ResizeObserver(() =>
      plot.setSize({ width: parent.clientWidth, height: HEIGHT_PX }),
    );
    watch.observe(parent);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = (): void => plot.redraw(false);
    scheme.addEventListener('change', redraw);
    return () => {
      watch.disconnect();
      scheme.removeEventListener('change', redraw);
      plot.destroy();
    };
  }, [data, zone, look]);
  return (
    <div class="bars-of-time" ref={element} role="img" aria-label={describe(data, zone)}>
      {at !== undefined && <Tip data={data} at={at} zone={zone} />}
    </div>
  );
}

function describe(data: Histogram, zone: string): string {
  const all = STATUS_IDS.reduce((sum, id) => sum + sumOf(data, id), 0);
  const { fromMs, toMs } = data.range;
  return `${counted(all, 'event')} from ${pointTime(fromMs, zone)} to ${pointTime(toMs, zone)}`;
}

function stacked({ times, counts }: Histogram): number[][] {
  const sums = times.map(() => 0);
  const series = [...STATUS_IDS].reverse().map((id) => {
    const own = counts.get(id);
    for (let at = 0; at < sums.length; at++) sums[at] = (sums[at] ?? 0) + (own?.[at] ?? 0);
    return [...sums];
  });
  return [[...times], ...series.reverse()];
}

function optionsOf(
  data: Histogram,
  zone: string,
  width: number,
  setAt: (at: number | undefined) => void,
): uPlot.Options {
  const colour = (name: string) => () => colourOf(name);
  const bars = uPlot.paths.bars?.({ align: 1, size: [0.86, 64] }) ?? (() => null);
  const { fromMs, toMs } = data.range;
  const axis = { stroke: colour('muted'), font: '11px ui-sans-serif, system-ui', gap: 4 };
  return {
    ...{ width, height: HEIGHT_PX, ms: 1, padding: [8, 8, 0, 0], legend: { show: false } },
    tzDate: (ms) => uPlot.tzDate(new Date(ms), zone),
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    scales: {
      x: { time: true, range: [fromMs, toMs] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.05)] },
    },
    axes: [
      {
        ...{ ...axis, size: 22, space: 72, grid: { show: false }, ticks: { show: false } },
        values: (_plot, times, _axis, _space, incr) => times.map((ms) => tickText(ms, incr, zone)),
      },
      {
        ...{ ...axis, size: 44, space: 36, ticks: { show: false } },
        grid: { stroke: colour('line'), width: 1 },
        values: (_plot, values) =>
          values.map((value) => (Number.isInteger(value) ? short(value) : '')),
      },
    ],
    series: [
      {},
      ...STATUS_IDS.map((id) => ({
        ...{ fill: colour(id), width: 0, paths: bars, points: { show: false } },
      })),
    ],
    hooks: {
      setCursor: [
        (plot) => {
          const { left, idx } = plot.cursor;
          setAt(
            left === undefined || left < 0 || idx === null
              ? undefined
              : barAt(data, plot.posToVal(left, 'x')),
          );
        },
      ],
      setSelect: [
        (plot) => {
          const { left, width: selected } = plot.select;
          if (selected < 4) return;
          zoomTo(plot.posToVal(left, 'x'), plot.posToVal(left + selected, 'x'));
        },
      ],
    },
  };
}

/** A colour of the theme in a form that canvases take. */
function colourOf(name: string): string {
  const probe = document.createElement('i');
  probe.style.cssText = `color: var(--${name}); forced-color-adjust: none`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** The text below a line of the axis: the time of day, or the day where one begins. */
function tickText(ms: number, stepBetweenMs: number, zone: string): string {
  const time = clock(ms, zone, stepBetweenMs < 1_000);
  if (stepBetweenMs >= DAY_MS || time === '00:00:00') return isoDay(ms, zone).slice(5);
  return stepBetweenMs < 60_000 ? time : time.slice(0, 5);
}

function barAt({ times, step }: Histogram, ms: number): number | undefined {
  const at = times.findLastIndex((time) => time <= ms);
  return at < 0 || ms - (times[at] ?? 0) > stepMs(step) * 1.1 ? undefined : at;
}

function Tip({ data, at, zone }: { data: Histogram; at: number; zone: string }) {
  const shown = STATUS_IDS.map((id) => ({ id, count: data.counts.get(id)?.[at] ?? 0 }));
  const isRight = at > data.times.length / 2;
  return (
    <div class={isRight ? 'tip left' : 'tip right'} aria-hidden="true">
      <b>{pointTime(data.times[at] ?? 0, zone)}</b>
      {shown
        .filter(({ count }) => count > 0)
        .map(({ id, count }) => (
          <span class={`legend-item status-${id}`}>
            {STATUS_NAMES[id]?.name} <b>{whole(count)}</b>
          </span>
        ))}
    </div>
  );
}

/** The chart as a table, whose rows zoom as a drag does. */
function TableOf({ data, close }: { data: Histogram; close: () => void }) {
  const { zone } = question.value;
  const ids = STATUS_IDS.filter((id) => sumOf(data, id) > 0);
  const rows = data.times
    .map((time, at) => ({ time, at }))
    .filter(({ at }) => ids.some((id) => (data.counts.get(id)?.[at] ?? 0) > 0));
  return (
    <Dialog title="Events over time" close={close} wide>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">From</th>
            {ids.map((id) => (
              <th scope="col" class="number">
                {STATUS_NAMES[id]?.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ time, at }) => (
            <tr>
              <th scope="row">
                <button
                  type="button"
                  class="link"
                  onClick={() => {
                    close();
                    zoomTo(time, time + stepMs(data.step));
                  }}
                >
                  {pointTime(time, zone)}
                </button>
              </th>
              {ids.map((id) => (
                <td class="number">{whole(data.counts.get(id)?.[at] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
