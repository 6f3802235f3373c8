import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import {
  type Answer,
  type Cell,
  type Parameters,
  type Part,
  type Peer,
  wordsFor,
} from '../peer.ts';
import { insertFrom, PREPARE, QUERIES, SETTLE } from './duckdb.sql.ts';
import { loadPackage } from './package.ts';

/** DuckDB in the worker's process, by its npm package. */

/** What is used of `@duckdb/node-api`. */
interface DuckDb {
  DuckDBInstance: { create(file: string, settings: Record<string, string>): Promise<Instance> };
}
interface Instance {
  connect(): Promise<Connection>;
  closeSync(): void;
}
interface Connection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<Reader>;
  closeSync(): void;
}
interface Reader {
  /** Values as JavaScript has them, 64-bit integers as bigint. */
  getRowsJS(): unknown[][];
}

/** Opens a database file in `folder`. */
export async function openPeer(folder: string): Promise<Peer> {
  const { DuckDBInstance } = (await loadPackage('@duckdb/node-api')) as DuckDb;
  const threads = String(availableParallelism());
  const instance = await DuckDBInstance.create(join(folder, 'logs.duckdb'), { threads });
  const connection = await instance.connect();
  for (const statement of PREPARE) await connection.run(statement);
  const [[version]] = await rowsOf(connection, 'SELECT version()');
  return {
    version: String(version),
    settings: [`threads=${threads}`, 'TimeZone=UTC'],
    pid: process.pid,
    load: async (part: Part) => {
      await connection.run(insertFrom(part.file));
    },
    settle: async (events: number) => {
      for (const statement of SETTLE) await connection.run(statement);
      const [[count]] = await rowsOf(connection, 'SELECT count(*) FROM logs');
      if (count !== events) throw new Error(`${count} events are there, not ${events}`);
    },
    ask: (question, parameters) => ask(connection, question, parameters),
    ownMs: (question, parameters) => ownMs(connection, question, parameters),
    close: async () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function ask(
  connection: Connection,
  question: string,
  parameters: Parameters,
): Promise<Answer> {
  const sql = wordsFor(QUERIES, question, parameters);
  const started = performance.now();
  const reader = await connection.runAndReadAll(sql);
  const ms = performance.now() - started;
  return { rows: reader.getRowsJS().map((row) => row.map(cell)), ms };
}

/** The `latency` of EXPLAIN ANALYZE, which is in seconds. */
async function ownMs(
  connection: Connection,
  question: string,
  parameters: Parameters,
): Promise<number> {
  const sql = wordsFor(QUERIES, question, parameters);
  const [row] = await rowsOf(connection, `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`);
  const { latency }: { latency: number } = JSON.parse(String(row.at(-1)));
  return latency * 1000;
}

async function rowsOf(connection: Connection, sql: string): Promise<Cell[][]> {
  const reader = await connection.runAndReadAll(sql);
  return reader.getRowsJS().map((row) => row.map(cell));
}

function cell(value: unknown): Cell {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean')
    return value;
  return null;
}
