import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { charts } from './charts.ts';
import { markdown } from './markdown.ts';
import { parseRun } from './row.ts';

/**
 * Writes what a file of JSON lines says as `<the same>.md`, with charts `<the same>-<id>.svg` beside it. Gives the path
 * of the Markdown.
 */
export function writeReport(file: string): string {
  const run = parseRun(readFileSync(file, 'utf8'));
  const stem = file.replace(/\.jsonl$/, '');
  const drawn = charts(run.figures).map(({ id, title, svg }) => {
    const path = `${stem}-${id}.svg`;
    writeFileSync(path, svg);
    return { title, file: basename(path) };
  });
  writeFileSync(`${stem}.md`, markdown(run, drawn));
  return `${stem}.md`;
}
