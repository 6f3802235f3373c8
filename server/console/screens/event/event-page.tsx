import { useEffect, useMemo } from 'preact/hooks';
import { ask } from '../../api/client.ts';
import type { FetchResult } from '../../api/contract.ts';
import { place } from '../../base/address.ts';
import { pointTime } from '../../base/format.ts';
import { Panel } from '../../base/panel.ts';
import { question } from '../../base/question.ts';
import { FaultNote } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Context } from '../explore/context.tsx';
import { EventView } from '../explore/event.tsx';
import { contextOf, statistics } from '../explore/reading.ts';
import { Statistics } from '../explore/statistics.tsx';

const AROUND_MS = 300_000;

/** One event at an address of its own. */
export function EventPage() {
  const panel = useMemo(() => new Panel<FetchResult>(), []);
  const id = place.value.params.get('id') ?? '';
  useEffect(() => {
    void panel.load((signal) =>
      ask<FetchResult>('/beta/events/fetch', { id, event: true }, signal),
    );
    return () => panel.cancel();
  }, [id]);
  const event = panel.data.value;
  const { zone } = question.value;
  return (
    <div class="page">
      <header class="page-head">
        <h1>{event === undefined ? 'Event' : pointTime(Date.parse(event.date), zone)}</h1>
        {event !== undefined && (
          <a class="button" href={`/?${around(Date.parse(event.date))}`}>
            <Icon name="search" /> Events of that time
          </a>
        )}
      </header>
      {panel.fault.value !== undefined && (
        <FaultNote fault={panel.fault.value} retry={() => panel.reload()} />
      )}
      {event === undefined && panel.isLoading.value && <div class="loading" aria-busy="true" />}
      {event !== undefined && (
        <div class="box">
          <EventView shown={event} words={[]} />
        </div>
      )}
      {contextOf.value !== undefined && <Context />}
      {statistics.value !== undefined && <Statistics />}
    </div>
  );
}

function around(ms: number): URLSearchParams {
  const [from, to] = [ms - AROUND_MS, ms + AROUND_MS].map((at) => new Date(at).toISOString());
  return new URLSearchParams({ from: from ?? '', to: to ?? '' });
}
