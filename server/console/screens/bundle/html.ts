import { cssColour } from '../../base/status.ts';
import { visible } from '../../parts/log-text.tsx';

/** A page that needs nothing besides itself: no script, no style sheet, no picture of another place. */

/** Series over times. */
export interface Chart {
  readonly title: string;
  /** Description for those who do not see it. */
  readonly label: string;
  /** Names of the ends of its time. */
  readonly ends: readonly [string, string];
  readonly series: readonly ChartSeries[];
}

/** Values over the steps of a chart; those of bars stand on each other. */
export interface ChartSeries {
  readonly name: string;
  /** Name of a colour, or `#rrggbb`. */
  readonly colour: string;
  readonly shape: 'bars' | 'line';
  readonly values: readonly (number | null)[];
}

/** A table of texts. */
export interface TextTable {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** An event as it is told. */
export interface EventText {
  readonly date: string;
  readonly message: string;
  /** JSON text, indented. */
  readonly event: string;
}

/** Content of a page. */
export interface Bundle {
  readonly title: string;
  /** Names and values of what is told first. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly charts: readonly Chart[];
  readonly tables: readonly TextTable[];
  readonly events: readonly EventText[];
  /** Command lines that ask the same. */
  readonly commands: readonly string[];
}

/** Colours of series, and those of the page, which are those of the console. */
const COLOURS = [
  ...['critical', 'error', 'warn', 'ok', 'info', 'accent', 'violet', 'teal', 'brown', 'muted'],
];
const PAGE_COLOURS = ['bg', 'text', 'line', 'raised'];
const STYLE = `:root{color-scheme:light dark}
body{font:14px/1.5 system-ui,sans-serif;margin:0;background:var(--bg);color:var(--text)}
main{max-width:75rem;margin:auto;padding:1rem}h1,td,th,dd,summary,pre{overflow-wrap:anywhere}
dt,text{color:var(--muted);fill:var(--muted)}dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}dd{margin:0}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid var(--line);vertical-align:top}
pre{white-space:pre-wrap;padding:.5rem;background:var(--raised)}summary,pre{font-family:monospace}svg{width:100%;height:auto}
.key{display:inline-block;width:.75em;height:.75em;margin-right:.25em}`;
const [WIDTH, HEIGHT] = [1_000, 160];
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' },
};

/** The text of a page. All texts of the bundle stay texts. */
export function htmlOf({ title, facts, charts, tables, events, commands }: Bundle): string {
  const look = getComputedStyle(document.documentElement);
  const colours = [...COLOURS, ...PAGE_COLOURS]
    .map(
      (name) =>
        `:root{--${name}:${look.getPropertyValue(`--${name}`)}}.${name}{color:var(--${name})}`,
    )
    .join('');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${safe(title)}</title><style>${STYLE}${colours}</style></head><body><main>
<h1>${safe(title)}</h1>
<dl>${facts.map(([name, value]) => `<dt>${safe(name)}</dt><dd>${safe(value)}</dd>`).join('')}</dl>
${charts.map(chartOf).join('\n')}
${tables.map(tableOf).join('\n')}
${events.length === 0 ? '' : `<h2>Events</h2>${events.map(eventOf).join('\n')}`}
<h2>Queries</h2>${commands.map((command) => `<pre>${lines(command)}</pre>`).join('\n')}
</main></body></html>
`;
}

function safe(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

function lines(text: string): string {
  return text.split('\n').map(safe).join('\n');
}

function eventOf({ date, message, event }: EventText): string {
  return `<details><summary>${safe(date)} ${safe(message)}</summary><pre>${lines(event)}</pre></details>`;
}

function tableOf({ title, head, rows }: TextTable): string {
  const cells = (row: readonly string[]): string =>
    row.map((cell) => `<td>${safe(cell)}</td>`).join('');
  return `<h2>${safe(title)}</h2><table><thead><tr>${head
    .map((name) => `<th scope="col">${safe(name)}</th>`)
    .join(
      '',
    )}</tr></thead><tbody>${rows.map((row) => `<tr>${cells(row)}</tr>`).join('\n')}</tbody></table>`;
}

function chartOf({ title, label, ends, series }: Chart): string {
  const count = Math.max(1, ...series.map(({ values }) => values.length));
  const isStacked = series.every(({ shape }) => shape === 'bars');
  const sums = new Array<number>(count).fill(0);
  const all = isStacked ? stackedSums(series, count) : series.flatMap(({ values }) => values);
  const most = all.reduce<number>((high, value) => Math.max(high, value ?? 0), 0) || 1;
  const x = (at: number): string => ((at * WIDTH) / count).toFixed(1);
  const y = (value: number): string => (HEIGHT - (Math.max(value, 0) * HEIGHT) / most).toFixed(1);
  const bars = ({ values }: ChartSeries): string =>
    values
      .map((value, at) => {
        if (value === null || value <= 0) return '';
        const from = sums[at] ?? 0;
        sums[at] = from + value;
        const height = (value * HEIGHT) / most;
        return `<rect x="${x(at)}" y="${y(from + value)}" width="${((WIDTH / count) * 0.9).toFixed(1)}" height="${height.toFixed(1)}"/>`;
      })
      .join('');
  const line = ({ values }: ChartSeries): string => {
    let path = '';
    for (const [at, value] of values.entries()) {
      const isJoined = at > 0 && values[at - 1] !== null;
      if (value !== null) path += `${isJoined ? 'L' : 'M'}${x(at + 0.5)} ${y(value)}`;
    }
    return `<path d="${path}" fill="none" stroke="currentColor" stroke-width="2"/>`;
  };
  const drawn = series.map(
    (one) =>
      `<g ${lookOf(one)} fill="currentColor">${one.shape === 'bars' ? bars(one) : line(one)}</g>`,
  );
  const names = series.map(
    (one) =>
      `<span ${lookOf(one)}><span class="key" style="background:currentColor"></span></span>${safe(one.name)} `,
  );
  return `<h2>${safe(title)}</h2><svg role="img" aria-label="${safe(label)}" viewBox="0 -14 ${WIDTH} ${HEIGHT + 32}">${drawn.join('')}
<text x="0" y="-3" font-size="12">${safe(most.toLocaleString('en-US'))}</text>
<text x="0" y="${HEIGHT + 14}" font-size="12">${safe(ends[0])}</text>
<text x="${WIDTH}" y="${HEIGHT + 14}" font-size="12" text-anchor="end">${safe(ends[1])}</text></svg><p>${names.join('')}</p>`;
}

function stackedSums(series: readonly ChartSeries[], count: number): number[] {
  return Array.from({ length: count }, (_, at) =>
    series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
  );
}

/** Attribute of an element in the colour of a series. */
function lookOf({ colour }: ChartSeries): string {
  if (/^#[0-9a-f]{6}$/.test(colour)) return `style="color:${cssColour(colour)}"`;
  return `class="${COLOURS.includes(colour) ? colour : 'muted'}"`;
}
