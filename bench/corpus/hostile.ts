import { clockOf } from './clock.ts';
import { Draw } from './random.ts';
import { WORDS } from './words.ts';

/** One event in so many is nearly as long as a line may be. */
const LARGE_EVENTS = 5_000;
const LARGE_BYTES = 1_000_000;
/** One event in so many has more attributes than an event may. */
const MANY_EVENTS = 500;
const MANY_ATTRIBUTES = 1_200;
const LEVELS_MAX = 60;

/** Names that mean something to a program that is careless with them, and names that are hardly ones. */
const NAMES = [
  '__proto__',
  'constructor.prototype.polluted',
  'toString',
  '',
  '.',
  'a..b',
  '..',
  'syslog.hostname',
  'custom.custom',
  '_excess',
  '_truncated',
  'timestamp.nested',
  '名前',
  'na me',
  '10',
  "'; DROP TABLE events; --",
  '=1+1',
];

/** Names as JSON texts with escapes; some are the same name in two ways. */
const ESCAPED_NAMES = [
  '"\\u0061.b"',
  '"a\\u002eb"',
  '"q\\"uote"',
  '"back\\\\slash"',
  '"line\\nend"',
  '"nul\\u0000"',
  '"\\ud83d\\ude00"',
  '"lone\\ud800"',
  '"sl\\/ash"',
];

const VALUES = [
  '1e400',
  '-0',
  '0.10',
  '12345678901234567890123',
  '1E+5',
  'null',
  'true',
  '[]',
  '{}',
  '""',
  '[[[]],{"a.b":[null]}]',
  '"\\ud800"',
  '"\\u0000\\u001b[31m"',
  '"\u202egnol"',
  '"<script>alert(1)</script>"',
];

/** Makes the events of a kind: the members of an object, as JSON text. */
type Kind = (draw: Draw) => string;

const fresh = (draw: Draw): string => draw.below(2 ** 40).toString(36);
const list = (count: number, text: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => text(at)).join(',');

/** Ten names that were never there. */
const newMembers: Kind = (draw) =>
  list(10, () => `"${fresh(draw)}.${fresh(draw)}":"${fresh(draw)}"`);

/** Objects and dotted names that meet, in any order and more than once. */
const collidingMembers: Kind = (draw) => {
  const forms = [
    (n: number) => `"a.b":${n}`,
    (n: number) => `"a":{"b":${n},"d":{"e":${n}}}`,
    (n: number) => `"a":${n}`,
    (n: number) => `"a.b.c":${n}`,
    (n: number) => `"a":{"b.c":${n}}`,
    (n: number) => `"a.d":{"e.f":${n}}`,
  ];
  return list(2 + draw.below(5), () => draw.pick(forms)(draw.below(100)));
};

/** A name several times, with values of different kinds. */
const repeatedMembers: Kind = (draw) => {
  const name = draw.pick(WORDS);
  return list(2 + draw.below(20), (at) =>
    at % 3 === 2 ? `"${draw.pick(WORDS)}":${at}` : `"${name}":${draw.pick(VALUES)}`,
  );
};

const oddMembers: Kind = (draw) =>
  list(1 + draw.below(6), () =>
    draw.chance(0.5)
      ? `${draw.pick(ESCAPED_NAMES)}:${draw.pick(VALUES)}`
      : `${JSON.stringify(draw.pick(NAMES))}:${draw.pick(VALUES)}`,
  );

/** Objects or arrays around one number. */
const deepMembers: Kind = (draw) => {
  const levels = 1 + draw.below(LEVELS_MAX);
  if (draw.chance(0.3)) return `"deep":${'['.repeat(levels)}1${']'.repeat(levels)}`;
  if (draw.chance(0.2)) return `"${'d.'.repeat(levels)}e":1`;
  return `"deep":${'{"d":'.repeat(levels)}1${'}'.repeat(levels)}`;
};

/** One attribute with one kind in this event and another in the next, and a name that is too long. */
const changingMembers: Kind = (draw) =>
  `"changing":${draw.pick(VALUES)},"status":${draw.pick(['200', '"200"', '200.0', '[200]', '{"code":200}'])},"${'n'.repeat(200 + draw.below(200))}":1`;

const manyMembers: Kind = (draw) => list(MANY_ATTRIBUTES, (at) => `"many_${at}":${draw.below(10)}`);

/** 1 MB: a text of words, one of random digits, or an array of numbers. */
const largeMembers: Kind = (draw) => {
  const form = draw.below(3);
  const parts: string[] = [];
  for (let bytes = 0; bytes < LARGE_BYTES - 200; ) {
    const part =
      form === 0 ? `${draw.pick(WORDS)} ` : form === 1 ? draw.hex(64) : `${draw.below(1e6)},`;
    parts.push(part);
    bytes += part.length;
  }
  return form === 2 ? `"large":[${parts.join('')}0]` : `"large":"${parts.join('')}"`;
};

const KINDS: readonly Kind[] = [
  ...[newMembers, newMembers, newMembers, collidingMembers, collidingMembers],
  ...[repeatedMembers, oddMembers, oddMembers, deepMembers, changingMembers],
];

/** Lines that are no JSON object: cut or broken ones, other JSON, headers that are none. */
function brokenLine(draw: Draw): string {
  return draw.pick([
    () => `{"cut":"${fresh(draw)}","message":"${fresh(draw)}`,
    () => `{"a":1,}`,
    () => `{a:1}`,
    () => `["${fresh(draw)}"]`,
    () => `"${fresh(draw)}"`,
    () => String(draw.below(1e9)),
    () => `<999>1 - - ${fresh(draw)} - - - no priority`,
    () => `<34>1 2026-11-31T25:61:00Z h a - - [unclosed x="${fresh(draw)}" text`,
    () => `${fresh(draw)}=${fresh(draw)} ${fresh(draw)}`,
    () => `\u001b[2J\u0007${fresh(draw)}\u2028\ufeff`,
  ])();
}

/**
 * Makes what broken and hostile clients send, about 400 bytes: ten new attribute names in three events of ten; names
 * that collide with objects, repeated, escaped, empty or dangerous names, attributes of changing kinds, up to 60 levels
 * of nesting; one line of 20 that is no JSON object; one event of 500 with 1,200 attributes, one of 5,000 with 1 MB.
 * Half of the events have a date.
 */
export function hostile(seed: number): () => string {
  const draw = new Draw(seed);
  const clock = clockOf(draw);
  return () => {
    const timeMs = clock();
    if (draw.below(LARGE_EVENTS) === 0) return `{"timestamp":${timeMs},${largeMembers(draw)}}`;
    if (draw.below(MANY_EVENTS) === 0) return `{"timestamp":${timeMs},${manyMembers(draw)}}`;
    if (draw.chance(0.05)) return brokenLine(draw);
    const date = draw.chance(0.5) ? `"timestamp":${timeMs},` : '';
    return `{${date}${draw.pick(KINDS)(draw)},"message":"${draw.pick(WORDS)} ${fresh(draw)}"}`;
  };
}

/** Makes events whose ten attributes have new names every time, and nothing else that is strange. */
export function newNames(seed: number): () => string {
  const draw = new Draw(seed);
  return () => `{"message":"hello ${fresh(draw)}",${newMembers(draw)}}`;
}
