import { BarChart, LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { type EChartsCoreOption, init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { print, printCount } from './number.ts';

use([BarChart, LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

const WIDTH = 960;
const BAR_HEIGHT = 22;
const LABEL_WIDTH = 380;
const HEAD_HEIGHT = 90;
const FOOT_HEIGHT = 40;
const PANEL_COLUMNS = 3;
const PANEL_HEIGHT = 250;
/** Four lines of text. */
const PANEL_HEAD = 54;
const GAP = 60;
const LOSS = '#c0392b';
const WIN = '#2e7d5b';

function render(height: number, option: EChartsCoreOption): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  chart.setOption({ animation: false, backgroundColor: '#ffffff', textStyle: TEXT, ...option });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

const TEXT = { fontFamily: 'DejaVu Sans, Helvetica, Arial, sans-serif' };
const LEGEND = { top: 46 };
/** Title above a chart, in the middle. */
export interface Heading {
  text: string;
  /** Of what it is, in small letters. */
  note: string;
}

function titleOf({ text, note }: Heading): object {
  return {
    ...{ text, subtext: note, left: 'center', top: 10, itemGap: 4 },
    textStyle: { fontSize: 16 },
    subtextStyle: { fontSize: 10 },
  };
}

const labels = { axisLabel: { width: LABEL_WIDTH - 60, overflow: 'truncate', interval: 0 } };

/**
 * Draws ratios as bars that begin at 1, on a logarithmic axis, in the order given from the top: above 1 to the right
 * and red. Gives an SVG text.
 */
export function ratioBars(
  heading: Heading,
  bars: readonly { name: string; ratio: number }[],
): string {
  return render(HEAD_HEIGHT + FOOT_HEIGHT + bars.length * BAR_HEIGHT, {
    title: titleOf(heading),
    grid: { left: LABEL_WIDTH, right: GAP, top: HEAD_HEIGHT, bottom: FOOT_HEIGHT },
    // Bars on a logarithmic axis begin at its end; the logarithms on a plain one begin at 0, which is even.
    xAxis: {
      type: 'value',
      axisLabel: { formatter: (power: number) => `${Number((10 ** power).toPrecision(2))}` },
    },
    yAxis: { type: 'category', inverse: true, data: bars.map(({ name }) => name), ...labels },
    series: [
      {
        type: 'bar',
        data: bars.map(({ ratio }) => ({
          value: Math.log10(ratio),
          itemStyle: { color: ratio > 1 ? LOSS : WIN },
          label: {
            show: true,
            position: ratio > 1 ? 'right' : 'left',
            formatter: ratio.toFixed(2),
          },
        })),
      },
    ],
  });
}

/** Draws bars in groups: a group a name, a bar a series, which may lack some. Gives an SVG text. */
export function groupedBars(
  heading: Heading,
  names: readonly string[],
  series: readonly { name: string; values: readonly (number | undefined)[] }[],
): string {
  const height = HEAD_HEIGHT + FOOT_HEIGHT + names.length * (series.length + 1) * BAR_HEIGHT;
  return render(height, {
    title: titleOf(heading),
    legend: LEGEND,
    grid: { left: LABEL_WIDTH, right: GAP, top: HEAD_HEIGHT, bottom: FOOT_HEIGHT },
    xAxis: { type: 'value', min: 0 },
    yAxis: { type: 'category', inverse: true, data: names, ...labels },
    series: series.map(({ name, values }) => ({
      type: 'bar',
      name,
      data: values.map((value) => value ?? null),
      label: { show: true, position: 'right', formatter: labelOf },
    })),
  });
}

function labelOf({ value }: { value: number | null }): string {
  return value === null ? '' : print(value);
}

/** A panel of lines with a title of its own; a line is points of (x, y) in ascending order of x. */
export interface Panel {
  title: string;
  lines: readonly { name: string; points: readonly (readonly [x: number, y: number])[] }[];
}

/** Draws lines over counts of events, both axes logarithmic, three panels a row. Gives an SVG text. */
export function growthPanels(heading: Heading, panels: readonly Panel[]): string {
  return linePanels(heading, panels, { type: 'log', axisLabel: { formatter: printCount } });
}

/** Draws lines over steps that have names, three panels a row; x is the index of the step. Gives an SVG text. */
export function stepPanels(
  heading: Heading,
  panels: readonly Panel[],
  steps: readonly string[],
): string {
  return linePanels(heading, panels, { type: 'category', data: steps });
}

function linePanels(heading: Heading, panels: readonly Panel[], xAxis: object): string {
  const width = (WIDTH - GAP) / PANEL_COLUMNS - GAP / 2;
  const places = panels.map((_, at) => ({
    left: GAP + (at % PANEL_COLUMNS) * (width + GAP / 2),
    top: HEAD_HEIGHT + PANEL_HEAD + Math.floor(at / PANEL_COLUMNS) * PANEL_HEIGHT,
  }));
  const rows = Math.ceil(panels.length / PANEL_COLUMNS);
  const titleStyle = {
    fontSize: 10,
    fontWeight: 'normal',
    width: width - GAP / 2,
    overflow: 'break',
  };
  return render(HEAD_HEIGHT + rows * PANEL_HEIGHT + FOOT_HEIGHT, {
    title: [
      titleOf(heading),
      ...panels.map((panel, at) => ({
        text: panel.title,
        left: places[at].left,
        top: places[at].top - PANEL_HEAD,
        textStyle: titleStyle,
      })),
    ],
    legend: LEGEND,
    grid: places.map((place) => ({
      ...place,
      width: width - GAP / 2,
      height: PANEL_HEIGHT - PANEL_HEAD - 46,
    })),
    xAxis: panels.map((_, gridIndex) => ({ gridIndex, ...xAxis })),
    yAxis: panels.map((_, gridIndex) => ({
      gridIndex,
      type: 'log',
      axisLabel: { formatter: print },
    })),
    series: panels.flatMap(({ lines }, at) =>
      lines.map(({ name, points }) => ({
        type: 'line',
        name,
        xAxisIndex: at,
        yAxisIndex: at,
        data: points,
      })),
    ),
  });
}
