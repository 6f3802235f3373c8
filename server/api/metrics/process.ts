import { openDescriptors } from '../../../engine/base/text-file.ts';
import type { LoopWatch } from '../../../engine/base/thread/loop-watch.ts';
import { type Exposition, type Labels, one } from './exposition.ts';

/** The threads of a kind, by number; `undefined` for one that is not there. */
export type Loops = readonly (LoopWatch | undefined)[];

/** Facts about the process that come from elsewhere. */
export interface ProcessSources {
  version: string;
  ready(): boolean;
  /** Descriptors that the process may have. */
  descriptorsMax: number;
  /** Lag of the event loops of all threads and their memory, by kind. */
  loops(): Readonly<Record<'front' | 'ingest' | 'query' | 'merge', Loops>>;
  /** Workers that were put in the place of dead ones, by kind. */
  restarts(): Readonly<Record<'ingest' | 'query', number>>;
  /** The end of the validity of the certificate of TLS and HTTPS, milliseconds; `undefined` when there is none. */
  certificateEndMs(): number | undefined;
}

const MICROSECONDS = 1_000_000;

/** Writes what is known of the process and its threads. */
export function writeProcess(text: Exposition, sources: ProcessSources): void {
  text.gauge('logseam_info', 'What runs.', [[{ version: sources.version }, 1]]);
  text.gauge('logseam_ready', 'Whether /readyz answers 200.', one(sources.ready() ? 1 : 0));
  writeThreads(text, sources);
  const endMs = sources.certificateEndMs();
  text.gauge(
    'logseam_certificate_end_seconds',
    'End of the validity of the certificate, in seconds since 1970.',
    endMs === undefined ? [] : one(endMs / 1_000),
  );
  const { user, system } = process.cpuUsage();
  text.counter(
    'process_cpu_seconds_total',
    'CPU time of all threads.',
    one((user + system) / MICROSECONDS),
  );
  text.gauge('process_resident_memory_bytes', 'Resident memory.', one(process.memoryUsage.rss()));
  text.gauge('process_open_fds', 'Open files and sockets.', one(openDescriptors()));
  text.gauge('process_max_fds', 'How many of them there may be.', one(sources.descriptorsMax));
  text.gauge(
    'process_start_time_seconds',
    'Start of the process, in seconds since 1970.',
    one(performance.timeOrigin / 1_000),
  );
}

function writeThreads(text: Exposition, sources: ProcessSources): void {
  const loops = sources.loops();
  const up = (kind: 'ingest' | 'query'): [Labels, number] => [
    { kind },
    loops[kind].filter((loop) => loop !== undefined).length,
  ];
  text.gauge('logseam_workers_up', 'Worker threads that are there.', [up('ingest'), up('query')]);
  text.counter(
    'logseam_worker_restarts_total',
    'Workers put in the place of dead ones.',
    Object.entries(sources.restarts()).map(([kind, count]) => [{ kind }, count]),
  );
  const there = Object.entries(loops).flatMap(([kind, threads]) =>
    threads.flatMap((loop, worker) =>
      loop === undefined ? [] : [{ loop, labels: { kind, worker: String(worker) } }],
    ),
  );
  text.gauge(
    'logseam_event_loop_lag_seconds',
    'The most that the event loop of a thread was late in the last 15 to 30 seconds.',
    there.map(({ loop, labels }) => [labels, loop.lagMs / 1_000]),
  );
  text.gauge(
    'logseam_thread_memory_bytes',
    'Memory that a thread has of its own.',
    there.flatMap(({ loop, labels }) =>
      Object.entries(loop.memory).map(([of, bytes]): [Labels, number] => [
        { ...labels, of },
        bytes,
      ]),
    ),
  );
}
