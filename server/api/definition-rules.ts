import { isAttributePath } from '../query/filter.ts';
import { FormulaError, formulaMetrics } from '../query/formula.ts';
import { SearchError } from '../query/lexer.ts';
import { searchNames } from '../query/search.ts';
import { shown } from '../query/shown.ts';
import type {
  Definition,
  DefinitionKind,
  SavedAnalysis,
  TagsetDefinition,
} from '../registry/definition.ts';
import type { DefinitionRules, Definitions } from '../registry/definitions.ts';
import type { Key } from '../registry/keys.ts';
import { jobOfAnalysis } from './analysis-job.ts';
import { declaredResolver } from './declared.ts';
import { readDefinition } from './definition-schema.ts';
import { metricOf } from './metric.ts';
import { ApiError } from './reply.ts';
import { searchOf } from './selection.ts';

/** What the registry of definitions is told of languages and requests. `readKeys` gives those of the moment. */
export function definitionRules(
  readKeys: () => readonly Key[],
  nowMs: () => number,
): DefinitionRules {
  return {
    read: readDefinition,
    check: (kind, definition, definitions) => checkMeaning(kind, definition, definitions, nowMs()),
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
      searchOf(query, `tags[${place}].query`, resolver);
    }
  }
  if (kind === 'metrics' && 'formula' in definition) {
    for (const metric of formulaMetrics(definition.formula)) metricOf(metric, 'formula', resolver);
  }
  if (kind === 'saved_analyses') {
    jobOfAnalysis(definition as SavedAnalysis, {}, { resolver, nowMs, filter: { type: 'all' } });
  }
}
