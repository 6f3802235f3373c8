import type { Texts } from './peer.ts';
import { QUERIES as CLICKHOUSE } from './store/clickhouse.sql.ts';
import { QUERIES as DUCKDB } from './store/duckdb.sql.ts';
import { QUERIES as LOGSEAM } from './store/logseam.queries.ts';
import { QUERIES as LOKI } from './store/loki.logql.ts';
import { QUERIES as VICTORIALOGS } from './store/victorialogs.logsql.ts';

/** The stores that are measured in one run, Logseam among them. */

/** One of them. */
export interface PeerEntry {
  name: string;
  /** The module that exports `openPeer`. */
  module: string;
  texts: Texts<string | object>;
  /** The variable that must name a binary, where one is needed. */
  binary?: string;
}

function moduleOf(file: string): string {
  return new URL(file, import.meta.url).pathname;
}

/** All of them. An answer is compared with that of the first in this list that has one. */
export const PEERS: readonly PeerEntry[] = [
  { name: 'duckdb', module: moduleOf('store/duckdb.ts'), texts: DUCKDB },
  { name: 'clickhouse', module: moduleOf('store/clickhouse.ts'), texts: CLICKHOUSE },
  {
    name: 'victorialogs',
    module: moduleOf('store/victorialogs.ts'),
    texts: VICTORIALOGS,
    binary: 'VICTORIALOGS_BIN',
  },
  { name: 'loki', module: moduleOf('store/loki.ts'), texts: LOKI, binary: 'LOKI_BIN' },
  { name: 'logseam', module: moduleOf('store/logseam.ts'), texts: LOGSEAM },
];
