import { ask, Fault } from '../../api/client.ts';
import type { AggregateResult, FacetsResult, ListResult } from '../../api/contract.ts';
import { textOf } from '../../api/exact.ts';
import { percent, whole } from '../../base/format.ts';
import { FaultNote } from '../../parts/controls.tsx';
import { brief, lineOf } from '../../parts/log-text.tsx';
import { type Draft, type Kind, questionOf } from './drafts.ts';

/** A row of a preview. */
interface Finding {
  readonly name: string;
  readonly value: string;
  /** Its part of all, for a bar. */
  readonly part?: number;
  readonly colour?: string;
}

/** Findings of a definition that is not saved yet. */
export interface Preview {
  readonly title: string;
  readonly findings: readonly Finding[];
  readonly fault?: Fault;
}

const DAY_MS = 86_400_000;
const VALUES = 10;
const NONE = 'Nothing of the last 24 hours.';

/** The preview of a draft on the newest events; `metrics` are the ids of those that there are. */
export async function previewOf(
  kind: Kind,
  draft: Draft,
  metrics: readonly string[],
): Promise<Preview> {
  const title = kind === 'saved_analyses' ? 'What it answers' : 'In the last 24 hours';
  try {
    return { title, findings: await findingsOf(kind, draft, metrics) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { title, findings: [], fault: error };
  }
}

function findingsOf(kind: Kind, draft: Draft, metrics: readonly string[]): Promise<Finding[]> {
  if (kind === 'fields') return valuesOf(draft.attribute.trim());
  if (kind === 'tagsets') return tagsOf(draft);
  if (kind === 'metrics') return numbersOf(idsOf(draft, metrics), draft.unit);
  return answerOf(draft);
}

function lastDay(): { from: number; to: number } {
  const to = Date.now();
  return { from: to - DAY_MS, to };
}

async function valuesOf(field: string): Promise<Finding[]> {
  const body = { time: lastDay(), fields: [field], limit: VALUES };
  const { facets } = await ask<FacetsResult>('/beta/discover/facets', body);
  const values = facets[0]?.values ?? [];
  const all = values.reduce((sum, { count }) => sum + count, 0);
  return values.map(({ value, count }) => counted(brief(textOf(value)) || '""', count, all));
}

function counted(name: string, count: number, all: number, colour?: string): Finding {
  return {
    ...{ name, value: `${whole(count)} · ${percent(count, all)}`, part: count / Math.max(1, all) },
    ...(colour === undefined ? {} : { colour }),
  };
}

/** An event has the first tag that finds it: each tag takes of those that the ones before it left. */
async function tagsOf({ tags }: Draft): Promise<Finding[]> {
  const time = lastDay();
  const all = await countOf({ time, filters: [] });
  const findings: Finding[] = [];
  const filters: { search: string }[] = [];
  let left = all;
  for (const { name, color, query } of tags) {
    if (query.trim() !== '') filters.push({ search: `-(${query})` });
    const rest = query.trim() === '' ? 0 : await countOf({ time, filters });
    findings.push(counted(brief(name) || '""', left - rest, all, color));
    left = rest;
  }
  return [...findings, counted('without a tag', left, all)];
}

async function countOf(question: object): Promise<number> {
  const body = { ...question, compute: [{ metric: { id: 'count', output: 'n' } }], hints: false };
  const { aggregates } = await ask<AggregateResult>('/beta/events/aggregate', body);
  return Number(aggregates[0]?.values['n'] ?? 0);
}

/** The metrics of a preview: of a formula itself and its parts. */
function idsOf(
  { type, attribute, aggregation, formula }: Draft,
  metrics: readonly string[],
): string[] {
  if (type === 'core') return ['count'];
  if (type === 'attribute') return [`${aggregation}:${attribute.trim()}`];
  const words = formula.match(/"[^"]*"|[^\s()+*/]+/g) ?? [];
  const ids = words.map((word) => word.replaceAll('"', ''));
  const parts = ids.filter((id) => metrics.includes(id) || id.includes(':'));
  return [...new Set([`=${formula}`, ...parts])].slice(0, 5);
}

/** Values of metrics. The first is not defined yet: it has the unit of the draft. */
async function numbersOf(ids: readonly string[], unit: string): Promise<Finding[]> {
  const compute = ids.map((id, at) => ({ metric: { id, output: `m${at}` } }));
  const body = { time: lastDay(), compute, format: true, hints: false };
  const { aggregates } = await ask<AggregateResult>('/beta/events/aggregate', body);
  return ids.map((id, at) => {
    const value = shownValue(aggregates[0]?.values[`m${at}`]);
    return { name: brief(id.replace(/^=/, '')), value: at === 0 ? `${value} ${unit}` : value };
  });
}

async function answerOf(draft: Draft): Promise<Finding[]> {
  const question = questionOf(draft);
  if (draft.kind === 'list') {
    const body = { ...question, limit: VALUES, event: true };
    const { events } = await ask<ListResult>('/beta/events/list', body);
    return events.map((event) => ({ name: brief(lineOf(event)), value: event.date }));
  }
  const { aggregates } = await ask<AggregateResult>('/beta/events/aggregate', {
    ...{ ...question, format: true, hints: false },
  });
  return aggregates.slice(0, VALUES).map(({ bucket, values }) => ({
    name: brief(Object.values(bucket).map(nameOf).join(' · ')) || 'all events',
    value: Object.values(values).map(shownValue).join(' · '),
  }));
}

function nameOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return 'name' in value ? String(value.name) : textOf(value as never);
}

function shownValue(value: unknown): string {
  if (Array.isArray(value)) return `${whole(value.length)} points`;
  if (typeof value !== 'object' || value === null) return value === null ? 'none' : String(value);
  return 'formatted' in value ? String(value.formatted ?? 'none') : textOf(value as never);
}

/** A preview beside its form. */
export function PreviewBox({ preview: { title, findings, fault } }: { preview: Preview }) {
  return (
    <section class="preview" aria-label={title}>
      <h3>{title}</h3>
      {fault !== undefined && <FaultNote fault={fault} />}
      {fault === undefined && findings.length === 0 && <p class="quiet-text">{NONE}</p>}
      <ul class="bars">
        {findings.map(({ name, value, part, colour }) => (
          <li class="preview-row" style={colour === undefined ? {} : { '--status': colour }}>
            {part !== undefined && <span class="bar" style={{ width: `${100 * part}%` }} />}
            <span class="bar-name">{name}</span>
            <span class="bar-count">{value}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
