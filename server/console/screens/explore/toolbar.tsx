import { computed } from '@preact/signals';
import { counted, whole } from '../../base/format.ts';
import { say } from '../../base/notice.ts';
import { askFor, question } from '../../base/question.ts';
import { Button } from '../../parts/controls.tsx';
import { Cost, Exactness } from '../../parts/exactness.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { type Found, list } from './panels.ts';
import { columns, isWrapped, wrap } from './question.ts';
import { areFacetsOpen, current } from './reading.ts';

/** The line above a list: how many events, how exactly, at what cost, and how they are shown. */
export function Toolbar({ found }: { found: Found }) {
  const { order } = question.value;
  return (
    <div class="toolbar">
      {!areFacetsOpen.value && (
        <Button
          icon="filter"
          onClick={() => {
            areFacetsOpen.value = true;
          }}
        >
          Facets
        </Button>
      )}
      <b class="total">{counted(found.rows.total, 'event')}</b>
      <Exactness whole={found.first} zone={question.value.zone} />
      {found.rows.reachable < found.rows.total && (
        <span class="quiet-text">the first {whole(found.rows.reachable)} are listed</span>
      )}
      <Cost tookMs={list.tookMs.value} explain={found.first.explain} />
      {current.value.row >= 0 && (
        <span class="quiet-text">
          row {whole(current.value.row + 1)} of {whole(found.rows.total)}
        </span>
      )}
      <span class="space" />
      <Button
        kind="quiet"
        icon={order === 'asc' ? 'up' : 'down'}
        onClick={() => askFor({ order: order === 'asc' ? 'desc' : 'asc' })}
      >
        {firstName.value}
      </Button>
      <Button
        kind="quiet"
        icon="wrap"
        label="Wrap long lines"
        isOn={isWrapped.value}
        onClick={() => wrap(!isWrapped.value)}
      />
      <Menu
        label="Export all that is found"
        choices={() => [
          { name: 'All events as NDJSON', icon: 'download', run: () => start('ndjson') },
          { name: 'Columns as CSV', icon: 'download', run: () => start('csv') },
        ]}
      >
        <Icon name="download" />
      </Menu>
      <Button kind="quiet" icon="refresh" label="Ask again" onClick={() => askFor({})} />
    </div>
  );
}

const firstName = computed(() => {
  const { order, orderBy } = question.value;
  if (orderBy !== undefined) return order === 'asc' ? 'Smallest first' : 'Largest first';
  return order === 'asc' ? 'Oldest first' : 'Newest first';
});

async function start(format: 'ndjson' | 'csv'): Promise<void> {
  say('The export has begun: it is saved as it comes.');
  const { exportAll } = await import('../explore-parts.ts');
  const fault = await exportAll(format, columns.peek());
  if (fault !== undefined) say(fault);
}
