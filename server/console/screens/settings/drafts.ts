import { Fault } from '../../api/client.ts';
import type { Definitions } from '../../api/contract.ts';

/** The resources of definitions. */
export type Kind = keyof Definitions;
/** A definition of any resource. */
export type Definition = Definitions[Kind];
/** A tag of a form. */
export interface DraftTag {
  /** Empty: the service makes one of the name. */
  readonly id: string;
  readonly name: string;
  readonly color: string;
  readonly query: string;
}

/** Texts and choices of the form of a definition, with the fields of all resources. */
export interface Draft {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attribute: string;
  readonly type: string;
  readonly aggregation: string;
  readonly formula: string;
  readonly unit: string;
  readonly tags: readonly DraftTag[];
  readonly fields: readonly string[];
  readonly metrics: readonly string[];
  readonly kind: string;
  readonly from: string;
  readonly to: string;
  /** JSON texts. */
  readonly filters: string;
  readonly columns: string;
  readonly compute: string;
  readonly groupBy: string;
}

/** The names of a resource on the screen. */
export const KINDS: Readonly<Record<Kind, { name: string; one: string; about: string }>> = {
  fields: {
    ...{ name: 'Fields', one: 'field' },
    about: 'A field gives an attribute a name, under which analyses and integrations ask for it.',
  },
  metrics: {
    ...{ name: 'Metrics', one: 'metric' },
    about: 'A metric computes a number of an attribute, or of other metrics by a formula.',
  },
  tagsets: {
    ...{ name: 'Tagsets', one: 'tagset' },
    about: 'An event has the first tag of a tagset whose search finds it, and the colour of that.',
  },
  groups: {
    ...{ name: 'Groups', one: 'group' },
    about: 'A group collects fields, tagsets and metrics that belong together.',
  },
  saved_analyses: {
    ...{ name: 'Saved analyses', one: 'saved analysis' },
    about: 'A saved analysis is a question that runs under its id, here and by the API.',
  },
};

/** Colours that new tags begin with, by their place. */
const TAG_COLOURS = ['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#e377c2'];

/** A tag that has nothing yet but a colour. */
export function emptyTag(place: number): DraftTag {
  const color = TAG_COLOURS[place % TAG_COLOURS.length] ?? '';
  return { id: '', name: '', color, query: '' };
}

/** The draft of a form that makes a definition, or changes `one`. */
export function draftOf(one: Definition | undefined): Draft {
  const { time, ...parts }: Partial<Definitions['saved_analyses']> =
    one !== undefined && 'time' in one ? one : {};
  const json = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value));
  return {
    ...{ id: '', name: '', description: '', attribute: 'custom.', aggregation: 'avg' },
    ...{ type: 'attribute', formula: '', unit: '', tags: [emptyTag(0)], fields: [], metrics: [] },
    kind: 'list',
    ...one,
    ...{ from: String(time?.from ?? 'now-24h'), to: String(time?.to ?? 'now') },
    ...{ filters: json(parts.filters), columns: json(parts.columns) },
    ...{ compute: json(parts.compute), groupBy: json(parts.groupBy) },
  };
}

/** The body that makes a definition of a draft, or changes one. Throws Fault that names a field with faulty JSON. */
export function bodyOf(kind: Kind, draft: Draft, one: Definition | undefined): object {
  const { id, name, description } = draft;
  const named = { name, description, ...(one === undefined && id.trim() !== '' ? { id } : {}) };
  return { ...named, ...partsOf(kind, draft, one) };
}

function partsOf(kind: Kind, draft: Draft, one: Definition | undefined): object {
  if (kind === 'fields') return { attribute: draft.attribute.trim() };
  if (kind === 'groups') return { fields: draft.fields, metrics: draft.metrics };
  if (kind === 'metrics') return metricOf(draft, one);
  if (kind === 'saved_analyses') {
    const question = questionOf(draft);
    const had = one !== undefined && 'time' in one ? one : undefined;
    const lost = ['columns', 'compute', 'groupBy'].filter(
      (part) => had !== undefined && part in had && !(part in question),
    );
    return {
      ...{ kind: draft.kind, ...question, time: { ...had?.time, ...question.time } },
      ...Object.fromEntries(lost.map((part) => [part, null])),
    };
  }
  return {
    tags: draft.tags.map(({ id, ...tag }) => (id.trim() === '' ? tag : { id, ...tag })),
  };
}

function metricOf(
  { type, attribute, aggregation, formula, unit }: Draft,
  one: Definition | undefined,
): object {
  if (type === 'core') return { type };
  const had = one !== undefined && 'unit' in one;
  const measure = unit === '' ? (had ? { unit: null } : {}) : { unit };
  const lost = (...names: string[]): object =>
    Object.fromEntries(
      names.filter((name) => one !== undefined && name in one).map((name) => [name, null]),
    );
  if (type === 'formula') return { type, formula, ...measure, ...lost('attribute', 'aggregation') };
  return { type, attribute: attribute.trim(), aggregation, ...measure, ...lost('formula') };
}

/** The question of a saved analysis. Throws Fault that names a field with faulty JSON. */
export function questionOf(draft: Draft): {
  time: { from: string; to: string };
  filters?: unknown;
} {
  const { from, to, kind } = draft;
  const parts = kind === 'list' ? (['columns'] as const) : (['compute', 'groupBy'] as const);
  const given = (['filters', ...parts] as const).filter((part) => draft[part].trim() !== '');
  return {
    time: { from, to },
    ...Object.fromEntries(given.map((part) => [part, parsed(part, draft[part])])),
  };
}

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Fault(400, `${name} is no JSON`);
  }
}
