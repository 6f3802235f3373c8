import { go } from '../../base/address.ts';
import { say } from '../../base/notice.ts';
import { question, range } from '../../base/question.ts';
import { Button, Dialog } from '../../parts/controls.tsx';
import { saveExploring } from '../bundle/views.ts';
import { addressOfDifferences } from '../differences/selection.ts';
import { exportAll } from './export.ts';
import { columns } from './question.ts';
import { isTakingAway } from './reading.ts';

/** A choice of what to do with all that is found. */
export function TakeAway() {
  const close = (): void => {
    isTakingAway.value = false;
  };
  const after = (run: () => Promise<unknown>) => () => {
    close();
    void run();
  };
  return (
    <Dialog title="Take away or compare" close={close}>
      <div class="form">
        <Button icon="download" onClick={after(() => save('ndjson'))}>
          All events as NDJSON
        </Button>
        <Button icon="download" onClick={after(() => save('csv'))}>
          Columns as CSV
        </Button>
        <Button icon="download" onClick={after(savePage)}>
          This view as one HTML file, with the newest 1,000 events
        </Button>
        <Button icon="chart" onClick={after(async () => go(beside('time')))}>
          What is different from the time around it
        </Button>
        {question.peek().query !== '' && (
          <Button icon="chart" onClick={after(async () => go(beside('query')))}>
            What is different from other events of this time
          </Button>
        )}
      </div>
    </Dialog>
  );
}

/** The address that compares what is found with the events around it, or with all others of its time. */
function beside(by: 'time' | 'query'): string {
  const now = question.peek();
  const { fromMs, toMs } = range.peek() ?? { fromMs: 0, toMs: 0 };
  if (by === 'query') {
    return addressOfDifferences({ ...now, query: '' }, { from: '', to: '', query: now.query });
  }
  const iso = (ms: number): string => new Date(ms).toISOString();
  const byMs = toMs - fromMs;
  const around = {
    from: iso(fromMs - byMs),
    to: iso(Math.min(toMs + byMs, Math.max(Date.now(), toMs))),
  };
  return addressOfDifferences(
    { ...now, ...around },
    { from: iso(fromMs), to: iso(toMs), query: '' },
  );
}

async function savePage(): Promise<void> {
  say((await saveExploring()) ?? 'The view is saved.');
}

async function save(format: 'ndjson' | 'csv'): Promise<void> {
  say('The export has begun: it is saved as it comes.');
  const fault = await exportAll(format, columns.peek());
  if (fault !== undefined) say(fault);
}
