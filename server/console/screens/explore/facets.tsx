import { computed, signal } from '@preact/signals';
import { textOf } from '../../api/exact.ts';
import { percent, short, whole } from '../../base/format.ts';
import { askFor, question } from '../../base/question.ts';
import { cssColour } from '../../base/status.ts';
import {
  existsTerm,
  hasTerm,
  opposite,
  termOf,
  withOnly,
  withoutTerm,
  withTerm,
} from '../../base/terms.ts';
import { Button, FaultNote } from '../../parts/controls.tsx';
import { Exactness } from '../../parts/exactness.tsx';
import { Icon } from '../../parts/icon.tsx';
import { brief, shownName, visible } from '../../parts/log-text.tsx';
import { type Choice, Menu } from '../../parts/menu.tsx';
import { attributes, facets, histogram, toggleFacet } from './panels.ts';
import { columns, toggleColumn } from './question.ts';
import { areFacetsOpen, statistics } from './reading.ts';

/** Text that names have to have. */
const sought = signal('');
const ATTRIBUTES_SHOWN = 100;

/** Values of a facet, and how often each is there. */
interface Value {
  term: string;
  name: string;
  count: number;
  colour?: string;
}

/** The facets: values of the attributes that are open, and all attributes there are. */
export function Facets() {
  const tags = tagValues.value;
  const opened = facets.data.value?.facets ?? [];
  const fault = facets.fault.value;
  return (
    <aside class="facets" aria-label="Facets" aria-busy={facets.isLoading.value}>
      <div class="facets-head">
        <h2>
          Facets {facets.data.value !== undefined && <Exactness whole={facets.data.value} isMark />}
        </h2>
        <Button
          kind="quiet"
          icon="close"
          label="Hide the facets"
          onClick={() => {
            areFacetsOpen.value = false;
          }}
        />
      </div>
      {tags.length > 0 && (
        <Facet
          name={visible(histogram.data.value?.tagset?.name ?? '')}
          values={tags}
          more={false}
        />
      )}
      {fault !== undefined && <FaultNote fault={fault} retry={() => facets.reload()} />}
      {opened.map(({ field, values, more }) => (
        <Facet
          key={field}
          path={field}
          name={shownName(field)}
          more={more}
          values={values.map(({ value, count }) => ({
            ...{ term: termOf(field, value), name: brief(textOf(value)) || '""', count },
          }))}
        />
      ))}
      <Attributes opened={opened.map(({ field }) => field)} />
    </aside>
  );
}

const tagValues = computed<Value[]>(() => {
  const { tagset: { id: set = '' } = {}, tags = [] } = histogram.data.value ?? {};
  return tags
    .filter(({ id }) => id !== '')
    .map(({ id, ...tag }) => ({ ...tag, term: termOf(set, id) }));
});

function Facet({
  path,
  name,
  values,
  more,
}: {
  path?: string;
  name: string;
  values: readonly Value[];
  more: boolean;
}) {
  const largest = Math.max(1, ...values.map(({ count }) => count));
  const all = values.reduce((sum, { count }) => sum + count, 0);
  return (
    <section class="facet" aria-label={name}>
      <h3>
        {path === undefined ? (
          <span>{name}</span>
        ) : (
          <button
            type="button"
            class="facet-name"
            title={`Close ${path}`}
            aria-expanded
            onClick={() => toggleFacet(path)}
          >
            <Icon name="down" size={12} />
            {name}
          </button>
        )}
        {path !== undefined && (
          <Menu label={`${path}: more`} choices={() => pathChoices(path)}>
            <Icon name="more" />
          </Menu>
        )}
      </h3>
      {values.length === 0 && <p class="quiet-text">No event has it.</p>}
      <ul class="bars">
        {values.map((value) => (
          <Row key={value.term} value={value} largest={largest} all={all} />
        ))}
      </ul>
      {more && path !== undefined && (
        <button
          type="button"
          class="link"
          onClick={() => {
            statistics.value = path;
          }}
        >
          More values
        </button>
      )}
    </section>
  );
}

function Row({ value, largest, all }: { value: Value; largest: number; all: number }) {
  const { term, name, count, colour } = value;
  const { query } = question.value;
  const isIn = hasTerm(query, term);
  const isOut = hasTerm(query, opposite(term));
  const toggle = (): void =>
    askFor({ query: isIn ? withoutTerm(query, term) : withTerm(query, term) });
  const toggleOut = (): void =>
    askFor({ query: isOut ? withoutTerm(query, opposite(term)) : withTerm(query, opposite(term)) });
  return (
    <li
      class={`facet-value ${isOut ? 'is-out' : ''}`}
      style={colour === undefined ? {} : { '--status': cssColour(colour) }}
    >
      <button
        type="button"
        class="bar-row"
        aria-pressed={isIn}
        title={`${name}: ${whole(count)} events, ${percent(count, all)} of those listed`}
        onClick={toggle}
      >
        <span class="bar" style={{ width: `${(100 * count) / largest}%` }} />
        <span class="bar-name">{name}</span>
        <span class="bar-count">{short(count)}</span>
      </button>
      <span class="facet-tools">
        <button
          type="button"
          class="only"
          aria-label={`Only ${name}`}
          onClick={() => askFor({ query: withOnly(query, term) })}
        >
          only
        </button>
        <Button
          kind="quiet"
          icon="minus"
          isOn={isOut}
          label={`Filter out ${name}`}
          onClick={toggleOut}
        />
      </span>
    </li>
  );
}

function pathChoices(path: string): Choice[] {
  const { query } = question.peek();
  return [
    {
      ...{
        name: columns.peek().includes(path) ? 'Remove the column' : 'Show as a column',
        icon: 'columns' as const,
      },
      run: () => toggleColumn(path),
    },
    {
      name: 'Statistics',
      icon: 'list',
      run: () => {
        statistics.value = path;
      },
    },
    null,
    {
      name: 'Only events that have it',
      icon: 'plus',
      run: () => askFor({ query: withTerm(query, existsTerm(path)) }),
    },
    {
      ...{ name: 'Only events without it', icon: 'minus' as const },
      run: () => askFor({ query: withTerm(query, opposite(existsTerm(path))) }),
    },
  ];
}

/** All attributes of the events, each of which can become a facet. */
function Attributes({ opened }: { opened: readonly string[] }) {
  const all = attributes.data.value?.attributes ?? [];
  const text = sought.value.toLowerCase();
  const found = all.filter(
    ({ attribute }) => !opened.includes(attribute) && attribute.toLowerCase().includes(text),
  );
  const fault = attributes.fault.value;
  return (
    <section class="facet" aria-label="Attributes" aria-busy={attributes.isLoading.value}>
      <h3>
        <span>
          Attributes{' '}
          {attributes.data.value !== undefined && (
            <Exactness whole={attributes.data.value} isMark />
          )}
        </span>
      </h3>
      <input
        type="search"
        class="input small"
        placeholder="Find an attribute"
        aria-label="Find an attribute"
        value={sought.value}
        onInput={(event) => {
          sought.value = event.currentTarget.value;
        }}
      />
      {fault !== undefined && <FaultNote fault={fault} retry={() => attributes.reload()} />}
      <ul class="names">
        {found.slice(0, ATTRIBUTES_SHOWN).map(({ attribute, events }) => (
          <li key={attribute}>
            <button
              type="button"
              class="facet-name"
              aria-expanded={false}
              onClick={() => toggleFacet(attribute)}
            >
              <Icon name="right" size={12} />
              <span>{shownName(attribute)}</span>
            </button>
            <span class="bar-count">{short(events)}</span>
            <Menu label={`${attribute}: more`} choices={() => pathChoices(attribute)}>
              <Icon name="more" />
            </Menu>
          </li>
        ))}
      </ul>
      {found.length > ATTRIBUTES_SHOWN && (
        <p class="quiet-text">{whole(found.length - ATTRIBUTES_SHOWN)} more: find them by name.</p>
      )}
    </section>
  );
}
