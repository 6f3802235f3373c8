import type { ComponentChildren } from 'preact';
import { askFor, question } from '../../base/question.ts';
import { Icon } from '../../parts/icon.tsx';
import { shownName } from '../../parts/log-text.tsx';
import { type Choice, Menu } from '../../parts/menu.tsx';
import { sorted } from './column-heads.tsx';
import { columns, setWidth, showColumns, widths } from './question.ts';

/** Width of a column that was not sized, about. */
const WIDTH_PX = 200;

interface ColumnHeadProps {
  path: string;
  sort: () => void;
  children: ComponentChildren;
}

/** The name of a column of an attribute, which is moved and sized by drags or by its menu. */
export function ColumnHead({ path, sort, children }: ColumnHeadProps) {
  const { orderBy, order } = question.value;
  return (
    <span
      class="cell"
      role="columnheader"
      draggable
      aria-sort={orderBy === path ? sorted(order) : 'none'}
      onDragStart={(event) => event.dataTransfer?.setData('text/column', path)}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => moveBefore(event.dataTransfer?.getData('text/column') ?? '', path)}
    >
      <button type="button" class="head" title={path} onClick={sort}>
        {shownName(path)} {children}
      </button>
      <Menu label={`Column ${path}`} choices={() => headChoices(path)}>
        <Icon name="more" size={14} />
      </Menu>
      <span class="resize" aria-hidden="true" onPointerDown={(event) => resize(event, path)} />
    </span>
  );
}

/** Follows the pointer until it is let go. */
function resize(event: PointerEvent, path: string): void {
  const { currentTarget: handle, clientX: fromPx, pointerId } = event;
  if (!(handle instanceof HTMLElement)) return;
  event.preventDefault();
  const widthPx = handle.parentElement?.offsetWidth ?? WIDTH_PX;
  const move = ({ clientX }: PointerEvent): void => setWidth(path, widthPx + clientX - fromPx);
  handle.setPointerCapture(pointerId);
  handle.addEventListener('pointermove', move);
  handle.addEventListener(
    'lostpointercapture',
    () => handle.removeEventListener('pointermove', move),
    { once: true },
  );
}

function headChoices(path: string): Choice[] {
  const all = columns.peek();
  const at = all.indexOf(path);
  return [
    { name: 'Largest first', icon: 'down', run: () => askFor({ orderBy: path, order: 'desc' }) },
    { name: 'Smallest first', icon: 'up', run: () => askFor({ orderBy: path, order: 'asc' }) },
    null,
    ...(at > 0
      ? [
          {
            name: 'Move left',
            icon: 'columns' as const,
            run: () => moveBefore(path, all[at - 1] ?? ''),
          },
        ]
      : []),
    ...(at < all.length - 1
      ? [
          {
            name: 'Move right',
            icon: 'columns' as const,
            run: () => moveBefore(all[at + 1] ?? '', path),
          },
        ]
      : []),
    { name: 'Wider', icon: 'plus', run: () => setWidth(path, widthOf(path) * 1.4) },
    { name: 'Narrower', icon: 'minus', run: () => setWidth(path, widthOf(path) / 1.4) },
    null,
    {
      name: 'Remove the column',
      icon: 'close',
      run: () => showColumns(all.filter((each) => each !== path)),
    },
  ];
}

function widthOf(path: string): number {
  return widths.peek().get(path) ?? WIDTH_PX;
}

function moveBefore(path: string, before: string): void {
  const rest = columns.peek().filter((each) => each !== path);
  const at = rest.indexOf(before);
  if (!columns.peek().includes(path) || at < 0) return;
  showColumns([...rest.slice(0, at), path, ...rest.slice(at)]);
}
