import { useEffect, useState } from 'preact/hooks';
import { ask } from '../../api/client.ts';
import type { ListedEvent, ListResult } from '../../api/contract.ts';
import { ago } from '../../base/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { LogText, lineOf } from '../../parts/log-text.tsx';

const POLL_MS = 1_000;
const BODY = { time: { from: 'now-1d', to: 'now+1d' }, event: true, limit: 3, hints: false };

/** Waits for the first event, and shows it. */
export function Waiting({ found }: { found: () => void }) {
  const [events, setEvents] = useState<readonly ListedEvent[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const look = async (): Promise<void> => {
      const result = await ask<ListResult>('/beta/events/list', BODY, abort.signal).catch(
        () => undefined,
      );
      if (abort.signal.aborted) return;
      if (result !== undefined && result.events.length > 0) {
        setEvents(result.events);
        found();
      }
      timer = setTimeout(look, POLL_MS);
    };
    void look();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, []);
  const [newest] = events;
  return (
    <section class={events.length > 0 ? 'box wait-box' : 'box'} aria-label="What has come in">
      <div class={events.length > 0 ? 'wait done' : 'wait'} role="status">
        <span class="pulse" aria-hidden="true" />
        {newest === undefined ? (
          <b>Waiting for your first event…</b>
        ) : (
          <b>Events are coming in. The newest is from {ago(Date.parse(newest.date))}.</b>
        )}
        <span class="space" />
        {newest !== undefined && (
          <a class="button main" href="/?from=now-1d&to=now%2B1d">
            <Icon name="search" /> Explore them
          </a>
        )}
      </div>
      {events.map((event) => (
        <code key={event.id}>
          <LogText text={lineOf(event)} words={[]} max={300} />
        </code>
      ))}
    </section>
  );
}
