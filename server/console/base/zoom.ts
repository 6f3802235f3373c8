import { askFor, range } from './question.ts';

/** Asks for a range of instants. */
export function zoomTo(fromMs: number, toMs: number): void {
  const [from, to] = [fromMs, toMs].map((ms) => new Date(Math.round(ms)).toISOString());
  if (from !== undefined && to !== undefined && toMs - fromMs >= 1) askFor({ from, to });
}

/** Moves the range by half of its length, to earlier with -1 and to later with 1. */
export function shiftRange(direction: -1 | 1): void {
  const asking = range.peek();
  if (asking === undefined) return;
  const byMs = ((asking.toMs - asking.fromMs) / 2) * direction;
  zoomTo(asking.fromMs + byMs, asking.toMs + byMs);
}

/** Makes the range longer around its middle. */
export function zoomOut(): void {
  const asking = range.peek();
  if (asking === undefined) return;
  const byMs = (asking.toMs - asking.fromMs) / 2;
  zoomTo(asking.fromMs - byMs, Math.min(asking.toMs + byMs, Math.max(Date.now(), asking.toMs)));
}
