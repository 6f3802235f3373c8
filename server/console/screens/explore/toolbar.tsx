import { computed } from '@preact/signals';
import { counted, duration, pointTime, whole } from '../../base/format.ts';
import { say } from '../../base/notice.ts';
import { Button } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { type Found, list } from './panels.ts';
import { askFor, columns, isWrapped, question, wrap } from './question.ts';
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
      <Exactness found={found} />
      {found.rows.reachable < found.rows.total && (
        <span class="quiet-text">the first {whole(found.rows.reachable)} are listed</span>
      )}
      <Cost found={found} />
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

/** The word on how whole an answer is. */
function Exactness({ found: { first } }: { found: Found }) {
  const { zone } = question.value;
  const { bound, damaged } = first;
  if (damaged !== undefined) {
    return (
      <span class="warn-text">
        <Icon name="warning" /> partial: {counted(damaged.blocks, 'damaged block')}
      </span>
    );
  }
  if (bound !== undefined) {
    return (
      <span class="warn-text">
        <Icon name="warning" /> the newest {whole(bound.limit)}, from{' '}
        {pointTime(Date.parse(bound.from), zone)}
      </span>
    );
  }
  return (
    <span class="exact">
      <Icon name="check" size={14} /> exact
    </span>
  );
}

/** Milliseconds, and the blocks that were read where that is told. */
function Cost({ found: { first } }: { found: Found }) {
  const { explain } = first;
  return (
    <span class="quiet-text cost">
      {duration(list.tookMs.value)}
      {explain !== undefined &&
        ` · read ${whole(explain.blocksOpened)} of ${counted(explain.blocksTotal, 'block')}`}
    </span>
  );
}

async function start(format: 'ndjson' | 'csv'): Promise<void> {
  say('The export has begun: it is saved as it comes.');
  const { exportAll } = await import('../explore-parts.ts');
  const fault = await exportAll(format, columns.peek());
  if (fault !== undefined) say(fault);
}
