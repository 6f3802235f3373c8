import { median } from './number.ts';

/** The system under test: the name that stands in figures which name no other. */
export const OWN = 'logseam';

/** True when more is better of what has this unit. */
export function isRate(unit: string): boolean {
  return /^(events|rows|lines|requests|queries|MB)\/s/.test(unit);
}

/** Where, when and of what a run was. */
export interface Origin {
  /** With a `+` when files differ from it. */
  commit: string;
  machine: string;
  /** Of the systems that took part, and of Node. */
  versions: Record<string, string>;
  /** ISO 8601, UTC. */
  started: string;
  /** Factor that event counts were multiplied with. */
  scale: number;
}

/** A measurement of a workload: one number with a unit, several samples when it was run several times. */
export interface Figure {
  name: string;
  unit: string;
  samples: number[];
  /** Who was measured; OWN when left out. Figures of several systems under one name are set against each other. */
  system?: string;
  /** The name of the data. */
  corpus?: string;
  /** How many of them; figures of one name over several counts make a growth curve. */
  events?: number;
  /** True when less of it is better; by its unit when left out (`isRate`). */
  lowerIsBetter?: boolean;
}

/** A remark of a run: a line of the table. */
export interface Remark {
  kind: 'failed' | 'not measured' | 'differs';
  system: string;
  /** The figure that it is about; the whole workload when left out. */
  name?: string;
  /** The count of events that it is about, where there are several. */
  events?: number;
  text: string;
}

/** A line of a file of results that is a figure. */
export interface FigureRow extends Figure, Origin {
  workload: string;
  system: string;
  lowerIsBetter: boolean;
  min: number;
  median: number;
  max: number;
}

/** A line of a file of results that is a remark. */
export interface RemarkRow extends Remark, Origin {
  workload: string;
}

/** All that one run found, in the order in which it was found. */
export interface Run {
  figures: FigureRow[];
  remarks: RemarkRow[];
}

/** The line of a figure; throws when a sample is no number, as JSON has no NaN. */
export function figureRow(workload: string, figure: Figure, origin: Origin): FigureRow {
  if (!figure.samples.every(Number.isFinite))
    throw new Error(`${figure.name}: a sample of ${figure.samples.join(', ')} is no number`);
  return {
    workload,
    ...figure,
    system: figure.system ?? OWN,
    lowerIsBetter: figure.lowerIsBetter ?? !isRate(figure.unit),
    min: Math.min(...figure.samples),
    median: median(figure.samples),
    max: Math.max(...figure.samples),
    ...origin,
  };
}

/** Reads the JSON lines of a run. */
export function parseRun(text: string): Run {
  const run: Run = { figures: [], remarks: [] };
  for (const line of text.split('\n').filter((entry) => entry !== '')) {
    const row: FigureRow | RemarkRow = JSON.parse(line);
    if ('kind' in row) run.remarks.push(row);
    else run.figures.push(row);
  }
  return run;
}
