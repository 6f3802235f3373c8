import type { Predicate } from '../../engine/query/model/predicate.ts';
import { SearchError } from '../language/lexer.ts';
import { parseSearch } from '../language/search.ts';
import type { Definitions } from '../registry/definitions.ts';
import type { Resolver } from './resolver.ts';
import { searchOf } from './selection.ts';
import type { FilterText } from './session/callers.ts';

/** The declared ids that a security filter names, each once. Throws SearchError when its text is malformed. */
export function filterIdsOf(text: string, resolver: Resolver): string[] {
  const ids = new Set<string>();
  parseSearch(text, (name) => {
    const declared = resolver.field(name);
    if (declared !== undefined) ids.add(name);
    return declared;
  });
  return [...ids];
}

/**
 * Security filters of read keys and readers as trees, parsed once for each text and state of the definitions. One that
 * names a field or a tagset which is not declared any more hides everything, as nobody knows what it was to hide:
 * `unknown` is told of it, once a state.
 */
export function securityFilters(
  definitions: Pick<Definitions, 'version' | 'hasField'>,
  resolver: Resolver,
  unknown: (owner: FilterText, id: string) => void,
): (owner: FilterText) => Predicate {
  const parsed = new Map<string, { text: string; version: number; predicate: Predicate }>();
  return (owner) => {
    const { id, filter: text = '', filterIds = [] } = owner;
    const { version } = definitions;
    const known = parsed.get(id);
    if (known?.text === text && known.version === version) return known.predicate;
    const missing = filterIds.find((name) => !definitions.hasField(name));
    if (missing !== undefined) unknown(owner, missing);
    const predicate: Predicate =
      missing === undefined ? searchOf(text, 'security_filter', resolver) : { type: 'none' };
    parsed.set(id, { text, version, predicate });
    return predicate;
  };
}

/** Searches that are in force for others and look into the message. */
export interface MessageSearches {
  /** Names of read keys with such a security filter. */
  securityFilters: string[];
  /** Ids of tagsets with such a tag. */
  tagsets: string[];
}

/** Security filters and tagsets that look for something in the message, as bare words do. */
export function messageSearches(
  definitions: Pick<Definitions, 'list'>,
  owners: readonly FilterText[],
  resolver: Resolver,
): MessageSearches {
  const looks = (text: string): boolean => {
    try {
      return looksIntoMessage(parseSearch(text, (name) => resolver.field(name)));
    } catch (error) {
      if (error instanceof SearchError) return false;
      throw error;
    }
  };
  return {
    securityFilters: owners.flatMap(({ name, filter }) =>
      filter !== undefined && looks(filter) ? [name] : [],
    ),
    tagsets: definitions
      .list('tagsets')
      .flatMap(({ id, tags }) => (tags.some(({ query }) => looks(query)) ? [id] : [])),
  };
}

function looksIntoMessage(predicate: Predicate): boolean {
  switch (predicate.type) {
    case 'words':
    case 'anywhere':
      return true;
    case 'value':
    case 'range':
      return predicate.paths.includes('message');
    case 'and':
    case 'or':
      return predicate.children.some(looksIntoMessage);
    case 'not':
      return looksIntoMessage(predicate.child);
    default:
      return false;
  }
}
