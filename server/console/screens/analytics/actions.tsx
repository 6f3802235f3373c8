import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { SavedAnalysis } from '../../api/contract.ts';
import { say } from '../../base/notice.ts';
import { filtersOf, question } from '../../base/question.ts';
import { session } from '../../base/session.ts';
import { Button, CopyButton } from '../../parts/controls.tsx';
import { Form, TextField } from '../../parts/form.tsx';
import { visible } from '../../parts/log-text.tsx';
import { curlOf } from '../bundle/curl.ts';
import { saveAnalysis } from '../bundle/views.ts';
import { analysis, bodyOf } from './analysis.ts';
import type { Answer } from './answer.ts';
import { groupingName, loadSaved, metricName } from './panels.ts';
import { SavedButton } from './saved.tsx';

/** Things to do with an analysis: to save it, to open a saved one, to take it elsewhere. */
export function Actions({ found, isRun }: { found: Answer; isRun: boolean }) {
  const isAdmin = session.value?.role === 'admin';
  return (
    <>
      {isAdmin && !isRun && <Save key={proposedName()} found={found} />}
      <SavedButton />
      {!isRun && (
        <Button
          kind="quiet"
          icon="download"
          onClick={() => void saveAnalysis(found).then(sayFault)}
        >
          HTML
        </Button>
      )}
      <CopyButton text={() => location.href} label="Copy the address">
        Address
      </CopyButton>
      {!isRun && (
        <CopyButton text={() => commandOf(found)} label="Copy as curl">
          curl
        </CopyButton>
      )}
    </>
  );
}

function sayFault(fault: string | undefined): void {
  say(fault ?? 'The analysis and its newest events are saved.');
}

/** The parts of a request that stay true: the range is as relative as that of the address. */
function requestOf(found: Answer) {
  const { query, from, to, zone } = question.peek();
  return bodyOf(analysis.peek(), query, { from, to, timezone: zone }, found.step);
}

/** The command line that asks the same. */
function commandOf(found: Answer): string {
  return curlOf('/beta/events/aggregate', requestOf(found));
}

function proposedName(): string {
  const { metrics, groupings } = analysis.value;
  const groups = groupings.map(({ id }) => groupingName(id)).join(', ');
  const name = `${metrics.map(metricName).join(', ')}${groups === '' ? '' : ` by ${groups}`}`;
  return name.slice(0, 100);
}

/** The form that saves an analysis; it has a name already. */
function Save({ found }: { found: Answer }) {
  const [name, setName] = useState(proposedName());
  const send = async (): Promise<void> => {
    const { time, compute, groupBy } = requestOf(found);
    const body = {
      ...{ name: name.trim(), kind: analysis.peek().kind },
      ...{ time, filters: filtersOf(question.peek().query), compute, groupBy },
    };
    const { id } = await call<SavedAnalysis>('POST', '/admin/api/saved_analyses', body);
    say(`${visible(name)} is saved as ${id}.`);
    await loadSaved();
  };
  return (
    <Form
      class="save"
      send={send}
      actions={(isBusy) => (
        <Button icon="check" type="submit" disabled={isBusy}>
          Save
        </Button>
      )}
    >
      <TextField label="Name" name="name" value={name} autoComplete="off" set={setName} />
    </Form>
  );
}
