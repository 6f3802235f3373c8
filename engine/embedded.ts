import type { Disk } from './base/file.ts';
import type { PathTable } from './column/path.ts';
import type { Rows } from './column/rows.ts';
import { openReader, openWriter, type RowWriter, type Store, type UnitReader } from './engine.ts';
import type {
  AggregateQuery,
  AggregateResult,
  FetchQuery,
  ListedEvent,
  ListQuery,
  ListResult,
} from './query/model/query.ts';
import { type OpenedCatalog, openCatalog } from './store/catalog.ts';
import { makeSequences, Sequences } from './store/sequences.ts';
import type { KeyUsage } from './store/usage.ts';

const WRITER = 0;

/**
 * The whole engine in one thread: for tests, benches and small tools. The service spreads the same parts over threads.
 */
class EmbeddedStore implements Store {
  readonly #opened: OpenedCatalog;
  readonly #writer: RowWriter;
  readonly #reader: UnitReader;

  constructor(opened: OpenedCatalog, writer: RowWriter, reader: UnitReader) {
    this.#opened = opened;
    this.#writer = writer;
    this.#reader = reader;
  }

  append(rows: Rows, usage: readonly KeyUsage[]): Promise<void> {
    return this.#writer.append(rows, usage);
  }

  async list(query: ListQuery): Promise<ListResult> {
    return finish(this.#reader.list(this.#opened.catalog.snapshot(), query));
  }

  async fetch(query: FetchQuery): Promise<ListedEvent | undefined> {
    return finish(this.#reader.fetch(this.#opened.catalog.snapshot(), query));
  }

  async aggregate(query: AggregateQuery): Promise<AggregateResult> {
    return finish(this.#reader.aggregate(this.#opened.catalog.snapshot(), query));
  }

  async close(): Promise<void> {
    await this.#writer.close();
    this.#reader.close();
    await this.#opened.manifest.release();
  }
}

/** Runs all units of a query. */
function finish<Result>(units: Generator<unknown, Result, void>): Result {
  for (;;) {
    const { done, value } = units.next();
    if (done === true) return value;
  }
}

/**
 * Opens the store in a folder that nobody else has. `paths` is the table that the rows' paths are numbers of.
 * Rejects as `openCatalog`.
 */
export async function openStore(disk: Disk, paths: PathTable, nowMs = Date.now): Promise<Store> {
  const opened = await openCatalog({ disk, nowMs: nowMs() });
  const { manifest, catalog } = opened;
  const writer = openWriter({
    disk,
    writer: WRITER,
    folderId: manifest.folderId,
    paths,
    sequences: new Sequences(makeSequences(1, catalog.end)),
    allocate: async () => manifest.reserve(),
    begun: (segment) => manifest.begin(segment, WRITER),
    closed: (segment, bytes, sequence) => manifest.close(segment, bytes, sequence),
    committed: async (group) => catalog.apply(group),
    nowMs,
    monotonicMs: () => performance.now(),
  });
  return new EmbeddedStore(opened, writer, openReader(disk, manifest.secret));
}
