import { useEffect, useMemo } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { ago, bytes, counted, duration, percent, short, whole } from '../../base/format.ts';
import { say } from '../../base/notice.ts';
import { Panel } from '../../base/panel.ts';
import { Button, FaultNote } from '../../parts/controls.tsx';
import { Exactness, type Wholeness } from '../../parts/exactness.tsx';
import { Icon } from '../../parts/icon.tsx';
import { brief, visible } from '../../parts/log-text.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Delivery, DiskByAttribute, DiskByKey } from './stored.tsx';
import { daysLeft, loadVitals, type Rate, type Vitals } from './vitals.ts';

const REFRESH_MS = 5_000;
/** Milliseconds above which a query is said to be slow. */
const SLOW_MS = 1_000;
const DAYS_SHOWN = 14;

type Query = Vitals['queries'][number];
type Slow = Vitals['slow'][number];
type Trouble = Vitals['troubles'][number];
type Disk = Vitals['health']['disk'];
type Day = Disk['days'][number];

const NUMBER = { class: 'number' } as const;
const rateText = (rate: number | undefined, text: (value: number) => string): string =>
  rate === undefined ? '…' : `${text(rate)}/s`;

const INPUT: readonly Column<Rate>[] = [
  { name: 'Write key', isHead: true, order: ({ key }) => key, cell: ({ key }) => visible(key) },
  { name: 'Channel', order: ({ channel }) => channel, cell: ({ channel }) => channel },
  { ...NUMBER, name: 'Events now', cell: ({ eventsRate }) => rateText(eventsRate, short) },
  { ...NUMBER, name: 'Bytes now', cell: ({ bytesRate }) => rateText(bytesRate, bytes) },
  { ...NUMBER, name: 'Events', cell: ({ events }) => whole(events) },
  { ...NUMBER, name: 'Bytes', cell: (rate) => bytes(rate.bytes) },
];
const QUERIES: readonly Column<Query>[] = [
  { name: 'Who', isHead: true, cell: ({ key }) => visible(key) },
  { name: 'Kind', cell: ({ kind }) => kind },
  { name: 'State', cell: ({ state }) => state },
  {
    ...{ ...NUMBER, name: 'Done' },
    cell: ({ unitsDone, unitsTotal }) => (unitsTotal === 0 ? '' : percent(unitsDone, unitsTotal)),
  },
  {
    ...{ ...NUMBER, name: 'Time' },
    cell: ({ ms }) => (
      <span class={ms >= SLOW_MS ? 'warn-text' : ''}>
        {duration(ms)}
        {ms >= SLOW_MS && ' · slow'}
      </span>
    ),
  },
];
const SLOW: readonly Column<Slow>[] = [
  { name: 'Who', isHead: true, cell: ({ key }) => visible(key) },
  { name: 'Ended', class: 'when', cell: ({ ended }) => ago(Date.parse(ended)) },
  { name: 'State', cell: ({ state }) => state },
  { ...NUMBER, name: 'Time', cell: ({ ms }) => duration(ms), order: ({ ms }) => ms },
  { name: 'Request', cell: ({ text }) => <code>{brief(text)}</code> },
];
const TROUBLES: readonly Column<Trouble>[] = [
  { name: 'Kind', isHead: true, cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { ...NUMBER, name: 'Count', cell: ({ count }) => whole(count) },
  { name: 'Last', class: 'when', cell: ({ last }) => last && ago(Date.parse(last)) },
  {
    name: 'From',
    cell: ({ key, channel, peer }) =>
      visible([key, channel, peer].filter((each) => each !== undefined).join(' · ')),
  },
  {
    name: 'Last line',
    cell: ({ line, reason }) => (
      <>
        {reason !== undefined && <div>{brief(reason)}</div>}
        {line !== undefined && <code>{brief(line)}</code>}
      </>
    ),
  },
];
const DAYS: readonly Column<Day>[] = [
  { name: 'Day (UTC)', isHead: true, cell: ({ day }) => day },
  { ...NUMBER, name: 'Events', cell: ({ events }) => whole(events) },
  { ...NUMBER, name: 'On the disk', cell: (day) => bytes(day.bytes) },
];

/** State of the service: what comes in, queues, queries, disk, sealing and faulty input. */
export function Health() {
  const panel = useMemo(() => new Panel<Vitals>(), []);
  useEffect(() => {
    void panel.load((signal) => loadVitals(panel.data.peek(), signal));
    const timer = setInterval(() => !document.hidden && panel.reload(), REFRESH_MS);
    return () => {
      clearInterval(timer);
      panel.cancel();
    };
  }, []);
  const vitals = panel.data.value;
  const cancel = async ({ id }: Query): Promise<void> => {
    await call('DELETE', `/admin/api/queries/${id}`).then(
      () => say('The query is cancelled.'),
      (fault: Error) => say(fault.message),
    );
    panel.reload();
  };
  return (
    <div class="page">
      {panel.fault.value !== undefined && (
        <FaultNote fault={panel.fault.value} retry={() => panel.reload()} />
      )}
      <header class="page-head">
        <h1>Health</h1>
        {vitals !== undefined && (
          <span class="quiet-text">
            Logseam {vitals.health.version}, started {ago(Date.parse(vitals.health.started))}
          </span>
        )}
      </header>
      {vitals === undefined ? (
        <div class="loading" aria-busy="true" />
      ) : (
        <Shown vitals={vitals} cancel={cancel} />
      )}
    </div>
  );
}

function Shown({ vitals, cancel }: { vitals: Vitals; cancel: (query: Query) => Promise<void> }) {
  const { health, rates, queries } = vitals;
  const troubles = vitals.troubles.filter(({ count }) => count > 0);
  const cancelOf = (query: Query) => (
    <Button icon="close" onClick={() => void cancel(query)}>
      Cancel
    </Button>
  );
  return (
    <>
      <Refusals {...health.disk} />
      <Facts vitals={vitals} />
      <section class="box" aria-label="Queries">
        <h2>Queries without an answer</h2>
        {queries.length === 0 ? (
          <p class="quiet-text">None runs.</p>
        ) : (
          <Table
            {...{ label: 'Queries', rows: queries, keyOf: ({ id }: Query) => id }}
            columns={[...QUERIES, { name: 'Cancel', isUnnamed: true, cell: cancelOf }]}
          />
        )}
      </section>
      {vitals.slow.length > 0 && (
        <section class="box" aria-label="Slow queries">
          <h2>Slow queries that ended</h2>
          <Table
            label="Slow queries"
            rows={vitals.slow}
            keyOf={({ ended, ms }) => ended + ms}
            columns={SLOW}
          />
        </section>
      )}
      <section class="box" aria-label="Input">
        <h2>
          Input since the start <Exactness whole={{}} isMark />
        </h2>
        <Table
          label="Input"
          rows={rates}
          keyOf={({ channel, key }) => `${channel} ${key}`}
          columns={INPUT}
        />
      </section>
      <section class="box" aria-label="Troubles">
        <h2>
          Troubles since the start <Exactness whole={{}} isMark />
        </h2>
        {troubles.length === 0 ? (
          <p class="quiet-text">None.</p>
        ) : (
          <Table label="Troubles" rows={troubles} keyOf={({ kind }) => kind} columns={TROUBLES} />
        )}
      </section>
      <Delivery />
      <section class="box" aria-label="Disk by day">
        <h2>Disk by day of the events</h2>
        <p class="quiet-text">About: a block counts for the day on which it begins.</p>
        <Table
          label="Disk by day"
          rows={health.disk.days.slice(-DAYS_SHOWN).reverse()}
          keyOf={({ day }) => day}
          columns={DAYS}
        />
      </section>
      <DiskByKey />
      <DiskByAttribute />
    </>
  );
}

/** The reasons why nothing is taken in, and what helps. */
function Refusals({ full, failing, free_bytes: free, reserve_bytes: reserve }: Disk) {
  if (!full && !failing) return null;
  return (
    <div class="fault-note" role="alert">
      <Icon name="warning" />
      {full ? (
        <p>
          The disk is full: nothing is taken in, and senders are told to try again. {bytes(free)}{' '}
          are free, and {bytes(reserve)} have to stay free. Add disk, or{' '}
          <a href="/settings?kind=retention">keep events for a shorter time</a>: then it goes on by
          itself.
        </p>
      ) : (
        <p>
          Writing to the disk fails: nothing is taken in, and senders are told to try again. The log
          of the service says why. It goes on by itself when the disk is well.
        </p>
      )}
    </div>
  );
}

/** The numbers that say at once whether all is well. */
function Facts({ vitals: { health, rates } }: { vitals: Vitals }) {
  const { queues, disk, sealing } = health;
  const now = rates.reduce<number | undefined>(
    (sum, { eventsRate }) => (eventsRate === undefined ? undefined : (sum ?? 0) + eventsRate),
    0,
  );
  const days = daysLeft(health, Date.now());
  const { damaged_segments: blocks } = sealing;
  const stored: Wholeness = blocks > 0 ? { damaged: { blocks } } : {};
  const facts: readonly [name: string, value: string, more: string, whole?: Wholeness][] = [
    ['Coming in', `${rateText(now, short)}`, 'events'],
    [
      'Input queue',
      percent(queues.input_bytes, queues.input_bytes_max),
      `${counted(queues.tasks_pending, 'task')} not durable yet`,
    ],
    [
      'Queries',
      `${queues.queries_running} run`,
      `${queues.queries_waiting} wait, ${bytes(queues.query_memory_bytes)}`,
    ],
    ['Events', short(disk.events), `${bytes(disk.bytes)} on the disk`, stored],
    [
      'Free disk',
      bytes(disk.free_bytes),
      days === undefined ? 'days until full: not known yet' : `full in ${short(days)} days`,
    ],
    [
      'To be sealed',
      short(sealing.backlog_events),
      `${counted(sealing.failures, 'failure')}, ${counted(sealing.damaged_segments, 'damaged segment')}`,
    ],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value, more, whole]) => (
        <div class="fact">
          <dt>{name}</dt>
          <dd>
            {value} {whole !== undefined && <Exactness whole={whole} isMark />}
          </dd>
          <dd class="quiet-text">{more}</dd>
        </div>
      ))}
    </dl>
  );
}
