import { Field, TextField } from '../../parts/form.tsx';
import { visible } from '../../parts/log-text.tsx';
import type { Draft } from './drafts.ts';

/** Definitions that others are made of. */
export interface Members {
  /** Tagsets too. */
  readonly fields: readonly { id: string; name: string }[];
  readonly metrics: readonly { id: string; name: string }[];
}

/** The draft that the parts of a form show and change. */
export interface PartsProps {
  draft: Draft;
  set: (changes: Partial<Draft>) => void;
  members: Members;
}

const AGGREGATIONS = [
  ...['count', 'cardinality', 'sum', 'min', 'max', 'avg'],
  ...['median', 'pc75', 'pc90', 'pc95', 'pc98', 'pc99'],
];
const PATH_HINT = 'custom.<name>, syslog.<name> or message';

interface ChoiceProps {
  label: string;
  name: string;
  value: string;
  values: readonly string[];
  set: (value: string) => void;
}

/** A field of one of several values. */
export function Choice({ label, name, value, values, set }: ChoiceProps) {
  return (
    <Field label={label} name={name}>
      <select class="input" value={value} onChange={(event) => set(event.currentTarget.value)}>
        {values.map((each) => (
          <option value={each}>{each}</option>
        ))}
      </select>
    </Field>
  );
}

/** The fields of a field. */
export function FieldParts({ draft, set }: PartsProps) {
  return (
    <TextField
      {...{ label: 'Attribute', name: 'attribute', value: draft.attribute, hint: PATH_HINT }}
      set={(attribute) => set({ attribute })}
    />
  );
}

/** The fields of a metric. */
export function MetricParts({ draft, set, members }: PartsProps) {
  const { type } = draft;
  if (type === 'core') return <p class="quiet-text">This metric is the number of events.</p>;
  const unit = (
    <TextField
      {...{ label: 'Unit', name: 'unit', value: draft.unit, hint: 'Such as ms' }}
      set={(text) => set({ unit: text })}
    />
  );
  return (
    <>
      <Choice
        {...{ label: 'Type', name: 'type', value: type, values: ['attribute', 'formula'] }}
        set={(value) => set({ type: value })}
      />
      {type === 'formula' ? (
        <>
          <TextField
            {...{ label: 'Formula', name: 'formula', value: draft.formula }}
            hint={`Metrics with + - * / ( ), such as errors / count. There are ${members.metrics
              .map(({ id }) => id)
              .slice(0, 20)
              .join(', ')}`}
            set={(formula) => set({ formula })}
          />
          {unit}
        </>
      ) : (
        <>
          <FieldParts {...{ draft, set, members }} />
          <div class="form-row">
            <Choice
              {...{ label: 'Aggregation', name: 'aggregation', value: draft.aggregation }}
              values={AGGREGATIONS}
              set={(aggregation) => set({ aggregation })}
            />
            {unit}
          </div>
        </>
      )}
    </>
  );
}

/** The fields of a group. */
export function GroupParts({ draft, set, members }: PartsProps) {
  return (
    <>
      {(['fields', 'metrics'] as const).map((kind) => (
        <fieldset class="members">
          <legend class="field-label">
            {kind === 'fields' ? 'Fields and tagsets' : 'Metrics'}
          </legend>
          {members[kind].map(({ id, name }) => (
            <label class="check">
              <input
                type="checkbox"
                checked={draft[kind].includes(id)}
                onChange={({ currentTarget: { checked } }) => {
                  const others = draft[kind].filter((each) => each !== id);
                  set({ [kind]: checked ? [...others, id] : others });
                }}
              />
              {visible(name)} <code>{id}</code>
            </label>
          ))}
        </fieldset>
      ))}
    </>
  );
}
