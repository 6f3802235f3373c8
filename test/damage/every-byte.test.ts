import t from 'tap';
import { encodingsOf } from './encodings.ts';
import { flipEach } from './every-byte.ts';
import { smallSegments } from './segments.ts';

/** Of the bytes of a frame, those whose flip is not only checked; every-byte.long.ts reads all. */
const READ_EVERY = 29;

const ENCODINGS = [
  ...['frame block', 'frame head', 'frame directory', 'frame chunks', 'frame dictionary'],
  ...['frame words', 'frame footer', 'compressed meta', 'listed shapes', 'ordered shapes'],
  ...['keys of 1 writers', 'keys of 2 writers', 'shared chunk', 'overflow map'],
  ...['all rows', 'presence in ids', 'row list of layout 1', 'row list of layout 2'],
  ...['stream constant', 'stream packed', 'stream differences', 'stream runs', 'stream doubles'],
  ...['stream codes', 'patches', 'negative base', 'negative step'],
  ...['string constant', 'string dictionary', 'string text', 'string shared', 'string derived'],
  ...['array constant', 'array dictionary', 'array shared', 'boolean'],
  ...['number of rule 0', 'number of rule 1', 'number of rule 2', 'scaled number', 'double'],
  ...['number as text', 'date of origin 0', 'date of origin 1'],
  ...['LZ4 or plain', 'zstd', 'addresses', 'marks of 1 writers', 'marks of 2 writers'],
];

const segments = await smallSegments();

t.test('the segments that are damaged have every encoding', async (t) => {
  const found = new Set(segments.flatMap((segment) => [...encodingsOf(segment)]));
  t.same(
    ENCODINGS.filter((encoding) => !found.has(encoding)),
    [],
  );
});

for (const segment of segments) {
  t.test(`any flipped byte of ${segment.name} is named, and no read of it wrong`, async (t) => {
    const flips = flipEach(segment, (at, count) =>
      at % READ_EVERY === 0 ? [(at / READ_EVERY) % count] : [],
    );
    t.comment(`${segment.bytes.length} bytes: ${JSON.stringify(flips)}`);
    t.ok(flips.unused < segment.bytes.length / 4, `${flips.unused} bytes mean nothing`);
    t.ok(flips.partial > 10);
  });
}
