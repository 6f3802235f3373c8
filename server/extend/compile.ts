import { unreachable } from '../../engine/base/assert.ts';
import { EventTest } from '../../engine/query/filter/event-test.ts';
import { AccessLogExtractor } from './access-log/access-log.ts';
import { EmbeddedJsonExtractor } from './embedded-json.ts';
import { EventDateReader } from './event-date.ts';
import type { ExtensionAction, ExtensionStep } from './extension.ts';
import type { Extractor } from './extraction.ts';
import { AccessFinder } from './found/access-finder.ts';
import type { Finder, Findings } from './found/findings.ts';
import { GrokFinder } from './found/grok-finder.ts';
import { JsonFinder } from './found/json-finder.ts';
import { KnownFinder } from './found/known-finder.ts';
import { PairFinder } from './found/pair-finder.ts';
import { UrlFinder } from './found/url-finder.ts';
import { GrokExtractor } from './grok.ts';
import { KeyValueExtractor } from './keyvalue.ts';
import type { PatternBudget } from './pattern-budget.ts';
import { QueryStringExtractor } from './query-string.ts';
import { UrlExtractor } from './url.ts';
import { UserAgentExtractor } from './user-agent.ts';

/**
 * Extraction from a text. `takesMessage`: a text `message` that is found becomes the event's. `makeFinder` makes, for
 * each path table, what finds the same in plain texts.
 */
export interface Extracting {
  type: 'extract';
  extractor: Extractor;
  takesMessage: boolean;
  makeFinder?: ((found: Findings) => Finder) | undefined;
}

/** Work of a step on an event for which its predicate holds. */
export type Work =
  | Extracting
  | { type: 'severity' }
  | { type: 'date'; reader: EventDateReader }
  | { type: 'attribute'; keeps: boolean };

/** A step that is ready to run. Owned by one thread. */
export interface CompiledStep {
  id: string;
  test: EventTest;
  sources: readonly string[];
  target: string | undefined;
  work: Work;
}

/**
 * Makes a step ready, whose filter takes from `budget`. Throws what the rules or the formats throw when they are not
 * well formed.
 */
export function compileStep(
  { id, action, predicate, sources, target }: ExtensionStep,
  budget?: PatternBudget,
): CompiledStep {
  const test = new EventTest(predicate, budget && ((steps) => budget.take(steps)));
  return { id, test, sources, target, work: workOf(action) };
}

function workOf(action: ExtensionAction): Work {
  switch (action.kind) {
    case 'json':
      return extracting(new EmbeddedJsonExtractor(), (found) => new JsonFinder(found), true);
    case 'grok': {
      const extractor = new GrokExtractor(action.rules, action.helperRules);
      return extracting(extractor, () => new GrokFinder(extractor), true);
    }
    case 'keyvalue':
      return extracting(new KeyValueExtractor(), (found) => new PairFinder(found));
    case 'access_log':
      return extracting(new AccessLogExtractor(), (found) => new AccessFinder(found));
    case 'url':
      return extracting(new UrlExtractor(), (found) => new UrlFinder(found));
    case 'user_agent': {
      const extractor = new UserAgentExtractor();
      return extracting(extractor, (found) => new KnownFinder(extractor, found));
    }
    case 'query_string':
      return extracting(new QueryStringExtractor());
    case 'severity':
      return { type: 'severity' };
    case 'date':
      return { type: 'date', reader: new EventDateReader(action.formats, action.timezone) };
    case 'attribute':
      return { type: 'attribute', keeps: action.keeps };
    default:
      return unreachable(action);
  }
}

function extracting(
  extractor: Extractor,
  makeFinder?: (found: Findings) => Finder,
  takesMessage = false,
): Work {
  return { type: 'extract', extractor, takesMessage, makeFinder };
}

/** Makes steps ready. A step that cannot be made was checked wrongly, which is a bug; it is reported and left out. */
export function compileSteps(
  steps: readonly ExtensionStep[],
  failed: (id: string, error: unknown) => void,
  budget?: PatternBudget,
): CompiledStep[] {
  const compiled: CompiledStep[] = [];
  for (const step of steps) {
    try {
      compiled.push(compileStep(step, budget));
    } catch (error) {
      failed(step.id, error);
    }
  }
  return compiled;
}
