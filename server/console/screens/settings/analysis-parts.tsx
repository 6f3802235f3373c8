import { useState } from 'preact/hooks';
import { say } from '../../base/notice.ts';
import { Button } from '../../parts/controls.tsx';
import { Field, TextField } from '../../parts/form.tsx';
import { Choice, type PartsProps } from './form-parts.tsx';
import { type PlainAnalysis, plainOf, TIME, textsOf } from './plain-analysis.ts';

const ANALYSIS_KINDS = ['list', 'timeseries', 'toplist', 'table'];
const IDS_SHOWN = 20;

/** The fields of a saved analysis: a form, or for what it has no fields JSON. */
export function AnalysisParts({ draft, set, members }: PartsProps) {
  const [plain, setPlain] = useState(() => plainOf(draft));
  const { kind } = draft;
  const change = (next: PlainAnalysis | undefined, of = kind): void => {
    setPlain(next);
    set({ kind: of, ...(next === undefined ? {} : textsOf(of, next)) });
  };
  const write = (isJson: boolean): void => {
    const next = isJson ? undefined : plainOf(draft);
    if (isJson || next !== undefined) change(next);
    else say('The JSON says more than the form has fields for.');
  };
  return (
    <>
      <Choice
        {...{ label: 'Kind', name: 'kind', value: kind, values: ANALYSIS_KINDS }}
        set={(of) => change(plain, of)}
      />
      <div class="form-row">
        <TextField
          {...{ label: 'From', name: 'time.from', value: draft.from }}
          set={(from) => set({ from })}
        />
        <TextField
          {...{ label: 'To', name: 'time.to', value: draft.to }}
          set={(to) => set({ to })}
        />
      </div>
      {plain === undefined ? (
        <JsonParts {...{ draft, set }} />
      ) : (
        <PlainParts {...{ plain, kind, members, change }} />
      )}
      <div>
        <Button kind="quiet" onClick={() => write(plain !== undefined)}>
          {plain === undefined ? 'Write it in the form' : 'Write it as JSON'}
        </Button>
      </div>
    </>
  );
}

interface PlainProps extends Pick<PartsProps, 'members'> {
  plain: PlainAnalysis;
  kind: string;
  change: (plain: PlainAnalysis) => void;
}

function PlainParts({ plain, kind, members, change }: PlainProps) {
  const idsOf = (all: readonly { id: string }[]): string =>
    all
      .slice(0, IDS_SHOWN)
      .map(({ id }) => id)
      .join(', ');
  const field = (label: string, name: string, of: keyof PlainAnalysis, hint: string) => (
    <TextField
      {...{ label, name, hint, value: plain[of], autoComplete: 'off' }}
      set={(text) => change({ ...plain, [of]: text })}
    />
  );
  const fields = `fields (${idsOf(members.fields)}) or attributes, such as custom.host`;
  const hasSteps = kind === 'timeseries' || plain.groups.includes(TIME);
  return (
    <>
      {field('Search', 'filters', 'search', 'Empty: all events')}
      {kind === 'list' ? (
        field('Columns', 'columns', 'columns', `With commas between them: ${fields}`)
      ) : (
        <>
          {field(
            'Metrics',
            'compute',
            'metrics',
            `Up to five with commas between them: ${idsOf(members.metrics)}, or such as avg:custom.took`,
          )}
          {field(
            'Groups',
            'groupBy',
            'groups',
            `Up to three with commas between them: ${fields}${kind === 'table' ? `, or ${TIME}` : ''}`,
          )}
          {hasSteps && field('Interval', 'interval', 'interval', 'Such as 10m, 1h or 1d')}
        </>
      )}
    </>
  );
}

function JsonParts({ draft, set }: Pick<PartsProps, 'draft' | 'set'>) {
  const parts =
    draft.kind === 'list'
      ? (['filters', 'columns'] as const)
      : (['filters', 'compute', 'groupBy'] as const);
  return (
    <>
      {parts.map((part) => (
        <Field key={part} label={part} name={part} hint="JSON, as the API takes it">
          <textarea
            class="input"
            spellcheck={false}
            value={draft[part]}
            onInput={(event) => set({ [part]: event.currentTarget.value })}
          />
        </Field>
      ))}
    </>
  );
}
