import type { Extension } from '../../api/contract.ts';

/** The resource of extensions. */
export const PATH = '/admin/api/extensions';

/** The kinds of extensions, and what each reads. Source: INTERFACE.md 11. */
export const KINDS: Readonly<Record<string, string>> = {
  grok: 'What rules of your own say',
  json: 'The JSON object in a text',
  keyvalue: 'Pairs name=value',
  access_log: 'Access lines of Apache and nginx',
  url: 'The parts of a URL',
  user_agent: 'Browser, system and device',
  query_string: 'Parameters of a URL',
  severity: 'A level from a name or a number',
  date: 'The date of the event',
  attribute: 'A value that goes to another attribute',
};

/** Texts and choices of the form of an extension; lists have an element a line. */
export interface Draft {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly kind: string;
  readonly enabled: boolean;
  readonly filter: string;
  readonly sources: string;
  readonly target: string;
  readonly rules: string;
  readonly helperRules: string;
  readonly formats: string;
  readonly timezone: string;
  readonly keeps: boolean;
}

const EMPTY: Draft = {
  ...{ id: '', name: '', description: '', kind: 'grok', enabled: false, filter: '' },
  ...{ sources: '', target: '', rules: '', helperRules: '', formats: '', timezone: 'UTC' },
  keeps: true,
};

/** The draft of a form that makes an extension, or changes `one`. */
export function draftOf(one: Extension | undefined): Draft {
  if (one === undefined) return EMPTY;
  const { sources, formats = [], position: _position, ...rest } = one;
  return { ...EMPTY, ...rest, sources: sources.join('\n'), formats: formats.join('\n') };
}

/** The body of a request that a draft makes, without its id and name; what is empty is left out. */
export function bodyOf(draft: Draft): Record<string, unknown> {
  const { kind, filter, rules, helperRules, timezone, keeps } = draft;
  const sources = linesOf(draft.sources);
  const target = draft.target.trim();
  return {
    ...{ kind, filter },
    ...(sources.length === 0 ? {} : { sources }),
    ...(target === '' || kind === 'date' ? {} : { target }),
    ...(kind === 'grok' ? { rules, helperRules } : {}),
    ...(kind === 'date' ? { formats: linesOf(draft.formats), timezone } : {}),
    ...(kind === 'attribute' ? { keeps } : {}),
  };
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
