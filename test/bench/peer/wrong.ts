import type { Peer } from '../../../bench/peer/peer.ts';
import { openPeer as openFailing } from './failing.ts';

/** A peer for tests: it miscounts. */

export async function openPeer(): Promise<Peer> {
  process.env['FAILING_PEER'] = 'differ';
  return openFailing();
}
