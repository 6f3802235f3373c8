/** Newline-separated events, and how many they are. */
export interface Body {
  body: Buffer;
  events: number;
}

/**
 * Makes bodies of newline-separated events one at a time, each of at most `bodyBytes` unless an event alone is longer,
 * `eventCount` events in all. `prefix` stands before each event.
 */
export function* eachBody(
  event: () => string,
  eventCount: number,
  bodyBytes: number,
  prefix = '',
): Generator<Body, void> {
  let lines: string[] = [];
  let bytes = 0;
  for (let index = 0; index < eventCount; index++) {
    const line = `${prefix}${event()}\n`;
    const lineBytes = Buffer.byteLength(line);
    if (bytes + lineBytes > bodyBytes && lines.length > 0) {
      yield { body: Buffer.from(lines.join('')), events: lines.length };
      lines = [];
      bytes = 0;
    }
    lines.push(line);
    bytes += lineBytes;
  }
  if (lines.length > 0) yield { body: Buffer.from(lines.join('')), events: lines.length };
}

/** The bodies of `eachBody`, all in memory. */
export function bodies(
  event: () => string,
  eventCount: number,
  bodyBytes: number,
  prefix = '',
): Body[] {
  return [...eachBody(event, eventCount, bodyBytes, prefix)];
}
