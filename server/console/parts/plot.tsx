import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { clock, isoDay, short } from '../base/format.ts';
import type { Range } from '../base/range.ts';
import { cssColour } from '../base/status.ts';
import { theme } from '../base/theme.ts';

const DAY_MS = 86_400_000;
const MARGIN = 1.05;
/** Pixels that a drag has at least; less is a click. */
const DRAG_PX = 4;

/** Values over the times of a plot, `null` where there is none. */
export interface PlotSeries {
  readonly values: readonly (number | null)[];
  /** Name of a colour of the theme, or `#rrggbb`. */
  readonly colour: string;
  readonly shape: 'bars' | 'line' | 'dashes';
}

interface PlotProps {
  /** Its content, for those who do not see it. */
  label: string;
  range: Range;
  zone: string;
  height: number;
  times: readonly number[];
  /** The same object as long as nothing of it changes. */
  series: readonly PlotSeries[];
  /** Receives the instant at the pointer, `undefined` when there is none. */
  point: (ms: number | undefined) => void;
  /** Receives the range of a drag. */
  select: (fromMs: number, toMs: number) => void;
  /** Receives the instant of a click and the series nearest to it. */
  press?: (ms: number, series: number) => void;
  children?: ComponentChildren;
}

/** A drawing of series over time, with what stands over it; its texts are not in it. */
export function Plot(props: PlotProps) {
  const { label, range, zone, height, times, series, children } = props;
  const element = useRef<HTMLDivElement>(null);
  // The handlers of the last rendering: new ones are no reason to draw anew.
  const last = useRef(props);
  last.current = props;
  const look = theme.value;
  useEffect(() => {
    const parent = element.current;
    if (parent === null) return;
    const plot = new uPlot(
      optionsOf(last, parent.clientWidth),
      [[...times], ...series.map(({ values }) => [...values])] as uPlot.AlignedData,
      parent,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: parent.clientWidth, height }));
    watch.observe(parent);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = (): void => plot.redraw();
    scheme.addEventListener('change', redraw);
    return () => {
      watch.disconnect();
      scheme.removeEventListener('change', redraw);
      plot.destroy();
    };
  }, [series, range, zone, height, look]);
  return (
    <div class="plot" ref={element} role="img" aria-label={label} style={{ minHeight: height }}>
      {children}
    </div>
  );
}

function optionsOf(last: { readonly current: PlotProps }, width: number): uPlot.Options {
  const { range, zone, height, series } = last.current;
  const colour = (name: string) => () => colourOf(name);
  const bars = uPlot.paths.bars?.({ align: 1, size: [0.86, 64] }) ?? (() => null);
  const isWhole = series.every(({ values }) =>
    values.every((value) => value === null || Number.isInteger(value)),
  );
  const axis = { stroke: colour('muted'), font: '11px ui-sans-serif, system-ui', gap: 4 };
  return {
    ...{ width, height, ms: 1, padding: [8, 8, 0, 0], legend: { show: false } },
    tzDate: (ms) => uPlot.tzDate(new Date(ms), zone),
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    scales: {
      x: { time: true, range: [range.fromMs, range.toMs] },
      y: { range: (_plot, min, max) => [Math.min(0, min * MARGIN), max > 0 ? max * MARGIN : 1] },
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
          values.map((value) => (!isWhole || Number.isInteger(value) ? short(value) : '')),
      },
    ],
    series: [
      {},
      ...series.map(({ colour: name, shape }) =>
        shape === 'bars'
          ? { fill: colour(name), width: 0, paths: bars, points: { show: false } }
          : {
              ...{ stroke: colour(name), width: 1.5 },
              ...(shape === 'dashes' ? { dash: [4, 4], points: { show: false } } : {}),
            },
      ),
    ],
    hooks: {
      setCursor: [
        (plot) => {
          const { left, idx } = plot.cursor;
          const isOut = left === undefined || left < 0 || idx === null;
          last.current.point(isOut ? undefined : plot.posToVal(left, 'x'));
        },
      ],
      setSelect: [
        (plot) => {
          const { left, width: selected } = plot.select;
          if (selected < DRAG_PX) return;
          last.current.select(plot.posToVal(left, 'x'), plot.posToVal(left + selected, 'x'));
        },
      ],
      ready: [
        (plot) => {
          plot.over.addEventListener('click', () => press(plot, last.current));
        },
      ],
    },
  };
}

function press(plot: uPlot, { press: tell }: PlotProps): void {
  const { left = -1, top = -1, idx } = plot.cursor;
  if (tell === undefined || left < 0 || typeof idx !== 'number' || plot.select.width >= DRAG_PX)
    return;
  const distances = plot.data.slice(1).map((values) => {
    const value = values[idx];
    return value === null || value === undefined
      ? Number.POSITIVE_INFINITY
      : Math.abs(plot.valToPos(value, 'y') - top);
  });
  tell(plot.posToVal(left, 'x'), distances.indexOf(Math.min(...distances)));
}

/** A colour in a form that canvases take. */
function colourOf(name: string): string {
  const probe = document.createElement('i');
  probe.style.cssText = `color: ${cssColour(name)}; forced-color-adjust: none`;
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
