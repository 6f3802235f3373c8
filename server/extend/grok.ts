import { nearest } from '../../engine/base/nearest.ts';
import { Pattern } from '../../engine/base/pattern.ts';
import type { Inset, PatternText } from '../../engine/base/pattern-text.ts';
import { hasLiterals, PatternError, readPattern } from '../../engine/base/pattern-text.ts';
import type { Attributes, ExtractedValue, Extraction, Extractor } from './extraction.ts';
import { type Chain, LiteralChains } from './found/literal-chains.ts';
import type { Filter } from './grok-filters.ts';
import { FILTER_NAMES, filterOf, givesAttributes } from './grok-filters.ts';
import type { Conversion } from './grok-matchers.ts';
import { MATCHER_NAMES, matcherOf } from './grok-matchers.ts';
import type { GrokReference, GrokRule } from './grok-rule.ts';
import { GrokError, readReference, splitRules } from './grok-rule.ts';
import { PatternBudget } from './pattern-budget.ts';
import { ALL_SIGNS, bitsOf } from './signs.ts';

/** Rules that use rules that use rules, and so on. */
const RULE_DEPTH_MAX = 16;
/** Attributes of a rule. */
const EXTRACTS_MAX = 200;
/** Instructions of all rules and helper rules together: they bound the memory, and a second or so to compile them. */
const SIZE_MAX = 40_000;

/** Stands for all first bytes of a text that are beyond ASCII. */
const NOT_ASCII = 0x80;

/** Use of one capture. */
interface Extract {
  /** Attribute; empty when the filter's attributes stand alone. */
  name: string;
  convert: Conversion | undefined;
  filter: Filter | undefined;
}

interface CompiledRule {
  name: string;
  pattern: Pattern;
  /** Texts that every match contains, one behind the other, and the longest of them. */
  literals: readonly string[];
  literal: string;
  /** Their signs. */
  signs: number;
  /** Uses of capture 1, 2, and so on. */
  extracts: readonly Extract[];
}

/**
 * Finds attributes by rules of a user's. A rule holds for a whole text; the first one that matches wins. A name that a
 * rule extracts twice gets an array. Source: INTERFACE.md 11.
 */
export class GrokExtractor implements Extractor {
  #rules: readonly CompiledRule[];
  #now: () => number;
  readonly #literals = new LiteralChains();
  /** The literals of each rule. */
  readonly #chains: readonly Chain[];

  /** Each text has a rule a line. `now` is the time that dates without a year are near to. Throws GrokError. */
  constructor(rules: string, helperRules: string, now: () => number = Date.now) {
    this.#rules = compileRules(rules, helperRules);
    this.#chains = this.#rules.map(({ literals }) => this.#literals.of(literals));
    this.#now = now;
  }

  mayFind(signs: number, first: number | undefined): boolean {
    return this.#rules.some((rule) => mayMatch(rule, signs, first));
  }

  /**
   * Tells by its signs, its first bytes and literals that the text `bytes[start, end)`, in well-formed UTF-8, may match
   * a rule.
   */
  mayFindIn(bytes: Uint8Array, start: number, end: number, signs: number): boolean {
    let hasBegun = false;
    for (let place = 0; place < this.#rules.length; place++) {
      const rule = this.#rules[place];
      const hasSigns = (signs & rule.signs) === rule.signs;
      if (!hasSigns || !rule.pattern.mayBeginAs(bytes, start, end)) continue;
      if (!hasBegun) this.#literals.begin(bytes, start, end);
      hasBegun = true;
      if (this.#literals.has(this.#chains[place])) return true;
    }
    return false;
  }

  /** A rule that the budget does not reach for is not tried, nor are those behind. */
  extract(text: string, budget = new PatternBudget(), signs = ALL_SIGNS): Extraction | undefined {
    const first = text === '' ? undefined : Math.min(text.charCodeAt(0), NOT_ASCII);
    for (const rule of this.#rules) {
      if (!mayMatch(rule, signs, first)) continue;
      if (!text.includes(rule.literal) || !hasLiterals(text, rule.literals)) continue;
      if (!budget.take(rule.pattern.stepsOf(text.length))) return undefined;
      if (!rule.pattern.match(text)) continue;
      const attributes = attributesOf(rule, this.#now());
      rule.pattern.forget();
      return { attributes, rule: rule.name };
    }
    return undefined;
  }
}

function mayMatch(rule: CompiledRule, signs: number, first: number | undefined): boolean {
  return (signs & rule.signs) === rule.signs && rule.pattern.mayBegin(first);
}

/** Throws GrokError when rules are not ones that GrokExtractor can work with. */
export function checkGrok(rules: string, helperRules: string): void {
  compileRules(rules, helperRules);
}

function compileRules(rules: string, helperRules: string): CompiledRule[] {
  const helpers = splitRules(helperRules, 'helper rules');
  const own = splitRules(rules, 'rules');
  const byName = new Map<string, GrokRule>();
  for (const rule of [...helpers, ...own]) {
    if (MATCHER_NAMES.includes(rule.name)) {
      throw new GrokError(rule, `"${rule.name}" is the name of a matcher`, 0);
    }
    const other = byName.get(rule.name);
    if (other !== undefined) {
      const place = `line ${other.line} of the ${other.place}`;
      throw new GrokError(rule, `another rule has this name: ${place}`, 0);
    }
    byName.set(rule.name, rule);
  }
  let size = 0;
  const compile = (rule: GrokRule): CompiledRule => {
    const compiled = new RuleCompiler(byName).compile(rule);
    size += compiled.pattern.size;
    if (size > SIZE_MAX) {
      throw new GrokError(rule, 'the rules up to this one are too large together', 0);
    }
    return compiled;
  };
  // A helper rule is compiled alone too, so that what is wrong with it is said about it, used or not.
  for (const helper of helpers) compile(helper);
  return own.map(compile);
}

/** Compiles one rule with all that it uses. */
class RuleCompiler {
  #rules: ReadonlyMap<string, GrokRule>;
  #extracts: Extract[] = [];
  /** Rules that are being put into one another, from the outermost. */
  #trail: GrokRule[] = [];

  constructor(rules: ReadonlyMap<string, GrokRule>) {
    this.#rules = rules;
  }

  compile(rule: GrokRule): CompiledRule {
    const read = this.#readRule(rule);
    try {
      const pattern = new Pattern(read);
      const { literals, literal } = read;
      const signs = bitsOf(literals.join(''));
      return { name: rule.name, pattern, literals, literal, signs, extracts: this.#extracts };
    } catch (cause) {
      throw asGrokError(cause, rule);
    }
  }

  #readRule(rule: GrokRule): PatternText {
    this.#trail.push(rule);
    try {
      return readPattern(rule.pattern, (at) => this.#insetAt(rule, at));
    } catch (cause) {
      throw asGrokError(cause, rule);
    } finally {
      this.#trail.pop();
    }
  }

  #insetAt(rule: GrokRule, at: number): Inset {
    const reference = readReference(rule.pattern, at);
    const filter = this.#filterOf(reference);
    const keeps = reference.extract !== '' || filter !== undefined;
    const extract: Extract = { name: reference.extract, convert: undefined, filter };
    // Captures are numbered by where they open, so this one comes before those of a rule inside.
    if (keeps) this.#extracts.push(extract);
    if (this.#extracts.length > EXTRACTS_MAX) {
      throw new PatternError(`a rule extracts at most ${EXTRACTS_MAX} attributes`, at);
    }
    const matcher = matcherOf(reference.matcher);
    extract.convert = matcher?.convert;
    const read = matcher?.read ?? this.#readRule(this.#ruleOf(reference));
    return {
      ...read,
      source: keeps ? `(${read.source})` : read.source,
      native: keeps && read.native !== undefined ? `(${read.native})` : read.native,
      size: read.size + 2,
      captures: keeps || read.captures,
      end: reference.end,
    };
  }

  #filterOf(reference: GrokReference): Filter | undefined {
    const call = reference.filter;
    if (call === undefined) return undefined;
    const filter = filterOf(call);
    if (filter === undefined) {
      throw new PatternError(
        `unknown filter "${call.name}"${hint(call.name, FILTER_NAMES)}`,
        call.at,
      );
    }
    if (reference.extract === '' && !givesAttributes(call.name)) {
      throw new PatternError(
        `filter ${call.name} needs the name of an attribute before it: %{${reference.matcher.name}:name:${call.name}}`,
        call.at,
      );
    }
    return filter;
  }

  #ruleOf(reference: GrokReference): GrokRule {
    const { name, at } = reference.matcher;
    const rule = this.#rules.get(name);
    if (rule === undefined) {
      const known = [...MATCHER_NAMES, ...this.#rules.keys()];
      throw new PatternError(`unknown matcher or rule "${name}"${hint(name, known)}`, at);
    }
    if (reference.matcher.arguments.length > 0) {
      throw new PatternError(`rule "${name}" takes no arguments`, at);
    }
    const place = this.#trail.indexOf(rule);
    if (place >= 0) {
      const names = [...this.#trail.slice(place), rule].map((each) => each.name).join(' > ');
      throw new PatternError(`a rule uses itself: ${names}`, at);
    }
    if (this.#trail.length >= RULE_DEPTH_MAX) {
      throw new PatternError(`rules stand more than ${RULE_DEPTH_MAX} deep in each other`, at);
    }
    return rule;
  }
}

function hint(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? `: allowed are ${known.join(', ')}` : `: did you mean ${meant}?`;
}

function asGrokError(cause: unknown, rule: GrokRule): unknown {
  return cause instanceof PatternError ? new GrokError(rule, cause.message, cause.at) : cause;
}

/** The attributes of the match that the rule's pattern holds. */
function attributesOf(rule: CompiledRule, nowMs: number): Attributes {
  const attributes: Attributes = new Map();
  const repeated = new Map<string, ExtractedValue[]>();
  const add = (name: string, value: ExtractedValue): void => {
    const before = attributes.get(name);
    if (before === undefined) {
      attributes.set(name, value);
      return;
    }
    let values = repeated.get(name);
    if (values === undefined) {
      values = [before];
      repeated.set(name, values);
      attributes.set(name, values);
    }
    values.push(value);
  };
  for (const [index, extract] of rule.extracts.entries()) {
    const text = rule.pattern.group(index + 1);
    if (text === undefined) continue;
    let value: ExtractedValue | undefined = extract.convert?.(text, nowMs) ?? text;
    if (extract.filter !== undefined) {
      value = extract.filter(value, typeof value === 'string' ? value : text, nowMs);
    }
    if (value === undefined) continue;
    if (extract.name !== '') add(extract.name, value);
    else if (value instanceof Map) for (const [name, inner] of value) add(name, inner);
  }
  return attributes;
}
