import { useEffect } from 'preact/hooks';
import type { ListedEvent } from '../../api/contract.ts';
import type { Json } from '../../api/exact.ts';
import { textOf } from '../../api/exact.ts';
import { clock, shortDay, whole } from '../../base/format.ts';
import { question } from '../../base/question.ts';
import { STATUSES } from '../../base/status.ts';
import { later } from '../../parts/later.tsx';
import { LogText, lineOf, valueAt } from '../../parts/log-text.tsx';
import { useRowWindow } from '../../parts/row-window.ts';
import { Heads, widthsText } from './column-heads.tsx';
import { columns, isWrapped, open, openId } from './question.ts';
import { current, type RowSource, shownRows } from './reading.ts';

const EventView = later(async () => (await import('../explore-parts.ts')).EventView);
const ROW_PX = 26;
const CURRENT_ID = 'current-row';

/** Events as rows: only those in sight are in the page, and an open one unfolds in its place. */
export function EventList({ source, words, version }: EventListProps) {
  const { rows, spacePx, element, show } = useRowWindow({
    ...{ count: source.count, rowPx: ROW_PX, list: source },
  });
  const first = rows[0]?.row ?? 0;
  const last = rows.at(-1)?.row ?? 0;
  useEffect(() => source.need?.(first, last), [source, first, last, version]);
  useEffect(() => {
    shownRows.value = source;
    current.value = { row: -1 };
    element.current?.scrollTo({ top: 0 });
    return () => {
      shownRows.value = undefined;
    };
  }, [source]);
  const at = current.value.row;
  useEffect(() => {
    if (at >= 0) show(at);
  }, [at]);
  const style = { '--line-columns': `10.75rem 2.75rem ${widthsText()} minmax(12rem, 1fr)` };
  return (
    <div
      ref={element}
      {...{ class: isWrapped.value ? 'list wrapped' : 'list', role: 'grid', tabIndex: 0, style }}
      aria-label="Events"
      {...(at >= 0 ? { 'aria-activedescendant': CURRENT_ID } : {})}
      aria-rowcount={source.total + 1}
      aria-colcount={3 + columns.value.length}
    >
      <Heads />
      <div class="list-space" role="presentation" style={{ height: `${spacePx}px` }}>
        {rows.map(({ row, startPx, slot }) => (
          <div
            key={slot}
            {...(row === at ? { class: 'row current', id: CURRENT_ID } : { class: 'row' })}
            role="row"
            aria-rowindex={row + 2}
            data-index={row}
            style={{ transform: `translateY(${startPx}px)` }}
          >
            <Row event={source.at(row)} row={row} words={words} />
          </div>
        ))}
      </div>
    </div>
  );
}

interface EventListProps {
  source: RowSource;
  words: readonly string[];
  /** Changes when rows were loaded. */
  version: number;
}

function Row({
  event,
  row,
  words,
}: {
  event: ListedEvent | undefined;
  row: number;
  words: readonly string[];
}) {
  const { zone } = question.value;
  if (event === undefined) {
    return (
      <div class="line waiting" aria-busy="true">
        <span class="cell" role="gridcell">
          {whole(row + 1)}
        </span>
      </div>
    );
  }
  const isOpen = openId.value === event.id;
  const status = String(event.columns?.[0] ?? '');
  const toggle = (): void => {
    if (getSelection()?.isCollapsed === false) return;
    current.value = { row };
    open(isOpen ? undefined : event.id);
  };
  return (
    <>
      <div class={`line status-${status}`} onClick={toggle}>
        <span class="cell time" role="gridcell">
          <time dateTime={event.date}>
            <span class="day">{shortDay(Date.parse(event.date), zone)} </span>
            {clock(Date.parse(event.date), zone, true)}
          </time>
        </span>
        <span class="cell badge" role="gridcell">
          {STATUSES[status]?.short ?? ''}
        </span>
        {columns.value.map((path) => (
          <span class="cell" role="gridcell" key={path}>
            <LogText text={textOf(valueAt(event.event as Json | undefined, path))} words={words} />
          </span>
        ))}
        <span class="cell text" role="gridcell">
          <LogText text={lineOf(event)} words={words} />
        </span>
      </div>
      {isOpen && (
        <div role="gridcell" class="unfolded">
          <EventView key={event.id} shown={event} words={words} />
        </div>
      )}
    </>
  );
}
