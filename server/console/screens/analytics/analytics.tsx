import { useEffect } from 'preact/hooks';
import { HELP, shortcuts } from '../../base/keyboard.ts';
import { isPicking, question, range } from '../../base/question.ts';
import { shiftRange } from '../../base/zoom.ts';
import { Button, FaultNote } from '../../parts/controls.tsx';
import { Cost, Exactness } from '../../parts/exactness.tsx';
import { visible } from '../../parts/log-text.tsx';
import { focusSearch, SearchBar } from '../../parts/search-bar.tsx';
import { Table } from '../../parts/table.tsx';
import { TimePicker } from '../../parts/time-picker.tsx';
import { Actions } from './actions.tsx';
import { analysis } from './analysis.ts';
import type { Answer } from './answer.ts';
import { Buckets } from './buckets.tsx';
import { Builder } from './builder.tsx';
import {
  answer,
  before,
  type ExecutedList,
  executedList,
  isBesideField,
  nearness,
  watchAnalysis,
} from './panels.ts';
import { Running } from './saved.tsx';
import { Charts } from './series.tsx';

const KEYS = [
  { keys: '/', name: 'Search', run: focusSearch },
  {
    keys: 't',
    name: 'Range of time',
    run: () => {
      isPicking.value = true;
    },
  },
  { keys: '[', name: 'Earlier', run: () => shiftRange(-1) },
  { keys: ']', name: 'Later', run: () => shiftRange(1) },
  HELP,
];

/** Numbers about events: over time, by their values, and beside those of the time before. */
export function Analytics() {
  useEffect(watchAnalysis, []);
  useEffect(() => {
    shortcuts.value = KEYS;
    return () => {
      shortcuts.value = [];
    };
  }, []);
  const { run } = analysis.value;
  return (
    <div class="analytics">
      <h1 class="off-screen">Analytics</h1>
      <div class="explore-head">
        {run === undefined && <SearchBar loading={answer} />}
        {run !== undefined && <Running id={run} />}
        <TimePicker />
      </div>
      {run === undefined && <Builder />}
      <Results isRun={run !== undefined} />
    </div>
  );
}

function Results({ isRun }: { isRun: boolean }) {
  const found = answer.data.value;
  const fault = answer.fault.value;
  if (range.value === undefined) {
    return <p class="nothing">The address has no range that can be read: choose one above.</p>;
  }
  return (
    <section class="answer" aria-label="Answer" aria-busy={answer.isLoading.value}>
      {fault !== undefined && (isRun || !isBesideField()) && (
        <FaultNote fault={fault} retry={() => answer.reload()} />
      )}
      {found !== undefined && <Line found={found} isRun={isRun} />}
      <Comparison />
      {found !== undefined && <Shown found={found} isRun={isRun} />}
      {found === undefined && fault === undefined && <div class="loading" aria-busy="true" />}
    </section>
  );
}

/** The line above an answer: how exact it is, its cost, and what can be done with it. */
function Line({ found, isRun }: { found: Answer; isRun: boolean }) {
  return (
    <div class="toolbar">
      <Exactness
        whole={{ ...found.whole, near: nearness(found.metrics) }}
        zone={question.value.zone}
      />
      <Cost tookMs={answer.tookMs.value} explain={found.explain} />
      <span class="space" />
      <Actions found={found} isRun={isRun} />
    </div>
  );
}

/** The line about the time before, which loads, ends and fails by itself. */
function Comparison() {
  const fault = before.fault.value;
  const whole = before.data.value?.whole;
  if (fault !== undefined) return <FaultNote fault={fault} retry={() => before.reload()} />;
  if (whole !== undefined) {
    return (
      <p class="toolbar">
        The time before: <Exactness whole={whole} zone={question.value.zone} />
      </p>
    );
  }
  if (!before.isLoading.value) return null;
  return (
    <p class="toolbar">
      The time before is being counted.
      <Button kind="quiet" onClick={() => before.cancel()}>
        Cancel the comparison
      </Button>
    </p>
  );
}

function Shown({ found, isRun }: { found: Answer; isRun: boolean }) {
  const events = executedList.data.value;
  if (events !== undefined) return <Events found={events} />;
  if (found.buckets.length === 0) return <p class="nothing">No event was found.</p>;
  if (found.times.length > 0) return <Charts answer={found} isRun={isRun} />;
  const hasBars = !isRun && analysis.value.kind === 'toplist';
  return <Buckets answer={found} hasBars={hasBars} isRun={isRun} />;
}

/** The events of a saved list. */
function Events({ found: { events } }: { found: ExecutedList }) {
  return (
    <div class="scroll">
      <Table
        label="Events"
        columns={[
          {
            ...{ name: 'Date', class: 'when', isHead: true },
            cell: ({ id, date }) => <a href={`/event?${new URLSearchParams({ id })}`}>{date}</a>,
          },
          { name: 'Message', cell: ({ message }) => visible(message ?? '') },
        ]}
        rows={events}
        keyOf={({ id }) => id}
      />
    </div>
  );
}
