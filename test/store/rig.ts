import { Kind } from '../../engine/column/kind.ts';
import { PATH_CUSTOM, PATH_MESSAGE, PathTable } from '../../engine/column/path.ts';
import { Rows } from '../../engine/column/rows.ts';
import { openBlock } from '../../engine/segment/block/block.ts';
import { verifyBlock } from '../../engine/segment/block/verify-block.ts';
import { isHole } from '../../engine/segment/frame.ts';
import { type OpenedCatalog, openCatalog } from '../../engine/store/catalog.ts';
import { segmentPath } from '../../engine/store/filename.ts';
import type { CommittedGroup } from '../../engine/store/log-file.ts';
import { makeSequences, Sequences } from '../../engine/store/sequences.ts';
import type { KeyUsage } from '../../engine/store/usage.ts';
import { Writer, type WriterOptions } from '../../engine/store/writer.ts';
import type { MemoryDisk } from '../support/memory-disk.ts';

/** The UTC day of all usage here. */
export const DAY = 20_000;
const encoder = new TextEncoder();

/** The start of another process: the one before has ended. */
export function openStore(disk: MemoryDisk): Promise<OpenedCatalog> {
  disk.end();
  return openCatalog({ disk, nowMs: 1_000, verifyBlock });
}

/** Texts by id of all rows that a query would see; throws when an id is there twice. */
export function visibleTexts(disk: MemoryDisk, opened: OpenedCatalog): Map<string, string> {
  const rows = new Map<string, string>();
  for (const ref of opened.catalog.snapshot().blocks) {
    if (isHole(ref)) continue;
    const file = disk.open(segmentPath(ref.segment), 'read');
    const block = openBlock(file, ref);
    const { sequences } = block.keys();
    for (let row = 0; row < ref.rowCount; row++) {
      const id = `${ref.writer}.${sequences[row]}`;
      if (rows.has(id)) throw new Error(`row ${id} is there twice`);
      rows.set(id, JSON.parse(block.eventText(row)).message);
    }
    file.close();
  }
  return rows;
}

type SegmentLimits = Pick<
  WriterOptions,
  'segmentRowsMax' | 'segmentBytesMax' | 'segmentIdleMs' | 'roomBytes' | 'waitFor'
>;

/** A writer, the front thread that it talks to, and a clock. */
export class Rig {
  readonly disk: MemoryDisk;
  readonly opened: OpenedCatalog;
  readonly writer: Writer;
  readonly sequences: Sequences;
  readonly groups: CommittedGroup[] = [];
  nowMs = 1_000_000;
  /** Makes `committed` reject once. */
  refuseGroup = false;
  #paths = new PathTable();

  constructor(disk: MemoryDisk, opened: OpenedCatalog, limits: SegmentLimits = {}) {
    this.disk = disk;
    this.opened = opened;
    const { manifest, catalog } = opened;
    this.sequences = new Sequences(makeSequences(4, catalog.end));
    this.writer = new Writer({
      disk,
      writer: 3,
      folderId: manifest.folderId,
      paths: this.#paths,
      sequences: this.sequences,
      allocate: async () => manifest.reserve(),
      begun: (segment) => manifest.begin(segment, 3),
      closed: (segment, bytes, sequence) => manifest.close(segment, bytes, sequence),
      committed: async (group) => {
        if (this.refuseGroup) {
          this.refuseGroup = false;
          throw new Error('refused');
        }
        this.groups.push(structuredClone(group));
        catalog.apply(group);
      },
      nowMs: () => this.nowMs,
      monotonicMs: () => this.nowMs,
      ...limits,
    });
  }

  static async open(disk: MemoryDisk, limits: SegmentLimits = {}): Promise<Rig> {
    return new Rig(disk, await openStore(disk), limits);
  }

  /** Row records of events `{message: "<name>.<row>", n: row}`. */
  rows(name: string, count: number): Rows {
    const rows = new Rows();
    rows.reset(new Uint8Array(0), this.nowMs);
    const n = encoder.encode('n');
    const path = this.#paths.intern(PATH_CUSTOM, n, 0, n.length);
    for (let row = 0; row < count; row++) {
      const text = encoder.encode(`${name}.${row}`);
      rows.add(PATH_MESSAGE, Kind.STRING, rows.addSide(text), text.length, 0, 0);
      const digits = encoder.encode(String(row));
      rows.add(path, Kind.NUMBER, rows.addSide(digits), digits.length, row, 0);
      rows.endRow(this.nowMs + row);
    }
    return rows;
  }

  append(name: string, count: number, urgent = true, senders = 1): Promise<void> {
    const usage: KeyUsage[] = [{ key: 'key', day: DAY, bytes: count * 10, events: count }];
    return this.writer.append(this.rows(name, count), usage, { urgent, senders });
  }

  replacePaths(): void {
    this.#paths = new PathTable();
    this.writer.replacePaths(this.#paths);
  }

  /** How many rows of each request a query would see now. */
  shown(): Map<string, number> {
    return countRequests(visibleTexts(this.disk, this.opened));
  }
}

/** Rows of each request among `texts`; throws when one is there twice. */
export function countRequests(texts: Map<string, string>): Map<string, number> {
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  for (const text of texts.values()) {
    if (seen.has(text)) throw new Error(`${text} is there twice`);
    seen.add(text);
    const name = text.slice(0, text.lastIndexOf('.'));
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
