import type { ByteReader, ByteWriter } from '../base/bytes.ts';
import { damaged } from '../base/errors.ts';

/** Kind of a part of a template. The numbers are on disk. Source: FORMAT.md 4.10. */
export const PartKind = { OWN: 0, VALUE: 1, LITERAL: 2 } as const;
/** One of the values of `PartKind`. */
export type PartKind = (typeof PartKind)[keyof typeof PartKind];

/** Bytes that each text has of its own, the value of a column in the text's row, or bytes that all texts have. */
export interface TemplatePart {
  kind: PartKind;
  /** Of a value, the number of the column; else -1. */
  column: number;
  /** Of a literal; else none. */
  bytes: Uint8Array;
}

/** Parts of which texts are made, one after the other. */
export type TextTemplate = readonly TemplatePart[];

const NOTHING = new Uint8Array(0);

/** A text that is all its own. */
export const OWN_TEXT: TextTemplate = [ownPart()];

/** A part that each text has of its own. */
export function ownPart(): TemplatePart {
  return { kind: PartKind.OWN, column: -1, bytes: NOTHING };
}

/** A part that is the value of a column. */
export function valuePart(column: number): TemplatePart {
  return { kind: PartKind.VALUE, column, bytes: NOTHING };
}

/** A part that all texts have. */
export function literalPart(bytes: Uint8Array): TemplatePart {
  return { kind: PartKind.LITERAL, column: -1, bytes };
}

/** Writes templates. */
export function writeTemplates(writer: ByteWriter, templates: readonly TextTemplate[]): void {
  writer.varint(templates.length);
  for (const template of templates) {
    writer.varint(template.length);
    for (const { kind, column, bytes } of template) {
      writer.u8(kind);
      if (kind === PartKind.VALUE) writer.varint(column);
      else if (kind === PartKind.LITERAL) writer.blob(bytes);
    }
  }
}

/** Reads what `writeTemplates` wrote. Throws CORRUPTION. */
export function readTemplates(reader: ByteReader): TextTemplate[] {
  const templates: TextTemplate[] = [];
  const count = reader.varint();
  for (let number = 0; number < count; number++) {
    const parts: TemplatePart[] = [];
    const partCount = reader.varint();
    for (let at = 0; at < partCount; at++) {
      const kind = reader.u8();
      if (kind === PartKind.OWN) parts.push(ownPart());
      else if (kind === PartKind.VALUE) parts.push(valuePart(reader.varint()));
      else if (kind === PartKind.LITERAL) parts.push(literalPart(reader.blob()));
      else damaged(`part ${kind} of a template`);
    }
    templates.push(parts);
  }
  if (reader.remaining !== 0) damaged(`${reader.remaining} bytes after templates`);
  return templates;
}
