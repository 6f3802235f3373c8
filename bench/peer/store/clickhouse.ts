import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Answer,
  type Cell,
  type Parameters,
  type Part,
  type Peer,
  timed,
  wordsFor,
} from '../peer.ts';
import { insertFrom, MERGES, QUERIES, SCHEMA } from './clickhouse.sql.ts';
import { loadPackage } from './package.ts';

/** ClickHouse in the worker's process, by chDB, its npm package. */

const POLL_MS = 200;
/** A merge may follow the one before it: so many times in a row there must be none. */
const QUIET_POLLS = 10;

/** Parts of `chdb` that are used. */
interface Chdb {
  Session: new (folder: string, options: { connectionArgs: readonly string[] }) => Session;
}
interface Session {
  queryAsync(sql: string, options: { format: string }): Promise<Result>;
  close(): void;
}
interface Result {
  /** Seconds. */
  readonly elapsed: number;
  text(): string;
}

/** Opens a data folder in `folder`. */
export async function openPeer(folder: string): Promise<Peer> {
  const { Session } = (await loadPackage('chdb')) as Chdb;
  const settings = [
    `--max_threads=${availableParallelism()}`,
    // Nothing is kept of a question, in no store.
    '--use_query_condition_cache=0',
  ];
  const session = new Session(join(folder, 'data'), { connectionArgs: settings });
  const one = async (sql: string): Promise<Cell> => {
    const [[value]] = rowsOf(await run(session, sql));
    return value;
  };
  await run(session, SCHEMA);
  return {
    version: String(await one('SELECT version()')),
    settings,
    pid: process.pid,
    load: (part: Part) => timed(() => run(session, insertFrom(part.file))),
    settle: async (events: number) => {
      for (let quiet = 0; quiet < QUIET_POLLS; ) {
        quiet = (await one(MERGES)) === 0 ? quiet + 1 : 0;
        await pause(POLL_MS);
      }
      const count = await one('SELECT count() FROM logs');
      if (count !== events) throw new Error(`${count} events are there, not ${events}`);
    },
    ask: (question, parameters) => ask(session, question, parameters),
    clocks: async (question, parameters) => {
      const sql = wordsFor(QUERIES, question, parameters);
      const started = performance.now();
      const { elapsed } = await run(session, sql);
      return { ms: performance.now() - started, ownMs: elapsed * 1000 };
    },
    close: async () => session.close(),
  };
}

function run(session: Session, sql: string): Promise<Result> {
  return session.queryAsync(sql, { format: 'JSONCompactEachRow' });
}

async function ask(session: Session, question: string, parameters: Parameters): Promise<Answer> {
  const sql = wordsFor(QUERIES, question, parameters);
  const started = performance.now();
  const result = await run(session, sql);
  const ms = performance.now() - started;
  return { rows: rowsOf(result), ms };
}

function rowsOf(result: Result): Cell[][] {
  const lines = result.text().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}
