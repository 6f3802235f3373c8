import type { Keys } from '../../registry/keys.ts';
import { dayOf, type UsageCells } from '../../registry/usage.ts';
import type { Exposition, Labels } from './exposition.ts';

/** Quota of a write key and its use. */
export interface KeyQuota {
  id: string;
  name: string;
  /** On the UTC day of now, as quotas count it. */
  usedBytes: number;
  /** `undefined` without a quota. */
  quotaBytes: number | undefined;
}

/** The use of the write keys that have a quota or were used. */
export function quotasOf(
  keys: Pick<Keys, 'list'>,
  cells: Pick<UsageCells, 'usedBytes' | 'quotaBytes'>,
  nowMs: number,
): KeyQuota[] {
  const day = dayOf(nowMs);
  return keys.list('write').flatMap(({ id, name, cell }) => {
    const quotaBytes = cells.quotaBytes(cell);
    const usedBytes = cells.usedBytes(cell, day);
    if (quotaBytes < 0 && usedBytes === 0) return [];
    return [{ id, name, usedBytes, quotaBytes: quotaBytes < 0 ? undefined : quotaBytes }];
  });
}

/** Writes the use of write keys. */
export function writeQuotas(text: Exposition, quotas: readonly KeyQuota[]): void {
  const labels = ({ id, name }: KeyQuota): Labels => ({ key: name, key_id: id });
  text.gauge(
    'logseam_quota_used_bytes',
    'Bytes that a write key has brought on this UTC day, as quotas count them.',
    quotas.map((quota) => [labels(quota), quota.usedBytes]),
  );
  text.gauge(
    'logseam_quota_bytes',
    'The daily quota of a write key that has one.',
    quotas.flatMap((quota) =>
      quota.quotaBytes === undefined ? [] : [[labels(quota), quota.quotaBytes]],
    ),
  );
}
