import { askFor, question } from '../../base/question.ts';
import { Icon } from '../../parts/icon.tsx';
import { later } from '../../parts/later.tsx';
import { columns, widths } from './question.ts';

const ColumnHead = later(async () => (await import('../explore-parts.ts')).ColumnHead);

/** Names of the columns; those of attributes are moved and sized by drags or by their menus, and order the list. */
export function Heads() {
  const { orderBy, order } = question.value;
  const arrow = <Icon name={order === 'asc' ? 'up' : 'down'} size={12} />;
  const sort = (by: string | undefined): void =>
    askFor({ orderBy: by, order: orderBy === by && order === 'desc' ? 'asc' : 'desc' });
  return (
    <div class="row heads" role="row" aria-rowindex={1}>
      <div class="line">
        <span
          class="cell"
          role="columnheader"
          aria-sort={orderBy === undefined ? sorted(order) : 'none'}
        >
          <button type="button" class="head" onClick={() => sort(undefined)}>
            Time {orderBy === undefined && arrow}
          </button>
        </span>
        <span class="cell" role="columnheader">
          <span class="off-screen">Status</span>
        </span>
        {columns.value.map((path) => (
          <ColumnHead key={path} path={path} sort={() => sort(path)}>
            {orderBy === path && arrow}
          </ColumnHead>
        ))}
        <span class="cell" role="columnheader">
          Message
        </span>
      </div>
    </div>
  );
}

/** The widths of the columns of attributes, for a grid. */
export function widthsText(): string {
  const widthOf = (path: string): string => {
    const px = widths.value.get(path);
    return px === undefined ? 'minmax(6rem, 14rem)' : `${px}px`;
  };
  return columns.value.map(widthOf).join(' ');
}

/** The order of a column as tables tell it. */
export function sorted(order: string): 'ascending' | 'descending' {
  return order === 'asc' ? 'ascending' : 'descending';
}
