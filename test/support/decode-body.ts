import { assert } from '../../engine/base/assert.ts';
import type { Decoder } from '../../server/decode/decoder.ts';
import { decodePieces } from '../../server/ingest/content.ts';
import type { BodyForm } from '../../server/ingest/protocol.ts';

const WHOLE = { events: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

/** Decodes a whole body in one piece, as `decodePieces` does; no row is left when it throws. */
export function decodeBody(decoder: Decoder, source: Uint8Array, form: BodyForm): void {
  try {
    for (const kind of decodePieces(decoder, source, form, WHOLE)) {
      assert(kind === 'anew', 'a body is one piece');
    }
  } catch (error) {
    decoder.goOn();
    throw error;
  }
}
