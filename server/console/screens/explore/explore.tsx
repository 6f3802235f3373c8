import { useEffect, useMemo } from 'preact/hooks';
import { shortcuts } from '../../base/keyboard.ts';
import { range } from '../../base/question.ts';
import { wordsOf } from '../../base/terms.ts';
import { Button, FaultNote } from '../../parts/controls.tsx';
import { later } from '../../parts/later.tsx';
import { SearchBar } from '../../parts/search-bar.tsx';
import { TimePicker } from '../../parts/time-picker.tsx';
import { ViewButton } from '../views/view-button.tsx';
import { Chart } from './chart.tsx';
import { Facets } from './facets.tsx';
import { exploreKeys } from './keys.ts';
import { EventList } from './list.tsx';
import { list, watchQuestion } from './panels.ts';
import { follow, isLive } from './question.ts';
import { areFacetsOpen, contextOf, isTakingAway, type RowSource, statistics } from './reading.ts';
import type { Rows } from './rows.ts';
import { Toolbar } from './toolbar.tsx';

const Context = later(async () => (await import('../explore-parts.ts')).Context);
const LiveView = later(async () => (await import('../explore-parts.ts')).LiveView);
const Nothing = later(async () => (await import('../explore-parts.ts')).Nothing);
const TakeAway = later(async () => (await import('../explore-parts.ts')).TakeAway);
const Statistics = later(async () => (await import('../explore-parts.ts')).Statistics);

/** Searching and looking at events: the search, when they came, their values, and they themselves. */
export function Explore() {
  useEffect(watchQuestion, []);
  useEffect(() => {
    shortcuts.value = exploreKeys();
    return () => {
      shortcuts.value = [];
    };
  }, []);
  const live = isLive.value;
  return (
    <div class={areFacetsOpen.value && !live ? 'explore' : 'explore no-facets'}>
      <h1 class="off-screen">Explore</h1>
      <div class="explore-head">
        <SearchBar loading={list} />
        {!live && <TimePicker />}
        <ViewButton />
        <Button icon="live" isOn={live} onClick={() => follow(!live)}>
          Live
        </Button>
      </div>
      {live ? (
        <LiveView />
      ) : (
        <>
          <Chart />
          {areFacetsOpen.value && <Facets />}
          <Results />
        </>
      )}
      {statistics.value !== undefined && <Statistics />}
      {isTakingAway.value && <TakeAway />}
      {contextOf.value !== undefined && <Context />}
    </div>
  );
}

/** The list, what is known of it, and why it is empty. */
function Results() {
  const found = list.data.value;
  const fault = list.fault.value;
  const source = useMemo(() => (found === undefined ? undefined : sourceOf(found.rows)), [found]);
  const words = useMemo(() => wordsOf(found?.query ?? ''), [found]);
  if (range.value === undefined) {
    return (
      <section class="results">
        <p class="nothing">The address has no range that can be read: choose one above.</p>
      </section>
    );
  }
  return (
    <section class="results" aria-label="Events" aria-busy={list.isLoading.value}>
      {fault !== undefined && <FaultNote fault={fault} retry={() => list.reload()} />}
      {found !== undefined && <Toolbar found={found} />}
      {found?.rows.fault.value !== undefined && <FaultNote fault={found.rows.fault.value} />}
      {found !== undefined && found.rows.total === 0 && <Nothing first={found.first} />}
      {source !== undefined && found !== undefined && found.rows.total > 0 && (
        <EventList source={source} words={words} version={found.rows.version.value} />
      )}
      {found === undefined && fault === undefined && <div class="loading" aria-busy="true" />}
    </section>
  );
}

function sourceOf(rows: Rows): RowSource {
  return {
    ...{ count: rows.reachable, total: rows.total },
    at: (row) => rows.at(row),
    need: (from, to) => rows.need(from, to),
  };
}
