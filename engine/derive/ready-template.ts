import type { ColumnTexts } from './row-texts.ts';
import { PartKind, type TextTemplate } from './template.ts';

/** A part of a template, with the texts of its column. */
export interface ReadyPart {
  kind: PartKind;
  column: number;
  /** Of a literal it alone, of a value all that the column has. */
  bytes: Uint8Array;
  /** Of a value, as `RowTexts` has them. */
  ids: Uint32Array;
  offsets: Uint32Array;
}

const NOTHING = new Uint32Array(0);

/** Reads the columns that templates name. Throws CORRUPTION. */
export function readyTemplates(
  templates: readonly TextTemplate[],
  columns: ColumnTexts,
): ReadyPart[][] {
  return templates.map((template) =>
    template.map(({ kind, column, bytes }) => {
      if (kind !== PartKind.VALUE) return { kind, column, bytes, ids: NOTHING, offsets: NOTHING };
      const texts = columns.texts(column);
      return { kind, column, bytes: texts.bytes, ids: texts.ids, offsets: texts.offsets };
    }),
  );
}
