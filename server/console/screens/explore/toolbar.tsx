import { computed } from '@preact/signals';
import { counted, whole } from '../../base/format.ts';
import { askFor, question } from '../../base/question.ts';
import { Button } from '../../parts/controls.tsx';
import { Cost, Exactness } from '../../parts/exactness.tsx';
import { type Found, list } from './panels.ts';
import { isWrapped, wrap } from './question.ts';
import { areFacetsOpen, current, isTakingAway } from './reading.ts';

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
      <Button
        kind="quiet"
        icon="download"
        label="Take away all that is found"
        onClick={() => {
          isTakingAway.value = true;
        }}
      />
      <Button kind="quiet" icon="refresh" label="Ask again" onClick={() => askFor({})} />
    </div>
  );
}

const firstName = computed(() => {
  const { order, orderBy } = question.value;
  if (orderBy !== undefined) return order === 'asc' ? 'Smallest first' : 'Largest first';
  return order === 'asc' ? 'Oldest first' : 'Newest first';
});
