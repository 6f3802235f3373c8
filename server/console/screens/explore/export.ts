import { Fault, send } from '../../api/client.ts';
import { filtersOf, question, range, timeOf } from '../../base/question.ts';

/** Columns of a CSV for which none were chosen. */
const CSV_COLUMNS = ['message'];

/** Saves all events that the question finds as a file. Resolves with what went wrong, if anything did. */
export async function exportAll(
  format: 'ndjson' | 'csv',
  columns: readonly string[],
): Promise<string | undefined> {
  const asking = range.peek();
  const { query, zone, order } = question.peek();
  if (asking === undefined) return 'The range cannot be read.';
  const paths = [...columns, ...CSV_COLUMNS.filter((path) => !columns.includes(path))];
  const body = {
    ...{ time: { ...timeOf(asking), timezone: zone }, filters: filtersOf(query), order, format },
    ...(format === 'csv' ? { columns: paths.map((attribute) => ({ attribute })), safe: true } : {}),
  };
  try {
    const response = await send('POST', '/beta/events/export', body);
    saveFile(
      await response.blob(),
      `logseam-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.${format}`,
    );
    const damaged = response.headers.get('x-logseam-damaged');
    return damaged === null ? undefined : 'The export is partial: some blocks are damaged.';
  } catch (error) {
    return error instanceof Fault
      ? error.message
      : 'The export was cut off: it is not whole, and not saved.';
  }
}

/** Saves a file of the browser's. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
