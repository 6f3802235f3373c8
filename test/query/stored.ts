import type { CountedEntries } from '../../engine/column/entries.ts';
import type { BlockSource } from '../../engine/query/model/source.ts';
import type { BlockRef } from '../../engine/segment/frame.ts';
import { naiveEvent, type TestRow } from '../segment/leaves.ts';
import { Shelf } from '../segment/shelf.ts';
import { Model } from '../support/model.ts';

/** Some blocks sealed, by turns with few columns and an overflow map, some not, and the model of all of them. */
export async function stored(
  written: readonly TestRow[][],
  sealedCount: number,
): Promise<{ shelf: Shelf; model: Model }> {
  const shelf = new Shelf(sealedCount > 0 && sealedCount % 2 === 0 ? 2 : undefined);
  const model = new Model();
  let sequence = 1;
  for (const rows of written) {
    await shelf.add(rows, 0, sequence);
    for (const { timeMs, leaves } of rows) {
      model.add({ timeMs, writer: 0, sequence: sequence++, event: naiveEvent(leaves) });
    }
  }
  const logs = shelf.refs.slice(0, sealedCount);
  if (logs.length > 0) await shelf.seal(logs, 20);
  return { shelf, model };
}

/** Reads with the dictionaries that `dictionary` gives; without it by rows. */
export function sourceOf(
  reader: Shelf['reader'],
  dictionary?: (ref: BlockRef, number: number) => CountedEntries,
): BlockSource {
  return {
    ...{ secret: reader.secret, ids: reader.ids },
    open: (ref) => reader.open(ref),
    columns: (ref) => reader.columns(ref),
    footer: (ref) => reader.footer(ref),
    ...(dictionary === undefined ? {} : { dictionary }),
  };
}
