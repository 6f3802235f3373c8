import type { Predicate } from '../../engine/query/model/predicate.ts';

/** Action of an extension. Source: INTERFACE.md 11. */
export type ExtensionAction =
  /** Reads the JSON object in a text; its string `message` becomes the event's. */
  | { kind: 'json' }
  | { kind: 'keyvalue' }
  | { kind: 'access_log' }
  /** `rules` and `helperRules` have a rule a line: a name, blanks, a pattern. The first rule that matches wins. */
  | { kind: 'grok'; rules: string; helperRules: string }
  | { kind: 'url' }
  | { kind: 'user_agent' }
  | { kind: 'query_string' }
  /** Gives `target` the level 0 to 7 that a name or a digit means. */
  | { kind: 'severity' }
  /**
   * Makes the date that a source has the event's. `formats`: patterns such as `dd/MMM/yyyy:HH:mm:ss Z`, tried first.
   */
  | { kind: 'date'; formats: readonly string[]; timezone: string }
  /** Copies a source's value to `target`; without `keeps` the source goes. */
  | { kind: 'attribute'; keeps: boolean };

/**
 * An extension as a worker runs it, on the events for which `predicate` holds, behind those before it in the list.
 * Plain data that crosses threads; patterns are known to be well formed.
 */
export interface ExtensionStep {
  /** Id of its definition. */
  id: string;
  action: ExtensionAction;
  predicate: Predicate;
  /** Attribute paths such as `message` or `custom.http.useragent`: the first one that has a value is taken. */
  sources: readonly string[];
  /** Attribute path under which what was found goes; `undefined`: `custom`. */
  target: string | undefined;
}
