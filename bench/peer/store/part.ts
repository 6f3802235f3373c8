import { readFileSync } from 'node:fs';
import type { Body } from '../../corpus/bodies.ts';
import type { Part } from '../peer.ts';

const LINE_END = 0x0a;

/** The lines of a part as bodies of HTTP requests, each at most `bodyBytes` long when its lines are not longer. */
export function bodiesOf(part: Part, bodyBytes: number): Body[] {
  const bytes = readFileSync(part.file);
  const made: Body[] = [];
  let start = 0;
  let end = 0;
  let events = 0;
  while (end < bytes.length) {
    const lineEnd = bytes.indexOf(LINE_END, end) + 1 || bytes.length;
    if (lineEnd - start > bodyBytes && events > 0) {
      made.push({ body: bytes.subarray(start, end), events });
      start = end;
      events = 0;
    }
    end = lineEnd;
    events++;
  }
  if (events > 0) made.push({ body: bytes.subarray(start, end), events });
  return made;
}
