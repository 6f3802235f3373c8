import { computed, effect, signal } from '@preact/signals';
import { ask, isReachable, viewedKey } from '../../api/client.ts';
import type { AggregateResult } from '../../api/contract.ts';
import { addressOf, change, place } from '../../base/address.ts';
import { Panel } from '../../base/panel.ts';
import {
  asked,
  DIFFERENCES,
  filtersOf,
  PARAMETERS,
  type Question,
  question,
  range,
  rangeNow,
  said,
  timeOf,
} from '../../base/question.ts';
import { instantIn, type Range, stepFor } from '../../base/range.ts';
import { type Comparison, compare, type Side } from './compare.ts';

/** A selection among the events of the question, as the address says it: what is empty selects all. */
export interface Selection {
  readonly from: string;
  readonly to: string;
  readonly query: string;
}

/** Counts of the steps of a chart: of all events, and of those of the selection. */
export interface Steps {
  readonly range: Range;
  readonly times: readonly number[];
  readonly all: readonly number[];
  readonly selected: readonly number[];
}

const { FROM, TO, QUERY } = { FROM: 'sf', TO: 'st', QUERY: 'sq' } as const;
const BARS_MAX = 110;

/** The selection beside the rest, complete once it is loaded. */
export const comparison = new Panel<Comparison>();
/** The comparison as far as it is. */
export const soFar = signal<Comparison | undefined>(undefined);
/** Events over time. */
export const steps = new Panel<Steps>();

/** The selection of the address, the same as long as nothing of it changes. */
export const selection = computed<Selection>(() => JSON.parse(selectionText.value) as Selection);

const selectionText = computed(() => {
  const { params } = place.value;
  const text = (name: string): string => params.get(name) ?? '';
  return JSON.stringify({ from: text(FROM), to: text(TO), query: text(QUERY) });
});

/** Reports whether a selection leaves anything out. */
export function isChosen({ from, to, query }: Selection): boolean {
  return from !== '' || to !== '' || query !== '';
}

function parametersOf({ from, to, query }: Selection): Record<string, string | undefined> {
  return { [FROM]: from || undefined, [TO]: to || undefined, [QUERY]: query || undefined };
}

/** Rejects with the Fault of the service when it does not understand a selection. */
export async function checkSelection({ from, to, query }: Selection): Promise<void> {
  const { fromMs, toMs } = range.peek() ?? { fromMs: 0, toMs: 0 };
  const time = { from: from || fromMs, to: to || toMs, timezone: question.peek().zone };
  await ask('/beta/events/list', { time, filters: filtersOf(query), limit: 1, hints: false });
}

/** Selects other events. */
export function select(changes: Partial<Selection>): void {
  change(parametersOf({ ...selection.peek(), ...changes }));
}

/** The address that compares a selection with all other events of a question. */
export function addressOfDifferences(
  { query, from, to, zone }: Pick<Question, 'query' | 'from' | 'to' | 'zone'>,
  selected: Selection,
): string {
  const names = PARAMETERS;
  const all = { [names.QUERY]: query, [names.FROM]: from, [names.TO]: to, [names.ZONE]: zone };
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...all, ...parametersOf(selected) })) {
    if (value !== undefined && said(name, value) !== undefined) params.set(name, value);
  }
  return addressOf(DIFFERENCES, params);
}

/** The span of a selection within a range; ends that cannot be read are those of the range. */
export function spanOf({ from, to }: Selection, all: Range, zone: string): Range {
  const nowMs = Date.now();
  const fromMs = Math.max(instantIn(from, zone, nowMs) ?? all.fromMs, all.fromMs);
  return {
    fromMs,
    toMs: Math.max(fromMs, Math.min(instantIn(to, zone, nowMs) ?? all.toMs, all.toMs)),
  };
}

/** Loads what the address asks for whenever that changes. Returns what ends it. */
export function watchSelection(): () => void {
  const end = effect(() => {
    const [now, chosen] = [question.value, selection.value];
    // Read so that asking anew, another viewer and a service that is back load all again.
    void [asked.value, viewedKey.value];
    if (!isReachable.value) return;
    const asking = rangeNow(now);
    range.value = asking;
    soFar.value = undefined;
    if (asking === undefined) return;
    const all = sideOf(asking, now.query, now.zone);
    const span = spanOf(chosen, asking, now.zone);
    const own = sideOf(span, now.query, now.zone);
    const selected = { ...own, filters: [...own.filters, ...filtersOf(chosen.query)] };
    void steps.load((signal) => loadSteps(asking, all, selected, signal));
    void comparison.load((signal) => loadAll(all, selected, signal));
  });
  return () => {
    end();
    for (const panel of [comparison, steps]) panel.cancel();
  };
}

function sideOf(span: Range, query: string, zone: string): Side {
  return { time: { ...timeOf(span), timezone: zone }, filters: filtersOf(query) };
}

async function loadAll(all: Side, selected: Side, signal: AbortSignal): Promise<Comparison> {
  let last: Comparison | undefined;
  for await (const found of compare(all, selected, signal)) {
    if (signal.aborted) break;
    last = found;
    soFar.value = found;
  }
  if (last === undefined) throw new Error('nothing was compared');
  return last;
}

async function loadSteps(
  asking: Range,
  all: Side,
  selected: Side,
  signal: AbortSignal,
): Promise<Steps> {
  const interval = stepFor(asking, BARS_MAX);
  const compute = [{ timeseries: { metricId: 'count', interval, output: 'n' } }];
  const [every, own] = await Promise.all(
    [all, selected].map(async (side) => {
      const body = { ...side, compute, hints: false };
      const { aggregates } = await ask<AggregateResult>('/beta/events/aggregate', body, signal);
      const series = aggregates[0]?.values['n'];
      return new Map(
        (Array.isArray(series) ? series : []).map(({ time, value }) => [
          Date.parse(time),
          Number(value),
        ]),
      );
    }),
  );
  const times = [...(every?.keys() ?? [])];
  return {
    ...{ range: asking, times, all: times.map((time) => every?.get(time) ?? 0) },
    selected: times.map((time) => own?.get(time) ?? 0),
  };
}
