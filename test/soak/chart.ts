/** A line of a chart: points of (x, y) in ascending order of x. */
export interface Series {
  name: string;
  points: readonly (readonly [number, number])[];
}

const COLUMNS = 80;
const ROWS = 14;
/** Dots of a braille character, left to right and top to bottom. */
const DOTS = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
];

/** Draws series over a common scale that begins at 0, for a terminal; `marks` are places of x below the axis. */
export function chart(title: string, series: readonly Series[], marks: readonly number[]): string {
  const points = series.flatMap((each) => each.points);
  const right = Math.max(1e-9, ...points.map(([x]) => x), ...marks);
  const top = Math.max(1e-9, ...points.map(([, y]) => y)) * 1.05;
  const cells = Array.from({ length: ROWS }, () => new Uint8Array(COLUMNS));
  const plot = (x: number, y: number): void => {
    const column = Math.min(COLUMNS * 2 - 1, Math.floor((x / right) * COLUMNS * 2));
    const row = Math.min(ROWS * 4 - 1, Math.floor((1 - y / top) * ROWS * 4));
    cells[row >> 2][column >> 1] |= DOTS[row & 3][column & 1];
  };
  for (const { points: line } of series) {
    for (const [at, [x, y]] of line.entries()) {
      const [fromX, fromY] = line[Math.max(0, at - 1)];
      const steps = Math.max(1, Math.ceil(((x - fromX) / right) * COLUMNS * 2));
      for (let step = 0; step <= steps; step++)
        plot(fromX + ((x - fromX) * step) / steps, fromY + ((y - fromY) * step) / steps);
    }
  }
  const lines = cells.map((row, at) => {
    const label = at % 4 === 0 ? (top * (1 - at / ROWS)).toFixed(0) : '';
    return `${label.padStart(8)} ┤${[...row].map((dots) => String.fromCharCode(0x2800 + dots)).join('')}`;
  });
  const axis = Array.from({ length: COLUMNS }, () => '─');
  for (const mark of marks) axis[Math.min(COLUMNS - 1, Math.floor((mark / right) * COLUMNS))] = '┴';
  const ends = `${'0'.padEnd(COLUMNS / 2)}${right.toFixed(1).padStart(COLUMNS / 2)}`;
  return [title, ...lines, `${' '.repeat(9)}└${axis.join('')}`, `${' '.repeat(10)}${ends}`].join(
    '\n',
  );
}
