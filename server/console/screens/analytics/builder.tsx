import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../parts/controls.tsx';
import { Field } from '../../parts/form.tsx';
import {
  type Analysis,
  analyse,
  analysis,
  GROUPINGS_MAX,
  type Grouping,
  KINDS,
  type Kind,
  METRICS_MAX,
} from './analysis.ts';
import { TIME } from './answer.ts';
import { attributes, defined, isTagset, metricName, refusalOf } from './panels.ts';

const AGGREGATIONS = [
  ...['count', 'cardinality', 'sum', 'min', 'max', 'avg'],
  ...['median', 'pc75', 'pc90', 'pc95', 'pc98', 'pc99'],
];
/** Aggregations of values that need not be numbers. */
const OF_ALL = ['count', 'cardinality'];
const STEPS = ['1s', '10s', '1m', '5m', '15m', '30m', '1h', '6h', '1d', '1w', '1M'];
const NATURAL = '@natural';

/** The kind, the metrics, the groupings and the steps of an analysis; what is changed is asked at once. */
export function Builder() {
  const { kind, metrics, groupings, step, isCompared } = analysis.value;
  // The part that has a row more than the address, in which nothing was typed yet.
  const [adding, setAdding] = useState<'metric' | 'grouping'>();
  const done = (): void => setAdding(undefined);
  const hasSteps = kind === 'timeseries' || groupings.some(({ id }) => id === TIME);
  return (
    <form class="builder" aria-label="Analysis" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="builder-part">
        <legend>Show</legend>
        {Object.entries(KINDS).map(([name, text]) => (
          <Button isOn={name === kind} onClick={() => analyse(kindChange(name as Kind))}>
            {text}
          </Button>
        ))}
        <Button isOn={isCompared} onClick={() => analyse({ isCompared: !isCompared })}>
          Compare with the time before
        </Button>
        {hasSteps && (
          <Entry
            label="Interval"
            value={step}
            choices={STEPS}
            placeholder="automatic"
            fault={stepRefusal()}
            take={(text) => analyse({ step: text })}
          />
        )}
      </fieldset>
      <fieldset class="builder-part">
        <legend>Metrics</legend>
        {[...metrics, ...(adding === 'metric' ? [''] : [])].map((id, at) => (
          <MetricRow key={at} id={id} at={at} done={done} />
        ))}
        {metrics.length < METRICS_MAX && (
          <Button icon="plus" onClick={() => setAdding('metric')}>
            Add a metric
          </Button>
        )}
      </fieldset>
      <fieldset class="builder-part">
        <legend>Groups</legend>
        {[...groupings, ...(adding === 'grouping' ? [NONE] : [])].map((grouping, at) => (
          <GroupingRow key={at} grouping={grouping} at={at} done={done} />
        ))}
        {groupings.length < GROUPINGS_MAX && (
          <Button icon="plus" onClick={() => setAdding('grouping')}>
            Group by
          </Button>
        )}
      </fieldset>
    </form>
  );
}

const NONE: Grouping = { id: '', limit: '', order: '' };

/** Another kind; steps of time are groups of tables alone. */
function kindChange(kind: Kind): Partial<Analysis> {
  const { groupings } = analysis.peek();
  return kind === 'table'
    ? { kind }
    : { kind, groupings: groupings.filter(({ id }) => id !== TIME) };
}

function stepRefusal(): string | undefined {
  const { metrics, groupings } = analysis.value;
  return refusalOf(
    ...metrics.map((_, at) => `compute[${at}].timeseries.interval`),
    ...groupings.map((_, at) => `groupBy[${at}].time.interval`),
  );
}

interface RowProps {
  /** Number of the row. */
  at: number;
  /** Ends the adding of a row. */
  done: () => void;
}

function MetricRow({ id, at, done }: RowProps & { id: string }) {
  const { metrics, groupings } = analysis.value;
  const refusal = stepRefusal() === undefined ? refusalOf(`compute[${at}]`) : undefined;
  const replace = (next: readonly string[]): void => {
    done();
    // Orders name metrics by their places.
    const isShorter = next.length < metrics.length;
    analyse({
      metrics: next,
      ...(isShorter ? { groupings: groupings.map((each) => ({ ...each, order: '' })) } : {}),
    });
  };
  return (
    <div class="metric">
      <Entry
        label={`Metric ${at + 1}`}
        value={id}
        choices={metricChoices}
        fault={refusal}
        isNew={at >= metrics.length}
        take={(text) => replace(metrics.toSpliced(at, 1, ...(text === '' ? [] : [text])))}
      />
      {(metrics.length > 1 || at >= metrics.length) && (
        <Button
          kind="quiet"
          icon="close"
          label={`Remove metric ${at + 1}`}
          onClick={() => replace(metrics.toSpliced(at, 1))}
        />
      )}
    </div>
  );
}

/** Metrics that may stand where `text` is typed: the defined ones, and behind an aggregation the attributes. */
function metricChoices(text: string): string[] {
  const aggregation = text.slice(0, text.indexOf(':'));
  if (AGGREGATIONS.includes(aggregation)) {
    const all = attributes.data.value?.attributes ?? [];
    return all
      .filter(({ kinds }) => OF_ALL.includes(aggregation) || kinds.some(isNumeric))
      .map(({ attribute }) => `${aggregation}:${attribute}`);
  }
  const ids = defined.data.value?.metrics?.map(({ id }) => id) ?? [];
  return [...new Set(['count', ...ids, ...AGGREGATIONS.map((name) => `${name}:`)])];
}

/** Numeric strings count as numbers, and arrays bring their elements. */
function isNumeric(kind: string): boolean {
  return kind === 'number' || kind === 'string' || kind === 'array';
}

function GroupingRow({ grouping, at, done }: RowProps & { grouping: Grouping }) {
  const { groupings, metrics, kind } = analysis.value;
  const replace = (next: readonly Grouping[]): void => {
    done();
    analyse({ groupings: next });
  };
  const change = (changes: Partial<Grouping>): void =>
    replace(groupings.toSpliced(at, 1, { ...grouping, ...changes }));
  const limitName = `groupBy[${at}].field.limit`;
  const orderName = `groupBy[${at}].field.order`;
  const intervalName = `groupBy[${at}].time.interval`;
  const others = refusalOf(limitName, orderName, intervalName);
  const isField = grouping.id !== '' && grouping.id !== TIME;
  return (
    <div class="grouping">
      <Entry
        label={`Group ${at + 1}`}
        value={grouping.id}
        choices={() => groupingChoices(kind)}
        fault={others === undefined ? refusalOf(`groupBy[${at}]`) : undefined}
        isNew={at >= groupings.length}
        take={(id) => (id === '' ? replace(groupings.toSpliced(at, 1)) : change({ id }))}
      />
      {isField && (
        <>
          {!isTagset(grouping.id) && (
            <div class="limit">
              <Entry
                label={`Limit ${at + 1}`}
                value={grouping.limit}
                placeholder="10"
                fault={refusalOf(limitName)}
                take={(limit) => change({ limit })}
              />
            </div>
          )}
          <Field label={`Order ${at + 1}`} fault={refusalOf(orderName)}>
            <select
              class="input"
              value={grouping.order}
              onChange={(event) => change({ order: event.currentTarget.value })}
            >
              <option value="">Largest first</option>
              {metrics.flatMap((id, place) => [
                <option value={`m${place}:desc`}>{metricName(id)}, largest first</option>,
                <option value={`m${place}:asc`}>{metricName(id)}, smallest first</option>,
              ])}
              <option value={`${NATURAL}:asc`}>Values, ascending</option>
              <option value={`${NATURAL}:desc`}>Values, descending</option>
            </select>
          </Field>
        </>
      )}
      <Button
        kind="quiet"
        icon="close"
        label={`Remove group ${at + 1}`}
        onClick={() => replace(groupings.toSpliced(at, 1))}
      />
    </div>
  );
}

function groupingChoices(kind: Kind): string[] {
  const fields = defined.data.value?.fields?.map(({ id }) => id) ?? [];
  const paths = attributes.data.value?.attributes.map(({ attribute }) => attribute) ?? [];
  return [...new Set([...(kind === 'table' ? [TIME] : []), ...fields, ...paths])];
}

interface EntryProps {
  label: string;
  value: string;
  /** The texts that may be typed. */
  choices?: readonly string[] | ((text: string) => readonly string[]);
  placeholder?: string;
  fault: string | undefined;
  /** Takes the focus when it comes. */
  isNew?: boolean;
  /** Receives what was typed when one leaves the field or presses Enter. */
  take: (text: string) => void;
}

/** A field of one text with choices; what is typed stays, also when it is refused. */
function Entry({
  label,
  value,
  choices = [],
  placeholder,
  fault,
  isNew = false,
  take,
}: EntryProps): ComponentChildren {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  // Before anything can be typed: later it would take back what was.
  useLayoutEffect(() => setText(value), [value]);
  useEffect(() => {
    if (isNew) input.current?.focus();
  }, []);
  const leave = (typed: string): void => {
    // What is emptied shows what holds without it.
    if (typed === '') setText(value);
    take(typed);
  };
  const offered = typeof choices === 'function' ? choices(text) : choices;
  return (
    <>
      <Field label={label} fault={fault}>
        <input
          ref={input}
          class="input"
          list={`${id}-choices`}
          value={text}
          placeholder={placeholder}
          {...{ spellcheck: false, autoComplete: 'off', autocapitalize: 'off' }}
          onInput={(event) => setText(event.currentTarget.value)}
          onChange={(event) => leave(event.currentTarget.value.trim())}
        />
      </Field>
      <datalist id={`${id}-choices`}>
        {offered.map((choice) => (
          <option key={choice} value={choice} />
        ))}
      </datalist>
    </>
  );
}
