import type { Json } from '../../api/exact.ts';
import { addressOf } from '../../base/address.ts';
import { EXPLORE, PARAMETERS, said } from '../../base/question.ts';
import type { Range } from '../../base/range.ts';
import { termOf, withTerm } from '../../base/terms.ts';
import { addUnits } from '../../base/zone.ts';
import { type Answer, type Bucket, TIME } from './answer.ts';

/** The address that explores the events of a bucket, of the step that begins at `stepMs`, or of both. */
export function eventsOf(answer: Answer, bucket?: Bucket, atMs?: number): string {
  const { groupings, range, zone } = answer;
  let { query } = answer;
  let span = atMs === undefined ? range : spanOf(answer, atMs);
  for (const [at, id] of groupings.entries()) {
    const value = bucket?.groups[at];
    if (value === undefined) continue;
    if (id === TIME) span = spanOf(answer, Date.parse(String(value)));
    else query = withTerm(query, termOf(id, value as Json));
  }
  const { QUERY, FROM, TO, ZONE } = PARAMETERS;
  const params = new URLSearchParams();
  if (query !== '') params.set(QUERY, query);
  params.set(FROM, new Date(span.fromMs).toISOString());
  params.set(TO, new Date(span.toMs).toISOString());
  if (said(ZONE, zone) !== undefined) params.set(ZONE, zone);
  return addressOf(EXPLORE, params);
}

/** The part of a step that is in the range. */
function spanOf({ range, step, times, zone }: Answer, atMs: number): Range {
  const next = times[times.indexOf(atMs) + 1] ?? range.toMs;
  const endMs =
    step === '' ? next : addUnits(atMs, Number.parseInt(step, 10), step.slice(-1), zone);
  return { fromMs: Math.max(atMs, range.fromMs), toMs: Math.min(endMs, range.toMs) };
}
