import { useEffect, useMemo, useState } from 'preact/hooks';
import { printJson, textOf } from '../../api/exact.ts';
import { addressOf } from '../../base/address.ts';
import { counted, percent, pointTime, whole } from '../../base/format.ts';
import { EXPLORE, PARAMETERS, question, range } from '../../base/question.ts';
import { termOf, withTerm } from '../../base/terms.ts';
import { Button, FaultNote } from '../../parts/controls.tsx';
import { Exactness } from '../../parts/exactness.tsx';
import { Form, TextField } from '../../parts/form.tsx';
import { later } from '../../parts/later.tsx';
import { brief, shownName } from '../../parts/log-text.tsx';
import { SearchBar } from '../../parts/search-bar.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { TimePicker } from '../../parts/time-picker.tsx';
import { type Comparison, type Difference, shareGain } from './compare.ts';
import {
  checkSelection,
  comparison,
  isChosen,
  type Selection,
  select,
  selection,
  soFar,
  spanOf,
  steps,
  watchSelection,
} from './selection.ts';

const Plot = later(async () => (await import('../../parts/plot.tsx')).Plot);

const HEIGHT_PX = 112;
const ROWS_SHOWN = 100;

/** A selection of events beside all others: which values are more or less frequent in it. */
export function Differences() {
  useEffect(watchSelection, []);
  const chosen = selection.value;
  return (
    <div class="analytics">
      <h1 class="off-screen">What is different</h1>
      <div class="explore-head">
        <SearchBar loading={comparison} />
        <TimePicker />
      </div>
      <Chart />
      <Choice key={JSON.stringify(chosen)} chosen={chosen} />
      <Results chosen={chosen} />
    </div>
  );
}

/** All events over time, the selected ones in front; a drag selects a span. */
function Chart() {
  const { zone } = question.value;
  const data = steps.data.value;
  const fault = steps.fault.value;
  const series = useMemo(
    () =>
      data === undefined
        ? []
        : [
            { values: data.all, colour: 'muted', shape: 'bars' as const },
            { values: data.selected, colour: 'accent', shape: 'bars' as const },
          ],
    [data],
  );
  return (
    <section class="chart" aria-label="Events over time" aria-busy={steps.isLoading.value}>
      {fault !== undefined && <FaultNote fault={fault} retry={() => steps.reload()} />}
      {data !== undefined && (
        <Plot
          label={`Events from ${pointTime(data.range.fromMs, zone)} to ${pointTime(data.range.toMs, zone)}, the selected ones in front`}
          {...{ range: data.range, zone, height: HEIGHT_PX, times: data.times, series }}
          point={() => undefined}
          select={(fromMs, toMs) => select({ from: iso(fromMs), to: iso(toMs) })}
        />
      )}
    </section>
  );
}

function iso(ms: number): string {
  return new Date(Math.round(ms)).toISOString().replace('.000', '');
}

/** The selection as a form. */
function Choice({ chosen }: { chosen: Selection }) {
  const [draft, setDraft] = useState(chosen);
  const field = (label: string, of: keyof Selection, name: string, hint: string) => (
    <TextField
      {...{ label, name, hint, value: draft[of], autoComplete: 'off' }}
      set={(text) => setDraft({ ...draft, [of]: text.trim() === '' ? '' : text })}
    />
  );
  return (
    <Form
      class="builder builder-part"
      send={async () => {
        await checkSelection(draft);
        select(draft);
      }}
      actions={() => (
        <>
          <Button kind="main" type="submit">
            Compare
          </Button>
          {isChosen(chosen) && (
            <Button onClick={() => select({ from: '', to: '', query: '' })}>Select nothing</Button>
          )}
        </>
      )}
    >
      {field('Selected from', 'from', 'time.from', 'A drag on the chart sets it.')}
      {field('Selected to', 'to', 'time.to', 'Or as now-1h.')}
      {field('Selected by a search', 'query', 'filters', 'Such as level:error.')}
    </Form>
  );
}

function Results({ chosen }: { chosen: Selection }) {
  const fault = comparison.fault.value;
  const found = soFar.value;
  if (range.value === undefined) {
    return <p class="nothing">The address has no range that can be read: choose one above.</p>;
  }
  if (!isChosen(chosen)) {
    return (
      <p class="nothing">
        Drag over a stretch of the chart, or write a search: its events are compared with all
        others.
      </p>
    );
  }
  return (
    <section class="answer" aria-label="Differences" aria-busy={comparison.isLoading.value}>
      {fault !== undefined && <FaultNote fault={fault} retry={() => comparison.reload()} />}
      {found === undefined ? (
        fault === undefined && <div class="loading" aria-busy="true" />
      ) : (
        <Found found={found} chosen={chosen} />
      )}
    </section>
  );
}

function Found({ found, chosen }: { found: Comparison; chosen: Selection }) {
  const { selected, rest, doneCount, attributeCount, differences } = found;
  const { zone } = question.value;
  const rows = useMemo(
    () =>
      differences
        .map((one) => ({ ...one, gain: shareGain(found, one) }))
        .sort((left, right) => Math.abs(right.gain) - Math.abs(left.gain))
        .slice(0, ROWS_SHOWN),
    [found],
  );
  const isOver = doneCount === attributeCount;
  return (
    <>
      <div class="toolbar">
        <b class="total">{counted(selected, 'selected event')}</b> beside {whole(rest)} others
        <Exactness whole={found.whole} zone={zone} />
        <span class="quiet-text" role="status">
          {isOver
            ? counted(attributeCount, 'attribute')
            : `${whole(doneCount)} of ${counted(attributeCount, 'attribute')}`}
        </span>
      </div>
      {rows.length === 0 ? (
        <p class="nothing">{isOver ? 'No event has an attribute to compare.' : 'Comparing.'}</p>
      ) : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Differences, table">
          <Table
            label="Differences"
            columns={columnsOf(found, chosen)}
            rows={rows}
            keyOf={({ path, value }) => `${path} ${printJson(value)}`}
          />
        </div>
      )}
    </>
  );
}

type Row = Difference & { readonly gain: number };

function columnsOf({ selected, rest }: Comparison, chosen: Selection): Column<Row>[] {
  const share = (part: number, all: number) => (
    <>
      {percent(part, all)} <span class="quiet-text">{whole(part)}</span>
    </>
  );
  return [
    {
      ...{ name: 'Attribute', isHead: true, order: ({ path }) => path },
      cell: ({ path }) => shownName(path),
    },
    {
      name: 'Value',
      cell: ({ path, value }) => (
        <a href={addressOfEvents(chosen, termOf(path, value))}>{brief(textOf(value)) || '""'}</a>
      ),
    },
    {
      ...{ name: 'In the selection', class: 'number', order: (one) => one.selected },
      cell: (one) => share(one.selected, selected),
    },
    {
      ...{ name: 'In the rest', class: 'number', order: (one) => one.rest },
      cell: (one) => share(one.rest, rest),
    },
    {
      ...{ name: 'Difference', class: 'number', order: ({ gain }) => gain },
      cell: ({ gain }) => `${gain > 0 ? '+' : gain < 0 ? '−' : ''}${percent(Math.abs(gain), 1)}`,
    },
  ];
}

/** The address that explores the selected events with a term. */
function addressOfEvents(chosen: Selection, term: string): string {
  const { query, zone } = question.value;
  const { FROM, TO, QUERY, ZONE } = PARAMETERS;
  const span = spanOf(chosen, range.value ?? { fromMs: 0, toMs: 0 }, zone);
  const either = chosen.query === '' ? query : withTerm(query, `(${chosen.query})`);
  return addressOf(
    EXPLORE,
    new URLSearchParams({
      ...{ [QUERY]: withTerm(either, term), [FROM]: iso(span.fromMs), [TO]: iso(span.toMs) },
      [ZONE]: zone,
    }),
  );
}
