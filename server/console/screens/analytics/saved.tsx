import { useState } from 'preact/hooks';
import type { SavedAnalysis } from '../../api/contract.ts';
import { addressOf, go } from '../../base/address.ts';
import { ANALYTICS, EXPLORE, encoded, PARAMETERS, question } from '../../base/question.ts';
import { session } from '../../base/session.ts';
import { termOf } from '../../base/terms.ts';
import { Button, Dialog, FaultNote } from '../../parts/controls.tsx';
import { Form, TextField } from '../../parts/form.tsx';
import { visible } from '../../parts/log-text.tsx';
import { Table } from '../../parts/table.tsx';
import { addressOfAnalysis, type Grouping, KINDS } from './analysis.ts';
import { TIME } from './answer.ts';
import { answer, loadSaved, savedAnalyses } from './panels.ts';

type Aggregated = Exclude<SavedAnalysis, { kind: 'list' }>;

/** The button that opens the saved analyses. */
export function SavedButton() {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <Button icon="list" onClick={() => setOpen(true)}>
        Saved analyses
      </Button>
      {isOpen && (
        <Dialog title="Saved analyses" close={close} wide>
          {session.value?.role === 'admin' ? (
            <SavedList close={close} />
          ) : (
            <RunById close={close} />
          )}
        </Dialog>
      )}
    </>
  );
}

function SavedList({ close }: { close: () => void }) {
  const fault = savedAnalyses.fault.value;
  const all = savedAnalyses.data.value;
  if (fault !== undefined) return <FaultNote fault={fault} retry={() => void loadSaved()} />;
  if (all === undefined) return <div class="loading" aria-busy="true" />;
  if (all.length === 0)
    return <p>None is saved yet. Save what is shown, to have it by its name.</p>;
  const link = (address: string, name: string, text: string) => (
    <a class="button" href={address} aria-label={`${text} ${visible(name)}`} onClick={close}>
      {text}
    </a>
  );
  return (
    <Table
      label="Saved analyses"
      keyOf={({ id }) => id}
      rows={all}
      columns={[
        {
          name: 'Name',
          isHead: true,
          cell: ({ name }) => visible(name),
          order: ({ name }) => name,
        },
        { name: 'Id', cell: ({ id }) => <code>{id}</code>, order: ({ id }) => id },
        {
          name: 'Kind',
          cell: ({ kind }) => (kind === 'list' ? 'List' : KINDS[kind]),
          order: ({ kind }) => kind,
        },
        {
          ...{ name: 'Open or execute', isUnnamed: true },
          cell: (saved) => (
            <span class="actions">
              {link(addressOfSaved(saved), saved.name, 'Open')}
              {link(runAddress(saved.id), saved.name, 'Execute')}
            </span>
          ),
        },
      ]}
    />
  );
}

/** The way of those who may not list the saved analyses. */
function RunById({ close }: { close: () => void }) {
  const [id, setId] = useState('');
  const send = async (): Promise<void> => {
    go(runAddress(id.trim()));
    close();
  };
  return (
    <Form
      send={send}
      actions={() => (
        <div class="actions">
          <Button kind="main" type="submit">
            Execute
          </Button>
        </div>
      )}
    >
      <TextField
        label="Id of the analysis"
        hint="Administrators see the ids of all."
        value={id}
        required
        autoComplete="off"
        set={setId}
      />
    </Form>
  );
}

/** The saved analysis that is executed. */
export function Running({ id }: { id: string }) {
  const saved = savedAnalyses.data.value?.find((each) => each.id === id);
  return (
    <p class="running">
      <b>{visible(saved?.name ?? answer.data.value?.name ?? id)}</b> as it is saved
      <span class="space" />
      {answer.isLoading.value && <Button onClick={() => answer.cancel()}>Cancel</Button>}
      {saved !== undefined && (
        <a class="button" href={addressOfSaved(saved)}>
          Open
        </a>
      )}
      <a class="button" href={ANALYTICS}>
        New analysis
      </a>
    </p>
  );
}

function runAddress(id: string): string {
  return addressOf(ANALYTICS, new URLSearchParams({ run: id }));
}

/** The address that shows a saved analysis, to be changed. */
function addressOfSaved(saved: SavedAnalysis): string {
  const { from, to, timezone } = saved.time;
  const asked = {
    query: queryOf(saved.filters ?? []),
    ...{ from: String(from), to: String(to), zone: timezone ?? question.peek().zone },
  };
  if (saved.kind !== 'list') return addressOfAnalysis(analysisOf(saved), asked);
  const { QUERY, FROM, TO } = PARAMETERS;
  const columns = (saved.columns ?? []).flatMap(({ attribute }) => attribute ?? []);
  return addressOf(
    EXPLORE,
    new URLSearchParams({
      ...{ [QUERY]: asked.query, [FROM]: asked.from, [TO]: asked.to },
      ...(columns.length === 0 ? {} : { cols: columns.map(encoded).join(',') }),
    }),
  );
}

/** Filters as one search. */
function queryOf(filters: NonNullable<SavedAnalysis['filters']>): string {
  const terms = filters.map(({ search, field }) => {
    if (field !== undefined) {
      const either = field.values.map((value) => termOf(field.id, value)).join(' OR ');
      return `${field.exclude === true ? '-' : ''}(${either})`;
    }
    const text = typeof search === 'string' ? search : (search?.query ?? '');
    return filters.length > 1 && text !== '' ? `(${text})` : text;
  });
  return terms.filter((text) => text !== '').join(' ');
}

function analysisOf({ kind, compute, groupBy = [] }: Aggregated) {
  const outputs = compute.map(({ metric, timeseries }) => metric ?? timeseries);
  const ids = compute.map(({ metric, timeseries }) => metric?.id ?? timeseries?.metricId ?? '');
  const steps = [
    ...compute.map(({ timeseries }) => timeseries?.interval),
    ...groupBy.map(({ time }) => time?.interval),
  ];
  const orderOf = (order: Record<string, string> | undefined): string => {
    const [entry] = Object.entries(order ?? {});
    if (entry === undefined) return '';
    const [by, direction] = entry;
    const at = outputs.findIndex((each, place) => each?.output === by || ids[place] === by);
    return at < 0 && by !== '@natural' ? '' : `${at < 0 ? by : `m${at}`}:${direction}`;
  };
  const groupings = groupBy.map(({ field }): Grouping => {
    if (field === undefined) return { id: TIME, limit: '', order: '' };
    return { id: field.id, limit: String(field.limit ?? ''), order: orderOf(field.order) };
  });
  return {
    ...{ kind, metrics: ids, step: steps.find((step) => step !== undefined) ?? '' },
    groupings: kind === 'timeseries' ? groupings.filter(({ id }) => id !== TIME) : groupings,
    ...{ isCompared: false, run: undefined },
  };
}
