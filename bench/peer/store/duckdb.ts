import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import {
  type Answer,
  type Cell,
  type Clocks,
  type Parameters,
  type Part,
  type Peer,
  timed,
  wordsFor,
} from '../peer.ts';
import { insertFrom, PREPARE, PROFILE_END, profileTo, QUERIES, SETTLE } from './duckdb.sql.ts';
import { loadPackage } from './package.ts';

/** DuckDB in the worker's process, by its npm package. */

/** Parts of `@duckdb/node-api` that are used. */
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
    load: (part: Part) => timed(() => connection.run(insertFrom(part.file))),
    settle: async (events: number) => {
      for (const statement of SETTLE) await connection.run(statement);
      const [[count]] = await rowsOf(connection, 'SELECT count(*) FROM logs');
      if (count !== events) throw new Error(`${count} events are there, not ${events}`);
    },
    ask: (question, parameters) => ask(connection, question, parameters),
    clocks: (question, parameters) => clocks(connection, folder, question, parameters),
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

/** A run under the profiler, whose `latency` is in seconds. */
async function clocks(
  connection: Connection,
  folder: string,
  question: string,
  parameters: Parameters,
): Promise<Clocks> {
  const file = join(folder, 'profile.json');
  for (const statement of profileTo(file)) await connection.run(statement);
  const { ms } = await ask(connection, question, parameters);
  const { latency }: { latency: number } = JSON.parse(readFileSync(file, 'utf8'));
  await connection.run(PROFILE_END);
  return { ms, ownMs: latency * 1000 };
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
