import { type ManifestRecord, refuseRecord, type SealedEntry } from './manifest-record.ts';
import type { KeptRetention, RetentionPolicy } from './retention.ts';
import { type KeyUsage, UsageSum } from './usage.ts';

/** Content of a closed segment: frames up to `bytes`, rows with sequences below `sequence`. */
export interface Closing {
  bytes: number;
  sequence: number;
  /** Ordinals of blocks whose regions were found damaged when the segment was recovered. */
  damaged: number[];
}

/** The manifest's entry of a log segment. `closed` is absent while the writer may append. */
export interface SegmentEntry {
  writer: number;
  closed?: Closing;
}

/** Days whose usage is kept: the last 30 are among them, also when the clock has been wrong. */
const USAGE_DAYS = 32;

/**
 * State that the records of a manifest add up to, applied one after the other. Owned by its manifest. Source:
 * FORMAT.md 6.
 */
export class ManifestState {
  /** Log segments by number, in their order. */
  readonly segments = new Map<number, SegmentEntry>();
  /** Sealed segments by number. */
  readonly sealed = new Map<number, SealedEntry>();
  /** Above all rows of segments that were closed, those that are gone included. */
  sequence = 0;
  /** Usage by segments that are gone. */
  readonly usage = new UsageSum();
  /** Segments that were there and are gone. */
  readonly gone = new Set<number>();
  /** Set once the registries beside the manifest were made. */
  hasRegistries = false;
  retention: KeptRetention = { ageMaxMs: 0, waitedMs: 0 };
  /** The policy in place of the configured one. */
  policy: RetentionPolicy | undefined;
  lastSegment = 0;

  /** Takes record `number`. Throws CORRUPTION when it cannot follow the ones before. */
  apply(record: ManifestRecord, number: number): void {
    if ((record.type === 'store') !== (number === 0)) {
      refuseRecord(number, `${record.type} record`);
    }
    switch (record.type) {
      case 'store':
        return;
      case 'summary':
        this.lastSegment = Math.max(this.lastSegment, record.lastSegment);
        this.sequence = Math.max(this.sequence, record.sequence);
        this.#use(record.usage);
        return;
      case 'segment': {
        const { segment, writer } = record;
        this.#take(segment, number);
        this.segments.set(segment, { writer });
        return;
      }
      case 'closed':
        this.#close(record, number);
        return;
      case 'sealed':
        for (const source of record.sources) this.#drop(source, number);
        for (const { segment, ...entry } of record.segments) {
          this.#take(segment, number);
          this.sealed.set(segment, entry);
        }
        this.#use(record.usage);
        return;
      case 'registries':
        this.hasRegistries = true;
        return;
      case 'retention':
        this.retention = { ageMaxMs: record.ageMaxMs, waitedMs: record.waitedMs };
        return;
      case 'policy':
        this.policy = record.policy;
        return;
      default:
        for (const segment of record.segments) this.#drop(segment, number);
        this.#use(record.usage);
    }
  }

  /** The fewest records, behind the first one, that come to the same. Usage of older days is left out. */
  records(): ManifestRecord[] {
    const { lastSegment, sequence } = this;
    const usage = this.usage.list();
    const records: ManifestRecord[] = [{ type: 'summary', lastSegment, sequence, usage }];
    if (this.hasRegistries) records.push({ type: 'registries' });
    if (this.retention.ageMaxMs > 0) records.push({ type: 'retention', ...this.retention });
    if (this.policy !== undefined) records.push({ type: 'policy', policy: this.policy });
    for (const [segment, { writer, closed }] of this.segments) {
      records.push({ type: 'segment', segment, writer });
      if (closed !== undefined) records.push({ type: 'closed', segment, ...closed });
    }
    for (const [segment, entry] of this.sealed) {
      records.push({ type: 'sealed', sources: [], segments: [{ segment, ...entry }], usage: [] });
    }
    return records;
  }

  #use(usage: readonly KeyUsage[]): void {
    this.usage.addAll(usage);
    this.usage.keepDays(USAGE_DAYS);
  }

  #take(segment: number, number: number): void {
    if (this.segments.has(segment) || this.sealed.has(segment)) {
      refuseRecord(number, `segment ${segment} a second time`);
    }
    this.lastSegment = Math.max(this.lastSegment, segment);
  }

  #close(record: Extract<ManifestRecord, { type: 'closed' }>, number: number): void {
    const { segment, bytes, sequence, damaged } = record;
    const entry = this.segments.get(segment);
    if (entry === undefined) refuseRecord(number, `segment ${segment} is not known`);
    entry.closed = { bytes, sequence, damaged };
    this.sequence = Math.max(this.sequence, sequence);
  }

  #drop(segment: number, number: number): void {
    const entry = this.segments.get(segment);
    const known = entry === undefined ? this.sealed.has(segment) : entry.closed !== undefined;
    if (!known) refuseRecord(number, `segment ${segment} is not known, or not closed`);
    this.segments.delete(segment);
    this.sealed.delete(segment);
    this.gone.add(segment);
  }
}
