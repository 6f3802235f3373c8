import { print, printCount } from './number.ts';
import { isLoss, printRatio, type Ratio, standings } from './ratio.ts';
import { type FigureRow, OWN, type RemarkRow } from './row.ts';

const RED = '\x1b[31m';
const RESET = '\x1b[39m';

/** True when a stream shows colours: a terminal, and nobody said NO_COLOR (https://no-color.org). */
export function hasColor(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY === true && (process.env.NO_COLOR ?? '') === '';
}

/** The figures of a workload, a line each; the system is named where it is not ours. */
export function figureLines(figures: readonly FigureRow[]): string[] {
  const names = figures.map(({ name, system, corpus, events }) => {
    const about = [system === OWN ? undefined : system, corpus];
    if (events !== undefined) about.push(printCount(events));
    const known = about.filter((part) => part !== undefined);
    return known.length === 0 ? name : `${name} (${known.join(', ')})`;
  });
  const width = Math.max(10, ...names.map((name) => name.length));
  return figures.map(({ unit, samples, min, median, max }, at) => {
    const spread = samples.length > 1 ? `  (${print(min)} to ${print(max)})` : '';
    return `  ${names[at].padEnd(width)}  ${print(median).padStart(10)} ${unit}${spread}`;
  });
}

/** Remarks of a workload, a line each, red in colour. */
export function remarkLines(remarks: readonly RemarkRow[], color: boolean): string[] {
  return remarks.map(({ kind, system, name, events, text }) => {
    const about = [system, name, events === undefined ? undefined : printCount(events)];
    const line = `  ${kind}: ${about.filter((part) => part !== undefined).join(', ')}: ${text}`;
    return color ? `${RED}${line}${RESET}` : line;
  });
}

/** How ours stands against the best peer, and the ratios, a line each, losses first and red in colour. */
export function ratioLines(compared: readonly Ratio[], color: boolean): string[] {
  const stands = standings(compared).map(({ corpus, events, measure, behind, figures, mean }) => {
    const about = [corpus, events === undefined ? undefined : printCount(events), measure];
    const known = about.filter((part) => part !== undefined).join(', ');
    const ratio = mean === undefined ? '' : `, geometric mean ${printRatio(mean)}`;
    return `  ${known}: behind the best peer in ${behind} of ${figures}${ratio}`;
  });
  const lines = compared.map((entry) => {
    const { own, best, ratio } = entry;
    const mark = isLoss(entry) ? 'loss' : '';
    const events = own.events === undefined ? undefined : printCount(own.events);
    const question = [own.corpus, events, own.name].filter((part) => part !== undefined);
    const line = `  ${printRatio(ratio).padStart(8)} ${mark.padEnd(5)} ${question.join(', ')}: ${print(own.median)} ${own.unit}, ${best.system} ${print(best.median)}`;
    return color && mark !== '' ? `${RED}${line}${RESET}` : line;
  });
  return [...stands, ...lines];
}
