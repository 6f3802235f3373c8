import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { DiskResult, LedgerResult, WriteKey } from '../../api/contract.ts';
import { ago, bytes, clock, counted, percent, whole } from '../../base/format.ts';
import { Panel } from '../../base/panel.ts';
import { browserZone } from '../../base/zone.ts';
import { Button, FaultNote } from '../../parts/controls.tsx';
import { Exactness } from '../../parts/exactness.tsx';
import { Icon } from '../../parts/icon.tsx';
import { brief, visible } from '../../parts/log-text.tsx';
import { type Column, Table } from '../../parts/table.tsx';

const MINUTES_SHOWN = 20;
const NUMBER = { class: 'number' } as const;

interface MeasuredProps<T> {
  title: string;
  /** Text of the button. */
  action: string;
  about: string;
  load: (signal: AbortSignal) => Promise<T>;
  show: (data: T) => ComponentChildren;
}

/** A box of what is measured when one asks for it, as that takes work. */
function Measured<T>({ title, action, about, load, show }: MeasuredProps<T>) {
  const panel = useMemo(() => new Panel<T>(), []);
  useEffect(() => () => panel.cancel(), []);
  const { data, fault, isLoading } = panel;
  return (
    <section class="box" aria-label={title} aria-busy={isLoading.value}>
      <h2>{title}</h2>
      <p class="quiet-text">{about}</p>
      {fault.value !== undefined && <FaultNote fault={fault.value} />}
      {data.value !== undefined && show(data.value)}
      <div class="actions">
        {isLoading.value ? (
          <Button onClick={() => panel.cancel()}>Cancel</Button>
        ) : (
          <Button icon="refresh" onClick={() => void panel.load(load)}>
            {action}
          </Button>
        )}
      </div>
    </section>
  );
}

/** A table that may be longer and wider than its box. */
function Wide<T>(props: Parameters<typeof Table<T>>[0]) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={`${props.label}, table`}>
      <Table {...props} />
    </div>
  );
}

function load<T>(name: string): (signal: AbortSignal) => Promise<T> {
  return (signal) => call<T>('GET', `/admin/api/${name}`, undefined, signal);
}

/** Events that became durable, by minute and key, beside those that are stored now. */
export function Delivery() {
  return (
    <Measured
      title="Delivery"
      action="Count what is stored"
      about="Each event that became durable, and so was acknowledged, has to be stored until retention drops it. Events have no key once they are stored: they are counted by minute. What comes by UDP is never acknowledged."
      load={load<LedgerResult>('ledger')}
      show={(ledger) => <Ledger ledger={ledger} />}
    />
  );
}

interface Entry {
  readonly minute: LedgerResult['minutes'][number];
  readonly key: string | null;
  readonly events: number;
}

const ENTRIES: readonly Column<Entry>[] = [
  { name: 'Minute', isHead: true, class: 'when', cell: ({ minute }) => minuteOf(minute) },
  { name: 'Write key', cell: ({ key }) => (key === null ? 'other keys' : visible(key)) },
  { ...NUMBER, name: 'Durable', cell: ({ events }) => whole(events) },
  {
    ...{ ...NUMBER, name: 'Stored' },
    cell: ({ minute, events }) =>
      minute.stored === minute.events ? (
        whole(events)
      ) : (
        <span class="warn-text">
          <Icon name="warning" size={14} /> {whole(minute.stored)} of the {whole(minute.events)} of
          the minute
        </span>
      ),
  },
];

function minuteOf({ minute }: Entry['minute']): string {
  return clock(Date.parse(minute), browserZone()).slice(0, 5);
}

function Ledger({ ledger }: { ledger: LedgerResult }) {
  const { minutes, retention_dropped: dropped, refused, damaged } = ledger;
  const sum = (of: (minute: Entry['minute']) => number): number =>
    minutes.reduce((all, minute) => all + of(minute), 0);
  const lacking = sum(({ events, stored }) => Math.max(events - stored, 0));
  const differing = minutes.filter(({ events, stored }) => events !== stored);
  const shown = new Set([...differing.slice(-MINUTES_SHOWN), ...minutes.slice(-MINUTES_SHOWN)]);
  const since = ago(Date.parse(minutes[0]?.minute ?? ledger.since));
  return (
    <>
      <p>
        {lacking === 0 ? (
          <>
            All{' '}
            {counted(
              sum(({ events }) => events),
              'event',
            )}{' '}
            since {since} are stored.{' '}
          </>
        ) : (
          <span class="warn-text">
            <Icon name="warning" /> {counted(lacking, 'event')} of{' '}
            {whole(sum(({ events }) => events))} since {since} are not stored; retention dropped{' '}
            {whole(dropped)} since the start.{' '}
          </span>
        )}
        <Exactness whole={{ damaged }} />
      </p>
      {refused.length > 0 && (
        <p>
          Not taken in since the start:{' '}
          {refused
            .map(
              ({ channel, reason, count }) =>
                `${channel} ${reason.replaceAll('_', ' ')} ${whole(count)}`,
            )
            .join(', ')}
          .
        </p>
      )}
      {minutes.length > 0 && (
        <Wide
          label="Delivery by minute"
          columns={ENTRIES}
          rows={minutes
            .filter((minute) => shown.has(minute))
            .reverse()
            .flatMap((minute) => minute.keys.map((key): Entry => ({ minute, ...key })))}
          keyOf={({ minute, key }) => `${minute.minute} ${key}`}
        />
      )}
    </>
  );
}

type Attribute = DiskResult['attributes'][number];

/** Bytes on the disk by attribute. */
export function DiskByAttribute() {
  return (
    <Measured
      title="Disk by attribute"
      action="Measure the disk"
      about="Bytes of the values, dictionaries and words of each attribute, as they are stored."
      load={load<DiskResult>('disk')}
      show={({ attributes, other_attributes: others, rest_bytes: rest, bytes: all, damaged }) => (
        <>
          <p>
            {bytes(all)} in blocks, of which {bytes(rest)} are of no attribute
            {others.count > 0 &&
              `, ${bytes(others.bytes)} of ${counted(others.count, 'other attribute')}`}{' '}
            <Exactness whole={{ damaged }} />
          </p>
          <Wide
            label="Disk by attribute"
            rows={attributes}
            keyOf={({ attribute }) => attribute}
            columns={[
              {
                ...{ name: 'Attribute', isHead: true },
                cell: ({ attribute }: Attribute) => brief(attribute),
                order: ({ attribute }: Attribute) => attribute,
              },
              {
                ...{ ...NUMBER, name: 'Bytes' },
                cell: (each: Attribute) => bytes(each.bytes),
                order: (each: Attribute) => each.bytes,
              },
              {
                ...{ ...NUMBER, name: 'Part' },
                cell: (each: Attribute) => percent(each.bytes, all),
              },
            ]}
          />
        </>
      )}
    />
  );
}

/** Bytes that each write key brought in the last 30 days. */
export function DiskByKey() {
  return (
    <Measured
      title="Bytes by key"
      action="Sum up the keys"
      about="Bytes of the last 30 days as they were received. The store does not tell keys apart."
      load={load<{ write_keys: WriteKey[] }>('write_keys')}
      show={({ write_keys: keys }) => {
        const sums = keys.map(({ id, name, days }) => ({
          ...{ id, name },
          bytes: days.reduce((sum, day) => sum + day.bytes, 0),
          events: days.reduce((sum, day) => sum + day.events, 0),
        }));
        return (
          <Table
            label="Bytes by key"
            rows={sums.sort((left, right) => right.bytes - left.bytes)}
            keyOf={({ id }) => id}
            columns={[
              { name: 'Write key', isHead: true, cell: ({ name }) => visible(name) },
              { ...NUMBER, name: 'Events', cell: ({ events }) => whole(events) },
              { ...NUMBER, name: 'Bytes', cell: (each) => bytes(each.bytes) },
            ]}
          />
        );
      }}
    />
  );
}
