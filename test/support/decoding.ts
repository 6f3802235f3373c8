import { PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { Decoder } from '../../server/decode/decoder.ts';
import type { Enrichment } from '../../server/decode/enrichment.ts';
import { decodeBody } from './decode-body.ts';
import { rowText } from './row-text.ts';

/** Reception date of what the helpers decode: 2026-11-21T12:00:00Z. */
export const RECEIVED_MS = Date.UTC(2026, 10, 21, 12);

/** A decoder with its rows, and what it made of its last source. */
export class Decoding {
  readonly paths = new PathTable();
  readonly rows = new Rows();
  readonly decoder = new Decoder(this.paths, this.rows);

  /** The events of a body of lines. */
  lines(body: string | Uint8Array, enrichment?: Enrichment): string[] {
    const source = this.#begin(body, enrichment);
    decodeBody(this.decoder, source, 'lines');
    return this.events();
  }

  /** The events of a body of type JSON. */
  json(body: string | Uint8Array, enrichment?: Enrichment): string[] {
    const source = this.#begin(body, enrichment);
    decodeBody(this.decoder, source, 'json');
    return this.events();
  }

  /** The event of a line of a raw channel. */
  line(line: string | Uint8Array, enrichment?: Enrichment): string[] {
    const source = this.#begin(line, enrichment);
    this.decoder.line(0, source.length);
    return this.events();
  }

  /** The events of the rows as JSON texts. */
  events(): string[] {
    return Array.from({ length: this.rows.rowCount }, (_, row) =>
      rowText(this.rows, row, this.paths),
    );
  }

  /** The event dates of the rows. */
  dates(): string[] {
    return [...this.rows.timeMs.subarray(0, this.rows.rowCount)].map((ms) =>
      new Date(ms).toISOString(),
    );
  }

  #begin(source: string | Uint8Array, enrichment: Enrichment | undefined): Uint8Array {
    const bytes = typeof source === 'string' ? Buffer.from(source) : source;
    this.decoder.begin(bytes, RECEIVED_MS, enrichment);
    return bytes;
  }
}
