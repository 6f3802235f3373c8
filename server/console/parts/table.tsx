import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** A column of a table. */
export interface Column<T> {
  readonly name: string;
  readonly cell: (row: T) => ComponentChildren;
  /** The text or number by which its button orders the rows; without it there is no button. */
  readonly order?: (row: T) => string | number;
  readonly class?: string;
  /** Its cells name their rows. */
  readonly isHead?: boolean;
  /** Its name is for those alone who do not see the table. */
  readonly isUnnamed?: boolean;
}

interface TableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string | number;
}

/** A table whose columns order it. */
export function Table<T>({ label, columns, rows, keyOf }: TableProps<T>) {
  const [by, setBy] = useState<{ name: string; isDown: boolean }>();
  const order = columns.find(({ name }) => name === by?.name)?.order;
  const sign = by?.isDown === true ? -1 : 1;
  const shown =
    order === undefined
      ? rows
      : rows.toSorted((left, right) => sign * compare(order(left), order(right)));
  return (
    <table class="table" aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ name, order: orders, isUnnamed, class: kind }) => (
            <th
              scope="col"
              class={kind}
              {...(by?.name === name
                ? { 'aria-sort': by.isDown ? 'descending' : 'ascending' }
                : {})}
            >
              {orders === undefined ? (
                <span class={isUnnamed === true ? 'off-screen' : ''}>{name}</span>
              ) : (
                <button
                  type="button"
                  class="head"
                  onClick={() => setBy({ name, isDown: by?.name === name && !by.isDown })}
                >
                  {name}
                  {by?.name === name && <Icon name={by.isDown ? 'down' : 'up'} size={12} />}
                </button>
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {shown.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ cell, isHead, class: kind }) =>
              isHead === true ? (
                <th scope="row" class={kind}>
                  {cell(row)}
                </th>
              ) : (
                <td class={kind}>{cell(row)}</td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function compare(left: string | number, right: string | number): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
