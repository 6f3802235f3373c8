import { diskFailureOf } from '../../engine/base/disk-watch.ts';
import { DAY_MS, MINUTE_MS } from '../../engine/base/durations.ts';
import { type Disk, diskSpace } from '../../engine/base/file.ts';
import type { LoopWatch } from '../../engine/base/thread/loop-watch.ts';
import type { OpenedCatalog } from '../../engine/store/catalog.ts';
import {
  Compaction,
  type CompactionEvent,
  type CompactionGauges,
} from '../../engine/store/compaction.ts';
import { type FileChange, FileWatch } from '../../engine/store/file-watch.ts';
import type { PlannedDrops, RetentionPolicy } from '../../engine/store/retention.ts';
import type { Config } from '../config.ts';
import type { DiskHealth } from '../disk-health.ts';
import type { Log } from '../log.ts';
import { Merger } from './merger.ts';

const TICK_MS = 1_000;
const MEGABYTE_BYTES = 1_000_000;
const GIGABYTE_BYTES = 1_000_000_000;

/** Dependencies of compaction on the front thread. */
export interface CompactionServiceOptions {
  config: Pick<
    Config,
    | 'data'
    | 'sealRows'
    | 'sealIdleMinutes'
    | 'retentionDays'
    | 'retentionGb'
    | 'retentionFreeGb'
    | 'diskReserveMb'
  >;
  /** Threads that seal at once, at most. */
  sealWorkers: number;
  disk: Disk;
  health: Pick<DiskHealth, 'fail' | 'tick' | 'settled'>;
  opened: OpenedCatalog;
  nowMs: () => number;
  /** Milliseconds of a clock that runs with the process and does not jump. */
  monotonicMs: () => number;
  log: Log;
  /** These segments are gone, and no query reads them any more. */
  forget: (segments: readonly number[]) => void;
  /** Is called when free disk falls below the reserve, and when it is enough again. */
  full: (full: boolean) => void;
  /** The module with the merge worker's `start`; another one in tests. */
  mergeEntry?: URL;
}

/** Keeps the store in order while the service runs: seals, merges, drops, and watches the free disk. */
export class CompactionService {
  readonly #compaction: Compaction;
  readonly #merger: Merger;
  /** The retention of the configuration. */
  readonly #configured: RetentionPolicy;
  readonly #files: FileWatch;
  readonly #health: CompactionServiceOptions['health'];
  readonly #opened: OpenedCatalog;
  readonly #timer: NodeJS.Timeout;

  constructor(options: CompactionServiceOptions) {
    const { config, sealWorkers, disk, health, opened, nowMs, monotonicMs } = options;
    const { log, forget, full, mergeEntry } = options;
    this.#merger = new Merger(sealWorkers, {
      root: config.data,
      folderId: opened.manifest.folderId,
      seed: opened.manifest.entrySeed,
      ...(mergeEntry === undefined ? {} : { entry: mergeEntry }),
    });
    this.#configured = {
      ageMaxMs: scaled(config.retentionDays, DAY_MS),
      bytesMax: scaled(config.retentionGb, GIGABYTE_BYTES),
      freeBytesMin: scaled(config.retentionFreeGb, GIGABYTE_BYTES),
    };
    this.#compaction = new Compaction({
      disk,
      opened,
      merge: (job, allocate) => this.#merger.run(job, allocate),
      mergesMax: sealWorkers,
      space: () => diskSpace(config.data),
      nowMs,
      monotonicMs,
      policy: {
        sealRows: config.sealRows,
        idleMs: config.sealIdleMinutes * MINUTE_MS,
        mergeRows: config.sealRows,
      },
      retention: this.#configured,
      reserveBytes: scaled(config.diskReserveMb, MEGABYTE_BYTES),
      unlinked: (files) => forget(files.map(({ segment }) => segment)),
      tell: (event) => {
        report(log, event);
        if (event.type === 'mergeFailed') {
          const failure = diskFailureOf(event.error, 'write', 'sealed');
          if (failure !== undefined) health.fail(failure);
        }
        if (event.type === 'full') full(event.full);
        // What has piled up is not merged one a second.
        else if (event.type === 'merged') setImmediate(() => this.#compaction.tick());
      },
    });
    this.#files = new FileWatch(disk, opened, (change) => reportFile(log, change));
    this.#opened = opened;
    this.#health = health;
    this.#timer = setInterval(() => {
      health.tick();
      try {
        this.#files.tick();
      } catch (error) {
        report(log, { type: 'failed', error });
      }
      this.#compaction.tick();
    }, TICK_MS);
  }

  /** Keeps the files that the snapshots of this moment name; the function that is returned ends that. */
  pin(): () => void {
    return this.#compaction.pin();
  }

  /** Is set while free disk is below the reserve. */
  get full(): boolean {
    return this.#compaction.full;
  }

  /** Number of segments that lost rows. */
  get damagedCount(): number {
    return this.#opened.catalog.damagedCount;
  }

  /** Number of those whose files are missing or cut. */
  get missingCount(): number {
    return this.#files.missingCount;
  }

  /** Lag of the merge threads' event loops; `undefined` for those that are not there. */
  get loops(): readonly (LoopWatch | undefined)[] {
    return this.#merger.loops;
  }

  /** The retention in force. */
  get retention(): RetentionPolicy {
    return this.#compaction.retention.policy;
  }

  /** Puts a retention, durably, in the place of the configured one, or none. Rejects with IO. */
  async setRetention(policy: RetentionPolicy | undefined): Promise<void> {
    await this.#opened.manifest.keepPolicy(policy);
    this.#compaction.retention.policy = policy ?? this.#configured;
  }

  /** The drops that a retention would bring to what is closed and sealed now. */
  planRetention(policy: RetentionPolicy): PlannedDrops {
    return this.#compaction.retention.plan(policy, this.#compaction.toRetain());
  }

  gauges(): CompactionGauges {
    return this.#compaction.gauges();
  }

  /** Stops the merges that run and begins nothing more; resolves when the manifest may be let go of. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#merger.close();
    await this.#compaction.close();
    await this.#health.settled();
  }
}

function scaled(value: number | undefined, unit: number): number | undefined {
  return value === undefined ? undefined : value * unit;
}

function reportFile(log: Log, { lost, ...fields }: FileChange): void {
  if (lost) log.error('the file of a segment is missing or cut, answers are partial', fields);
  else log.info('the file of a segment has all its bytes again', fields);
}

function report(log: Log, event: CompactionEvent): void {
  const { type, ...fields } = event;
  switch (type) {
    case 'merged':
      log.info('segments were sealed', fields);
      break;
    case 'dropped':
      log.info('segments are past their retention and were dropped', fields);
      break;
    case 'dropWaits':
      log.error(
        'much has become too old at once and is dropped later; is the clock right?',
        fields,
      );
      break;
    case 'dropCalledOff':
      log.info('nothing much is too old any more, what waited to be dropped stays', fields);
      break;
    case 'mergeFailed':
      log.error('segments could not be sealed and are tried again, fewer at a time', fields);
      break;
    case 'heldBack':
      log.error('segments are damaged and stay as they are', fields);
      break;
    case 'full':
      if (event.full) log.error('the free disk is below the reserve, nothing is taken in', fields);
      else log.info('there is free disk again, events are taken in', fields);
      break;
    default:
      log.error('the store could not be kept in order', fields);
  }
}
