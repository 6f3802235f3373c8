import { type Json, textOf } from '../../api/exact.ts';
import { say } from '../../base/notice.ts';
import { askFor, question } from '../../base/question.ts';
import { opposite, termOf, withOnly, withTerm } from '../../base/terms.ts';
import { copyText } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icon.tsx';
import { type Choice, Menu } from '../../parts/menu.tsx';
import { toggleFacet } from './panels.ts';
import { columns, toggleColumn } from './question.ts';
import { statistics } from './reading.ts';

/** The path of an attribute whose name is empty. */
const NAMELESS = 'custom.';
/** Characters of a term that an address has room for. */
const TERM_CHARACTERS_MAX = 1_000;

/** Everything that can be done with a value of an attribute. */
export function ValueMenu({ path, value }: { path: string; value: Json }) {
  return (
    <Menu label={`${path}: what can be done with it`} choices={() => choicesOf(path, value)}>
      <Icon name="more" />
    </Menu>
  );
}

function choicesOf(path: string, value: Json): Choice[] {
  const { query } = question.peek();
  const one = Array.isArray(value) ? value[0] : value;
  const isColumn = columns.peek().includes(path);
  const term = termOf(path, one ?? null);
  const search = (next: string) => () => askFor({ query: next });
  const filters: Choice[] = [
    { name: 'Filter for it', icon: 'plus', keys: 'f', run: search(withTerm(query, term)) },
    {
      name: 'Filter it out',
      icon: 'minus',
      keys: 'x',
      run: search(withTerm(query, opposite(term))),
    },
    { name: 'Only this value', icon: 'filter', run: search(withOnly(query, term)) },
    null,
  ];
  const copy = { name: 'Copy the value', icon: 'copy' as const, run: () => void copyValue(value) };
  // No search and no request has a way of writing it.
  if (path === NAMELESS) return [copy];
  return [
    ...(one === undefined || one === null || term.length > TERM_CHARACTERS_MAX ? [] : filters),
    {
      ...{ name: isColumn ? 'Remove the column' : 'Show as a column', icon: 'columns' as const },
      run: () => toggleColumn(path),
    },
    { name: 'Count by it', icon: 'list', run: () => toggleFacet(path) },
    {
      ...{ name: 'Statistics', icon: 'columnDown' as const },
      run: () => {
        statistics.value = path;
      },
    },
    null,
    copy,
  ];
}

async function copyValue(value: Json): Promise<void> {
  say((await copyText(textOf(value))) ? 'Copied.' : 'The browser refused to copy.');
}
