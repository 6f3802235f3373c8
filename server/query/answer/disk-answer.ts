import type { DiskBytesResult } from '../../../engine/engine.ts';

/** Attributes that are told by name. */
const ATTRIBUTES_TOLD = 100;

/** JSON text of what attributes take on the disk: of those that take most, and of all others together. */
export function diskText({ attributes, bytes, stats }: DiskBytesResult): string {
  const told = attributes.slice(0, ATTRIBUTES_TOLD);
  const sumOf = (some: DiskBytesResult['attributes']): number =>
    some.reduce((sum, each) => sum + each.bytes, 0);
  return JSON.stringify({
    bytes,
    attributes: told.map(({ path, bytes: own }) => ({ attribute: path, bytes: own })),
    other_attributes: {
      count: attributes.length - told.length,
      bytes: sumOf(attributes.slice(ATTRIBUTES_TOLD)),
    },
    rest_bytes: bytes - sumOf(attributes),
    ...(stats.blocksDamaged > 0 ? { damaged: { blocks: stats.blocksDamaged } } : {}),
  });
}
