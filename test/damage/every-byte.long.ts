import t from 'tap';
import { flipEach } from './every-byte.ts';
import { smallSegments, wordSegment } from './segments.ts';

/** Every read of every segment with any byte flipped. */
const segments = [...(await smallSegments()), await wordSegment()];

for (const segment of segments) {
  t.test(`whichever byte of ${segment.name} is flipped, no read is wrong`, async (t) => {
    const flips = flipEach(segment, (_, count) => [...Array(count).keys()]);
    t.comment(`${segment.bytes.length} bytes: ${JSON.stringify(flips)}`);
    t.ok(flips.partial > segment.bytes.length);
  });
}
