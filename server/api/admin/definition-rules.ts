import { isAttributePath } from '../../language/filter.ts';
import { FormulaError, formulaMetrics } from '../../language/formula.ts';
import { SearchError } from '../../language/lexer.ts';
import { type DeclaredNames, parseSearch, searchNames } from '../../language/search.ts';
import { shown } from '../../language/shown.ts';
import type {
  Definition,
  DefinitionKind,
  ExtensionDefinition,
  SavedAnalysis,
  TagsetDefinition,
} from '../../registry/definition.ts';
import type { DefinitionRules, Definitions } from '../../registry/definitions.ts';
import type { Key } from '../../registry/keys.ts';
import { attributesOf, declaredResolver } from '../declared.ts';
import { metricOf } from '../metric.ts';
import { jobOfAnalysis } from '../read/analysis-job.ts';
import { ApiError } from '../reply.ts';
import { searchOf } from '../selection.ts';
import { readDefinition } from './definition-schema.ts';
import { checkExtension } from './extension-steps.ts';

/** Rules by which the registry of definitions knows languages and requests. `readKeys` gives the current ones. */
export function definitionRules(
  readKeys: () => readonly Key[],
  nowMs: () => number,
): DefinitionRules {
  return {
    read: readDefinition,
    check: (kind, definition, definitions) => {
      checkMeaning(kind, definition, definitions, nowMs());
      if (kind === 'tagsets') {
        checkTagUsers(definition as TagsetDefinition, searchesOf(definitions, readKeys()));
      }
    },
    searchNames: (query) => {
      try {
        return searchNames(query);
      } catch (error) {
        if (!(error instanceof SearchError)) throw error;
        throw new ApiError(400, `query ${shown(query)} is malformed ${error.message}`);
      }
    },
    formulaMetrics: (formula) => {
      try {
        return formulaMetrics(formula);
      } catch (error) {
        if (!(error instanceof FormulaError)) throw error;
        throw new ApiError(400, `formula ${shown(formula)} is malformed ${error.message}`);
      }
    },
    filterUser: (name) => {
      const user = readKeys().find(
        ({ filter }) => filter !== undefined && searchNames(filter).has(name),
      );
      return user === undefined ? undefined : `security filter of the read key "${user.name}"`;
    },
  };
}

/** Throws ApiError 400 for what could not be executed. */
function checkMeaning(
  kind: DefinitionKind,
  definition: Definition,
  definitions: Definitions,
  nowMs: number,
): void {
  const resolver = declaredResolver(definitions);
  const { id } = definition;
  if (kind === 'fields' || kind === 'tagsets') {
    const isPath = 'attribute' in definition && definition.attribute === id;
    if (isAttributePath(id) && !isPath) {
      throw new ApiError(400, `id ${shown(id)} is the path of another attribute`);
    }
  }
  if (kind === 'tagsets') {
    for (const [place, { query }] of (definition as TagsetDefinition).tags.entries()) {
      searchOf(query, `tags[${place}].query`, attributesOf(definitions));
    }
  }
  if (kind === 'metrics' && 'formula' in definition) {
    for (const metric of formulaMetrics(definition.formula)) metricOf(metric, 'formula', resolver);
  }
  if (kind === 'extensions') {
    checkExtension(definition as ExtensionDefinition, definitions.list('extensions'), resolver);
  }
  if (kind === 'saved_analyses') {
    const scope = { resolver, nowMs, filter: { type: 'all' as const }, boundEvents: Infinity };
    jobOfAnalysis(definition as SavedAnalysis, {}, scope);
  }
}

/** A search that is kept, and who has it, as messages call it. */
interface KeptSearch {
  user: string;
  query: string;
}

/** All searches in which the id of a tagset means its tags. */
function searchesOf(definitions: Definitions, keys: readonly Key[]): KeptSearch[] {
  const found: KeptSearch[] = [];
  for (const { id, filters } of definitions.list('saved_analyses')) {
    for (const { search } of filters) {
      const query = typeof search === 'object' ? search.query : search;
      if (query !== undefined) found.push({ user: `saved analysis "${id}"`, query });
    }
  }
  for (const { id, filter } of definitions.list('extensions')) {
    found.push({ user: `extension "${id}"`, query: filter });
  }
  for (const { name, filter } of keys) {
    if (filter !== undefined)
      found.push({ user: `security filter of the read key "${name}"`, query: filter });
  }
  return found;
}

/** Throws ApiError 400 when a search names a tag that the tagset has not. */
function checkTagUsers({ id, tags }: TagsetDefinition, searches: readonly KeptSearch[]): void {
  const tagset = {
    type: 'tagset' as const,
    id,
    tags: tags.map((tag) => ({ id: tag.id, predicate: { type: 'none' as const } })),
  };
  const declared: DeclaredNames = (name) => (name === id ? tagset : undefined);
  for (const { user, query } of searches) {
    try {
      parseSearch(query, declared);
    } catch (error) {
      if (!(error instanceof SearchError)) throw error;
      throw new ApiError(400, `tags are not allowed: the ${user} names others: ${error.message}`);
    }
  }
}
