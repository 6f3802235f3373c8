import type { Predicate } from '../../engine/query/model/predicate.ts';

/** A tag of a tagset. */
export interface Tag {
  id: string;
  predicate: Predicate;
}

/** Holds when all `children` do; constants are folded, a single child stands for itself. */
export function allOf(children: readonly Predicate[]): Predicate {
  if (children.some((child) => child.type === 'none')) return { type: 'none' };
  const rest = children.filter((child) => child.type !== 'all');
  if (rest.length === 0) return { type: 'all' };
  return rest.length === 1 ? rest[0] : { type: 'and', children: rest };
}

/** Holds when one of `children` does; constants are folded, a single child stands for itself. */
export function anyOf(children: readonly Predicate[]): Predicate {
  if (children.some((child) => child.type === 'all')) return { type: 'all' };
  const rest = children.filter((child) => child.type !== 'none');
  if (rest.length === 0) return { type: 'none' };
  return rest.length === 1 ? rest[0] : { type: 'or', children: rest };
}

/** Holds when `child` does not; constants and double negations are folded. */
export function negated(child: Predicate): Predicate {
  if (child.type === 'all') return { type: 'none' };
  if (child.type === 'none') return { type: 'all' };
  return child.type === 'not' ? child.child : { type: 'not', child };
}

/**
 * Recognises an attribute path as request bodies write it: `custom.<name>`, `syslog.<name>` or `message`. Source:
 * INTERFACE.md 10.
 */
export function isAttributePath(id: string): boolean {
  return id === 'message' || /^(?:custom|syslog)\../s.test(id);
}

/**
 * The paths that an attribute name of the search bar may mean: `@x` is `custom.@x` or `custom.x`; paths of request
 * bodies stand for themselves, after `@` too; anything else is below `custom`. Source: INTERFACE.md 10.
 */
export function pathsOfName(name: string): string[] {
  const path = (rest: string): string => (isAttributePath(rest) ? rest : `custom.${rest}`);
  if (name.length > 1 && name.startsWith('@')) return [`custom.${name}`, path(name.slice(1))];
  return [path(name)];
}

/**
 * Events whose tag is one of those that `isWanted`; with `exclude` all others, those without a tag included. An event
 * has the first of `tags` whose predicate holds for it: in their order each decides, or leaves it to those behind it.
 */
export function tagFilter(
  tags: readonly Tag[],
  isWanted: (id: string) => boolean,
  exclude: boolean,
): Predicate {
  const matches = tags.reduceRight<Predicate>(
    (behind, { id, predicate }) =>
      isWanted(id) ? anyOf([predicate, behind]) : allOf([negated(predicate), behind]),
    { type: 'none' },
  );
  return exclude ? negated(matches) : matches;
}

/**
 * Events whose attribute at `path` has one of `values`; with `exclude` all others, those without it included.
 * Source: INTERFACE.md 4.3.
 */
export function fieldFilter(path: string, values: readonly string[], exclude: boolean): Predicate {
  const matches: Predicate[] = values.map((text) => ({
    type: 'value',
    paths: [path],
    match: { type: 'text', text },
  }));
  return exclude ? negated(anyOf(matches)) : anyOf(matches);
}
