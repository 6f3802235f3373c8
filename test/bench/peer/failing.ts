import type { Peer } from '../../../bench/peer/peer.ts';

/** A peer for tests: how it fails is in the variable FAILING_PEER. */

/** Opens it, unless it is to fail at that. */
export async function openPeer(): Promise<Peer> {
  const how = process.env['FAILING_PEER'];
  if (how === 'open') throw new Error('no such library\nand more lines');
  let loads = 0;
  return {
    version: '1',
    settings: ['none'],
    pid: process.pid,
    load: async () => {
      if (how === 'load') process.kill(process.pid, 'SIGSEGV');
      if (how === 'second load' && ++loads === 2) throw new Error('no room');
      return 1;
    },
    settle: async () => {
      if (how === 'settle') throw new Error('7 events are there, not 10');
    },
    ask: async (question) => {
      if (how === 'ask' && question === 'top 10 URLs') throw new Error('too many groups');
      if (how === 'exit' && question === 'top 10 URLs') process.exit(3);
      return { rows: [[how === 'differ' && question === 'count of all' ? 9 : 10]], ms: 1 };
    },
    close: async () => {},
  };
}
