// biome-ignore format: a name a line would be a page.
import {
  lineNode, NODE_OPENED, NODE_SIMPLE, nodeField, openedPath, PATH_MESSAGE, PATH_ROOT,
  PATH_USED, PATHS, parentOf, SLOT_PATH, setUsed, slotField, usedIn,
} from './memory.as.ts';

/**
 * The order of a row's leaves, as `ObjectReader` and `LeafOrder` find it: here it is found for rows whose leaves are in
 * order as they stand in their line. Others, and paths with roles of their own, are for TypeScript.
 */

/** Twice the number of rows that were looked at: a leaf of this row is used in it, an object in one more. */
let stamp: u32 = 0;

/** Opens the objects that lie around a leaf, up to one that is open; false when one was closed, or is a leaf. */
function opens(parent: u32, before: u32): bool {
  for (let path = parent; path !== PATH_ROOT; path = parentOf(path)) {
    const used = usedIn(path);
    if (used === stamp) return false;
    if (used > stamp) return isInside(before, path);
    setUsed(path, stamp + 1);
  }
  return true;
}

/** Reports whether a path is an object or lies inside of it. */
function isInside(path: u32, object: u32): bool {
  let at = path;
  while (at !== PATH_ROOT && at !== object) at = parentOf(at);
  return at === object;
}

/** Reports whether one of the objects that a literal opens was there before. */
function isOpenedAgain(opened: u32): bool {
  if (opened === 0) return false;
  const end = opened + 1 + openedPath(opened);
  for (let at = opened + 1; at < end; at++) {
    if (usedIn(openedPath(at)) >= stamp) return true;
  }
  return false;
}

/** Reports whether the leaves of the first `count` slots are in order, and none comes twice or is an object too. */
export function isInOrder(count: u32): bool {
  stamp += 2;
  if (stamp === 0xfffffffe) {
    memory.fill(PATH_USED, 0, 4 * PATHS);
    stamp = 2;
  }
  let before = PATH_ROOT;
  for (let slot: u32 = 0; slot < count; slot++) {
    const node = lineNode(slot);
    if (nodeField(node, NODE_SIMPLE) === 0 || isOpenedAgain(nodeField(node, NODE_OPENED)))
      return false;
    const path = slotField(slot, SLOT_PATH);
    if (usedIn(path) >= stamp) return false;
    if (path !== PATH_MESSAGE) {
      const parent = parentOf(path);
      if (parent !== before && !opens(parent, before)) return false;
      before = parent;
    }
    setUsed(path, stamp);
  }
  return true;
}
