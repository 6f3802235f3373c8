import { textOf } from '../../api/exact.ts';
import { pointTime } from '../../base/format.ts';
import { brief } from '../../parts/log-text.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type Answer, type Bucket, difference, numberOf, shownNumber, TIME } from './answer.ts';
import { before, groupingName, metricName, valueOfNone } from './panels.ts';
import { eventsOf } from './through.ts';

interface BucketsProps {
  answer: Answer;
  /** The first metric has bars. */
  hasBars: boolean;
  isRun: boolean;
}

/** The buckets of a top list or a table, a row each. */
export function Buckets({ answer, hasBars, isRun }: BucketsProps) {
  const columns = [
    ...groupColumns(answer, isRun),
    ...answer.metrics.flatMap((_, at) => metricColumns(answer, at, hasBars && at === 0)),
    ...(answer.groupings.length === 0 && !isRun ? [eventsColumn(answer)] : []),
  ];
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Buckets, table">
      <Table
        label="Buckets"
        columns={columns}
        rows={answer.buckets}
        keyOf={({ path }) => path.join('\n')}
      />
    </div>
  );
}

function groupColumns(answer: Answer, isRun: boolean): Column<Bucket>[] {
  const { groupings, zone } = answer;
  const last = groupings.length - 1;
  return groupings.map((id, at): Column<Bucket> => {
    const nameOf = ({ groups }: Bucket): string =>
      id === TIME
        ? pointTime(Date.parse(String(groups[at])), zone)
        : brief(textOf(groups[at])) || '""';
    return {
      ...{ name: groupingName(id), isHead: at === last },
      order: (bucket) => {
        const value = bucket.groups[at];
        return typeof value === 'number' ? value : nameOf(bucket);
      },
      cell: (bucket) =>
        at === last && !isRun ? (
          <a href={eventsOf(answer, bucket)}>{nameOf(bucket)}</a>
        ) : (
          nameOf(bucket)
        ),
    };
  });
}

function metricColumns(answer: Answer, metric: number, hasBar: boolean): Column<Bucket>[] {
  const id = answer.metrics[metric] ?? '';
  const name = metricName(id);
  const earlier = before.data.value;
  const none = valueOfNone(id);
  const valueIn = ({ metrics }: Bucket) => metrics[metric]?.[0];
  const largest = Math.max(...answer.buckets.map((bucket) => numberOf(valueIn(bucket)) ?? 0));
  const then = (bucket: Bucket) => earlier?.valuesOf(bucket, metric, none)?.[0];
  const own: Column<Bucket> = {
    ...{ name, class: hasBar ? 'number has-bar' : 'number' },
    order: (bucket) => numberOf(valueIn(bucket)) ?? Number.NEGATIVE_INFINITY,
    cell: (bucket) => (
      <>
        {hasBar && <Bar part={(numberOf(valueIn(bucket)) ?? 0) / largest} />}
        {shownNumber(valueIn(bucket))}
      </>
    ),
  };
  if (earlier === undefined) return [own];
  return [
    own,
    {
      ...{ name: `${name}, before`, class: 'number' },
      cell: (bucket) => shownNumber(then(bucket)),
    },
    {
      ...{ name: `${name}, difference`, class: 'number' },
      cell: (bucket) => difference(valueIn(bucket), then(bucket)),
    },
  ];
}

function Bar({ part }: { part: number }) {
  const width = Number.isFinite(part) ? Math.max(0, 100 * part) : 0;
  return <span class="bar" style={{ width: `${width}%` }} />;
}

/** The way to the events of an answer without groups. */
function eventsColumn(answer: Answer): Column<Bucket> {
  return {
    ...{ name: 'Events', isUnnamed: true },
    cell: () => <a href={eventsOf(answer)}>Explore the events</a>,
  };
}
