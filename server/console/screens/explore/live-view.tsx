import { useEffect, useMemo, useRef } from 'preact/hooks';
import { whole } from '../../base/format.ts';
import { question } from '../../base/question.ts';
import { wordsOf } from '../../base/terms.ts';
import { Button } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icon.tsx';
import { EventList } from './list.tsx';
import { LiveTail } from './live.ts';
import { follow, open, openId } from './question.ts';
import { current } from './reading.ts';

const STATES = {
  connecting: 'Connecting',
  open: 'Live',
  waiting: 'Connecting again',
  ended: 'Ended',
};
const TOP_PX = 8;

/** The events that come in and match the search. */
export function LiveView() {
  const { query, zone } = question.value;
  const tail = useMemo(() => new LiveTail(query, zone), [query, zone]);
  const words = useMemo(() => wordsOf(query), [query]);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => () => tail.close(), [tail]);
  useEffect(() => watchReading(frame.current, tail), [tail]);
  useEffect(() => tail.hold(isReading(frame.current)), [openId.value, current.value]);
  const state = tail.state.value;
  const goOn = (): void => {
    open(undefined);
    current.value = { row: -1 };
    getSelection()?.removeAllRanges();
    frame.current?.querySelector('.list')?.scrollTo({ top: 0 });
    tail.hold(false);
  };
  return (
    <div class="results" ref={frame}>
      <div class="toolbar">
        <span class={`live-state ${state}`}>
          <Icon name="live" /> {STATES[state]}
        </span>
        {tail.reason.value !== '' && <span class="quiet-text">{tail.reason.value}</span>}
        <span class="quiet-text" aria-live="off">
          {whole(tail.version.value >= 0 ? tail.count : 0)} shown
        </span>
        {tail.dropped.value > 0 && (
          <span class="warn-text">
            <Icon name="warning" /> {whole(tail.dropped.value)} not shown: too many at once
          </span>
        )}
        {tail.missed.value !== undefined && (
          <span class="warn-text">
            <Icon name="warning" /> what came before {tail.missed.value} is not shown
          </span>
        )}
        <span class="space" />
        {tail.waiting.value > 0 && (
          <Button kind="main" icon="up" onClick={goOn}>
            {whole(tail.waiting.value)} new
          </Button>
        )}
        <Button icon="close" onClick={() => follow(false)}>
          Stop
        </Button>
      </div>
      {tail.count === 0 && state === 'open' && (
        <p class="nothing">
          Nothing has come in yet that matches. It will be here as soon as it does.
        </p>
      )}
      <EventList source={tail} words={words} version={tail.version.value} />
    </div>
  );
}

/** Holds the rows while one scrolls down or selects text. Returns what ends it. */
function watchReading(frame: HTMLElement | null, tail: LiveTail): () => void {
  const decide = (): void => tail.hold(isReading(frame));
  frame?.addEventListener('scroll', decide, { capture: true, passive: true });
  document.addEventListener('selectionchange', decide);
  return () => {
    frame?.removeEventListener('scroll', decide, { capture: true });
    document.removeEventListener('selectionchange', decide);
  };
}

/** Reports whether one reads what is there: an event is open or at hand, or one is further down, or selects text. */
function isReading(frame: HTMLElement | null): boolean {
  if (openId.peek() !== undefined || current.peek().row >= 0) return true;
  const selection = getSelection();
  const isSelecting =
    selection?.isCollapsed === false && frame?.contains(selection.anchorNode) === true;
  return isSelecting || (frame?.querySelector('.list')?.scrollTop ?? 0) > TOP_PX;
}
