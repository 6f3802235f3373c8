import { LABELS, STREAM } from './loki.logql.ts';

/** A body of Loki's push: JSON of streams, whose dates are nanoseconds as text. */

type Value = [nanoseconds: string, line: string, metadata: Record<string, string>];

/** Events, one of JSON a line, as the body of a push. What a shipper would do, and no part of any figure. */
export function pushBody(lines: string): Buffer {
  const streams = new Map<string, Value[]>();
  for (const line of lines.split('\n')) {
    if (line === '') continue;
    const event: Record<string, unknown> = JSON.parse(line);
    const key = String(event[STREAM.attribute]);
    const values = streams.get(key) ?? [];
    streams.set(key, values);
    values.push([nanosecondsOf(event['date_access']), String(event['message']), metadataOf(event)]);
  }
  const label = LABELS[STREAM.attribute] ?? '';
  const made = [...streams].map(([key, values]) => {
    return { stream: { ...STREAM.common, [label]: key }, values };
  });
  return Buffer.from(JSON.stringify({ streams: made }));
}

/** A date of the corpora: epoch milliseconds, or ISO 8601, which is UTC where it has no offset. */
function nanosecondsOf(date: unknown): string {
  const text = String(date);
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/.test(text);
  const ms = typeof date === 'number' ? date : Date.parse(hasZone ? text : `${text}Z`);
  return `${ms}000000`;
}

function metadataOf(event: Readonly<Record<string, unknown>>): Record<string, string> {
  const metadata: Record<string, string> = {};
  for (const [attribute, name] of Object.entries(LABELS)) {
    if (attribute === STREAM.attribute || event[attribute] === undefined) continue;
    metadata[name] = String(event[attribute]);
  }
  return metadata;
}
