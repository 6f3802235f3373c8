import { checkDatePattern } from '../../extend/date-pattern.ts';
import type { ExtensionAction, ExtensionStep } from '../../extend/extension.ts';
import { checkGrok } from '../../extend/grok.ts';
import { shown } from '../../language/shown.ts';
import { parseZone } from '../../language/zone.ts';
import type { ExtensionDefinition } from '../../registry/definition.ts';
import type { Definitions } from '../../registry/definitions.ts';
import { ApiError } from '../reply.ts';
import type { Resolver } from '../resolver.ts';
import { searchOf } from '../selection.ts';

/** An extension as workers run it. Throws ApiError 400 when its filter is malformed; does not look at its texts. */
export function stepOf(definition: ExtensionDefinition, resolver: Resolver): ExtensionStep {
  const { id, filter, sources, target } = definition;
  const predicate = searchOf(filter, 'filter', resolver);
  return { id, action: actionOf(definition), predicate, sources, target };
}

/**
 * Checks an extension's filter, rules, formats and zone. Throws ApiError 400 naming the malformed one. Rules that one
 * of `known` has are not checked again, because that can take a tenth of a second.
 */
export function checkExtension(
  definition: ExtensionDefinition,
  known: readonly ExtensionDefinition[],
  resolver: Resolver,
): void {
  searchOf(definition.filter, 'filter', resolver);
  if (definition.kind === 'grok') {
    const { rules, helperRules } = definition;
    const isKnown = known.some(
      (one) => one.kind === 'grok' && one.rules === rules && one.helperRules === helperRules,
    );
    if (!isKnown) checked('rules', () => checkGrok(rules, helperRules));
  }
  if (definition.kind !== 'date') return;
  const { formats, timezone } = definition;
  if (parseZone(timezone) === undefined) {
    throw new ApiError(
      400,
      `timezone ${shown(timezone)} is unknown; allowed: a name such as Europe/Paris, UTC, or UTC+01:00`,
    );
  }
  for (const [place, format] of formats.entries()) {
    const parameter = `formats[${place}] ${shown(format)}`;
    checked(parameter, () => checkDatePattern(format, timezone));
  }
}

/**
 * The extensions that are on, in their order. One that cannot be made any more is left out and told to `fault`: it must
 * not keep the service from its start.
 */
export function stepsOf(
  definitions: readonly ExtensionDefinition[],
  resolver: Resolver,
  fault: (id: string, error: unknown) => void,
): ExtensionStep[] {
  const steps: ExtensionStep[] = [];
  for (const definition of definitions) {
    if (!definition.enabled) continue;
    try {
      steps.push(stepOf(definition, resolver));
    } catch (error) {
      fault(definition.id, error);
    }
  }
  return steps;
}

/**
 * Gives `set` the extensions that are on, now and after each change of the definitions that makes a difference: of
 * extensions, and of the fields that their filters name.
 */
export function followExtensions(
  definitions: Definitions,
  resolver: Resolver,
  set: (steps: readonly ExtensionStep[]) => void,
  fault: (id: string, error: unknown) => void,
): void {
  let known = '';
  const follow = (): void => {
    const steps = stepsOf(definitions.list('extensions'), resolver, fault);
    const text = JSON.stringify(steps);
    if (text === known) return;
    known = text;
    set(steps);
  };
  definitions.watch(follow);
  follow();
}

function actionOf(definition: ExtensionDefinition): ExtensionAction {
  if (definition.kind === 'grok') {
    const { kind, rules, helperRules } = definition;
    return { kind, rules, helperRules };
  }
  if (definition.kind === 'date') {
    const { kind, formats, timezone } = definition;
    return { kind, formats, timezone };
  }
  if (definition.kind === 'attribute') return { kind: definition.kind, keeps: definition.keeps };
  return { kind: definition.kind };
}

/** Runs a check of a text; its error becomes the 400 that names the parameter. */
function checked(parameter: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new ApiError(400, `${parameter} is malformed: ${error.message}`);
  }
}
