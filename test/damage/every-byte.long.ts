import t from 'tap';
import { flipEach } from './every-byte.ts';
import { smallSegments, wordSegment } from './segments.ts';

/**
 * Segments of which any byte is flipped, some of the reads of each in turn: all of them at each byte take half an hour
 * of a processor, these 4 minutes.
 */
const segments = [...(await smallSegments()), await wordSegment()];

for (const segment of segments) {
  t.test(`whichever byte of ${segment.name} is flipped, no read is wrong`, async (t) => {
    const flips = flipEach(segment, (at, count) => [at % count, (at + (count >> 1)) % count]);
    t.comment(`${segment.bytes.length} bytes: ${JSON.stringify(flips)}`);
    t.ok(flips.partial > segment.bytes.length / 8);
  });
}
