import { type SealOptions, type SealResult, sealBlocks } from '../segment/seal/seal.ts';
import { pathOfSegment } from './filename.ts';

/** Rewrites the blocks of whole segments as sealed segments; see `sealBlocks`. For a thread of its own. */
export function rewriteBlocks(options: Omit<SealOptions, 'pathOf'>): Promise<SealResult> {
  return sealBlocks({ ...options, pathOf: pathOfSegment });
}
