import { say } from '../../base/notice.ts';
import { Button, Dialog } from '../../parts/controls.tsx';
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
    <Dialog title="Take away" close={close}>
      <div class="form">
        <Button icon="download" onClick={after(() => save('ndjson'))}>
          All events as NDJSON
        </Button>
        <Button icon="download" onClick={after(() => save('csv'))}>
          Columns as CSV
        </Button>
      </div>
    </Dialog>
  );
}

async function save(format: 'ndjson' | 'csv'): Promise<void> {
  say('The export has begun: it is saved as it comes.');
  const fault = await exportAll(format, columns.peek());
  if (fault !== undefined) say(fault);
}
