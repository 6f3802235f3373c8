import { type Draft, questionOf } from './drafts.ts';

/** A saved analysis as a form has it; lists are ids with commas between them. */
export interface PlainAnalysis {
  readonly search: string;
  readonly columns: string;
  readonly metrics: string;
  /** Fields and attributes, or TIME. */
  readonly groups: string;
  readonly interval: string;
}

/** The grouping by steps of time. */
export const TIME = '@time';
const INTERVAL_DEFAULT = '1h';

type Texts = Pick<Draft, 'filters' | 'columns' | 'compute' | 'groupBy'>;
/** Parts of a question of any form. */
interface Parts {
  readonly filters?: readonly { search?: string | { query?: string } }[];
  readonly columns?: readonly Readonly<Record<string, string>>[];
  readonly compute?: readonly {
    metric?: { id?: string };
    timeseries?: { metricId?: string; interval?: string };
  }[];
  readonly groupBy?: readonly { field?: { id?: string }; time?: { interval?: string } }[];
}

/** The form of a draft; `undefined` when its texts say more than the form has. */
export function plainOf(draft: Draft): PlainAnalysis | undefined {
  try {
    const has = questionOf(draft) as Parts;
    const plain = plainIn(has);
    const had = questionOf({ ...draft, ...textsOf(draft.kind, plain) }) as Parts;
    return JSON.stringify(withQueries(had)) === JSON.stringify(withQueries(has))
      ? plain
      : undefined;
  } catch {
    return undefined;
  }
}

function plainIn({ filters = [], columns = [], compute = [], groupBy = [] }: Parts): PlainAnalysis {
  const search = filters[0]?.search;
  const steps = [...compute.map((one) => one.timeseries), ...groupBy.map((one) => one.time)];
  return {
    search: (typeof search === 'string' ? search : search?.query) ?? '',
    columns: columns.map((column) => Object.values(column)[0] ?? '').join(', '),
    metrics: compute.map((one) => one.metric?.id ?? one.timeseries?.metricId ?? '').join(', '),
    groups: groupBy.map((one) => one.field?.id ?? TIME).join(', '),
    interval: steps.find((one) => one !== undefined)?.interval ?? INTERVAL_DEFAULT,
  };
}

/** The question with its searches in the longer form, and without what is empty or goes without saying. */
function withQueries({ filters = [], ...rest }: Parts): object {
  const all = filters.map((filter) =>
    typeof filter.search === 'string' ? { search: { query: filter.search } } : filter,
  );
  const { columns = [], compute = [], groupBy = [] } = rest;
  return { filters: all, columns, compute: compute.map(unnamed), groupBy: groupBy.map(unnamed) };
}

/** A compute or groupBy without the name of its output, when that is one of its place. */
function unnamed(one: Readonly<Record<string, object>>, at: number): object {
  return Object.fromEntries(
    Object.entries(one).map(([type, { output, ...rest }]: [string, { output?: string }]) => [
      type,
      output === undefined || output === `m${at}` || output === `g${at}` ? rest : { output },
    ]),
  );
}

/** The texts of a draft that a form stands for. */
export function textsOf(kind: string, plain: PlainAnalysis): Texts {
  const { search, columns, metrics, groups, interval } = plain;
  const isSeries = kind === 'timeseries';
  return {
    filters: search.trim() === '' ? '' : textOf([{ search: { query: search } }]),
    columns: textOf(idsIn(columns).map(columnOf)),
    compute: textOf(
      idsIn(metrics).map((id) =>
        isSeries ? { timeseries: { metricId: id, interval } } : { metric: { id } },
      ),
    ),
    groupBy: textOf(
      idsIn(groups).map((id) => (id === TIME ? { time: { interval } } : { field: { id } })),
    ),
  };
}

function columnOf(id: string): object {
  return id === 'message' || /^(?:custom|syslog)\./.test(id) ? { attribute: id } : { field: id };
}

function idsIn(text: string): string[] {
  return text.split(',').flatMap((id) => id.trim() || []);
}

function textOf(list: readonly object[]): string {
  return list.length === 0 ? '' : JSON.stringify(list);
}
