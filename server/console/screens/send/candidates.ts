import { type Json, textOf } from '../../api/exact.ts';
import { leavesOf } from '../../parts/log-text.tsx';

/** A parsing extension that is not there yet. */
export interface NewExtension {
  readonly name: string;
  readonly kind: string;
  readonly sources: readonly string[];
  readonly [more: string]: unknown;
}

/** Parts that events may lack. */
export type Lack = 'date' | 'message' | 'severity';

/** Part of the events in which an attribute has to look like what they lack. */
const SHARE_MIN = 0.5;
/** Dates with times of the forms that are understood without a pattern, and epochs since 2001. */
const KNOWN_DATE =
  /^\d{4}-\d\d-\d\d[T ]\d\d|^[A-Z][a-z]{2} [ \d]\d .*\d\d:\d\d:\d\d|^1\d{9}(?:\d{3})?(?:\.\d+)?$|^1\d{15}(?:\d{3})?$/;
/** Others that say but one thing, and their patterns. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}$/, 'dd/MMM/yyyy:HH:mm:ss Z'],
  [/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d$/, 'yyyy/MM/dd HH:mm:ss'],
  [/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d\.\d{3}$/, 'yyyy/MM/dd HH:mm:ss.SSS'],
  [/^\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d$/, 'dd.MM.yyyy HH:mm:ss'],
  [
    /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [A-Z]+$/,
    'EEE, dd MMM yyyy HH:mm:ss z',
  ],
];
const DATE_NAME = /time|date|stamp|^ts$|^at$/i;
const TEXT_NAME = /^(?:msg|message|text|log|body|line|raw|content|event|description|details?)$/i;
const LEVEL =
  /^(?:trace|debug|verbose|info|information|informational|notice|warn|warning|err|error|fatal|crit|critical|alert|emerg|emergency|panic)$/i;

/** An attribute and its texts. */
interface Candidate {
  readonly path: string;
  readonly texts: string[];
}

/** The extension that reads what events lack out of the attribute that most looks like it. */
export function candidateFor(lack: Lack, events: readonly Json[]): NewExtension | undefined {
  const looks = LOOKS[lack];
  const [best] = attributesOf(events)
    .filter(({ texts }) => texts.filter(looks.fits).length >= SHARE_MIN * events.length)
    .toSorted((left, right) => looks.rank(right) - looks.rank(left));
  return best === undefined ? undefined : looks.extension(best);
}

/** How an attribute looks that is what events lack, which one counts first, and what reads it. */
interface Looks {
  fits(text: string): boolean;
  rank(candidate: Candidate): number;
  extension(candidate: Candidate): NewExtension;
}

const LOOKS: Readonly<Record<Lack, Looks>> = {
  date: {
    fits: (text) => KNOWN_DATE.test(text) || PATTERNS.some(([form]) => form.test(text)),
    rank: ({ path }) => (DATE_NAME.test(lastName(path)) ? 1 : 0),
    extension: ({ path, texts }) => ({
      ...{ name: `Date of ${nameOf(path)}`, kind: 'date', sources: [path] },
      formats: PATTERNS.filter(([form]) => texts.some((text) => form.test(text))).map(
        ([, pattern]) => pattern,
      ),
    }),
  },
  message: {
    fits: (text) => /\p{L}+\s+\p{L}/u.test(text),
    rank: ({ path, texts }) =>
      (TEXT_NAME.test(lastName(path)) ? 1e6 : 0) +
      texts.reduce((sum, { length }) => sum + length, 0) / texts.length,
    extension: ({ path }) => ({
      ...{ name: `Message of ${nameOf(path)}`, kind: 'attribute', sources: [path] },
      ...{ target: 'message', keeps: false, filter: '-message:*' },
    }),
  },
  severity: {
    fits: (text) => LEVEL.test(text),
    rank: ({ path }) => (/sev|lvl|level/i.test(lastName(path)) ? 1 : 0),
    extension: ({ path }) => ({
      ...{ name: `Severity of ${nameOf(path)}`, kind: 'severity', sources: [path] },
    }),
  },
};

function attributesOf(events: readonly Json[]): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const event of events) {
    for (const { path, value } of leavesOf(event)) {
      if (!path.startsWith('custom.') || Array.isArray(value)) continue;
      const known = found.get(path) ?? { path, texts: [] };
      known.texts.push(textOf(value));
      found.set(path, known);
    }
  }
  return [...found.values()];
}

function nameOf(path: string): string {
  return path.replace(/^custom\./, '');
}

function lastName(path: string): string {
  return path.split('.').at(-1) ?? '';
}
