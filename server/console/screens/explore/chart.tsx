import { useMemo, useState } from 'preact/hooks';
import { counted, duration, pointTime, short, whole } from '../../base/format.ts';
import { question } from '../../base/question.ts';
import { stepMs } from '../../base/range.ts';
import { cssColour } from '../../base/status.ts';
import { zoomTo } from '../../base/zoom.ts';
import { FaultNote } from '../../parts/controls.tsx';
import { Exactness } from '../../parts/exactness.tsx';
import { later } from '../../parts/later.tsx';
import { visible } from '../../parts/log-text.tsx';
import type { PlotSeries } from '../../parts/plot.tsx';
import { type Histogram, histogram } from './panels.ts';
import { chooseTagset } from './question.ts';

const HEIGHT_PX = 112;

/** The largest script comes beside the first questions: the list does not wait for it. */
const plotScript = import('../../parts/plot.tsx');
const BarsTable = later(async () => (await import('../explore-parts.ts')).BarsTable);
const Plot = later(async () => (await plotScript).Plot);

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
            <TagsetChoice {...data} />
            {data.tags.map((tag) => (
              <LegendItem {...tag} text={short(tag.count)} />
            ))}
            <Exactness whole={data.whole} isMark />
            <span class="space" />
            <span class="legend-step">a bar is {duration(stepMs(data.step))}</span>
            <button type="button" class="button quiet small" onClick={() => setTable(true)}>
              Table
            </button>
          </div>
        </>
      )}
      {isTable && data !== undefined && <BarsTable data={data} close={() => setTable(false)} />}
    </section>
  );
}

interface LegendItemProps {
  name: string;
  colour: string;
  text: string;
}

function LegendItem({ name, colour, text }: LegendItemProps) {
  return (
    <span class="legend-item" style={{ '--status': cssColour(colour) }}>
      {name} <b>{text}</b>
    </span>
  );
}

/** The choice of the tagset that parts the bars, where there are several. */
function TagsetChoice({ tagset, tagsets }: Histogram) {
  if (tagsets.length < 2) return null;
  return (
    <select
      class="input small"
      aria-label="Tagset"
      value={tagset?.id}
      onChange={(event) => chooseTagset(event.currentTarget.value)}
    >
      {tagsets.map(({ id, name }) => (
        <option value={id}>{visible(name)}</option>
      ))}
    </select>
  );
}

/** The bars: each series is the sum of those below it, drawn from the highest one down. */
function Bars({ data }: { data: Histogram }) {
  const [at, setAt] = useState<number | undefined>();
  const { zone } = question.value;
  const series = useMemo(() => stacked(data), [data]);
  return (
    <div style={{ minHeight: HEIGHT_PX }}>
      <Plot
        label={describe(data, zone)}
        range={data.range}
        zone={zone}
        height={HEIGHT_PX}
        times={data.times}
        series={series}
        point={(ms) => setAt(ms === undefined ? undefined : barAt(data, ms))}
        select={zoomTo}
      >
        {at !== undefined && <Tip data={data} at={at} zone={zone} />}
      </Plot>
    </div>
  );
}

function describe(data: Histogram, zone: string): string {
  const all = data.tags.reduce((sum, { count }) => sum + count, 0);
  const { fromMs, toMs } = data.range;
  return `${counted(all, 'event')} from ${pointTime(fromMs, zone)} to ${pointTime(toMs, zone)}`;
}

function stacked(data: Histogram): PlotSeries[] {
  const sums = data.times.map(() => 0);
  const series = [...data.tags].reverse().map(({ colour, counts }): PlotSeries => {
    for (let at = 0; at < sums.length; at++) sums[at] = (sums[at] ?? 0) + (counts[at] ?? 0);
    return { values: [...sums], colour, shape: 'bars' };
  });
  return series.reverse();
}

function barAt({ times, step }: Histogram, ms: number): number | undefined {
  const at = times.findLastIndex((time) => time <= ms);
  return at < 0 || ms - (times[at] ?? 0) > stepMs(step) * 1.1 ? undefined : at;
}

function Tip({ data, at, zone }: { data: Histogram; at: number; zone: string }) {
  const isRight = at > data.times.length / 2;
  return (
    <div class={isRight ? 'tip left' : 'tip right'} aria-hidden="true">
      <b>{pointTime(data.times[at] ?? 0, zone)}</b>
      {data.tags
        .filter(({ counts }) => (counts[at] ?? 0) > 0)
        .map((tag) => (
          <LegendItem {...tag} text={whole(tag.counts[at] ?? 0)} />
        ))}
    </div>
  );
}
