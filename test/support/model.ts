/**
 * A naive engine over an array of events: the oracle of the query tests. It knows the rules of INTERFACE.md 4
 * and nothing of the engine: numbers are exact fractions of BigInts, texts are JavaScript strings, patterns are
 * regular expressions, and every query looks at every event.
 */

export interface ModelEvent {
  timeMs: number;
  writer: number;
  sequence: number;
  /** JSON text of `{custom, syslog, message}`. */
  event: string;
}

export type ModelPattern = ({ literal: string } | { wildcard: '*' | '?' })[];

export interface ModelEnd {
  text: string;
  number?: number;
  inclusive: boolean;
}

export type ModelMatch =
  | { type: 'text'; text: string }
  | { type: 'pattern'; pattern: ModelPattern }
  | { type: 'words'; words: ModelPattern[] }
  | { type: 'regex'; source: string };

export type ModelPredicate =
  | { type: 'all' }
  | { type: 'none' }
  | { type: 'and' | 'or'; children: ModelPredicate[] }
  | { type: 'not'; child: ModelPredicate }
  | { type: 'words'; words: ModelPattern[] }
  | { type: 'value'; paths: string[]; match: ModelMatch }
  | { type: 'anywhere'; match: ModelMatch }
  | { type: 'exists'; paths: string[] }
  | { type: 'range'; paths: string[]; from?: ModelEnd; to?: ModelEnd };

export interface ModelListQuery {
  fromMs: number;
  toMs: number;
  predicate: ModelPredicate;
  order: 'asc' | 'desc';
  limit: number;
  after?: Pick<ModelEvent, 'timeMs' | 'writer' | 'sequence'>;
}

/** A JSON value; a number is its text. */
export type Node =
  | { type: 'null' }
  | { type: 'boolean' | 'number' | 'string'; text: string }
  | { type: 'array'; elements: Node[] }
  | { type: 'object'; members: Map<string, Node> };

export type Scalar = Extract<Node, { text: string }>;

const WORDS = /[\p{L}\p{N}\p{M}_]+/gu;
const NUMBER = /^([+-]?)(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+))?$/;
const PLAIN = /^[+-]?\d{1,9}(?:\.\d{1,6})?$/;
const DATE =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{3}|\d{6}))?(Z|[+-]\d\d:?\d\d)?$/;

/** Parses JSON text, numbers as their texts. */
export function parseNode(text: string): Node {
  const convert = (value: unknown): Node => {
    if (value === null) return { type: 'null' };
    if (typeof value === 'boolean') return { type: 'boolean', text: String(value) };
    if (typeof value === 'string') return { type: 'string', text: value };
    if (value instanceof NumberText) return { type: 'number', text: value.text };
    if (Array.isArray(value)) return { type: 'array', elements: value.map(convert) };
    const members = Object.entries(value as object).map(([name, member]): [string, Node] => [
      name,
      convert(member),
    ]);
    return { type: 'object', members: new Map(members) };
  };
  const revive = (_: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value;
  return convert(JSON.parse(text, revive as (name: string, value: unknown) => unknown));
}

class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** All nodes below `node` whose names joined by dots are `path`. */
export function nodesAt(node: Node, path: string): Node[] {
  if (node.type !== 'object') return [];
  const found: Node[] = [];
  for (const [name, member] of node.members) {
    if (name === path) found.push(member);
    if (path.startsWith(`${name}.`)) found.push(...nodesAt(member, path.slice(name.length + 1)));
  }
  return found;
}

/** The values of an attribute: itself, or the scalars that are elements of it. */
export function scalarsAt(event: Node, path: string): Scalar[] {
  return nodesAt(event, path)
    .flatMap((node) => (node.type === 'array' ? node.elements : [node]))
    .filter((node) => 'text' in node);
}

/** The values of all attributes. */
function allScalars(node: Node): Scalar[] {
  if ('text' in node) return [node];
  if (node.type === 'array') return node.elements.filter((element) => 'text' in element);
  return node.type === 'object' ? [...node.members.values()].flatMap(allScalars) : [];
}

/** The paths, names joined by dots, of all that is not null and not an object. */
function leafPaths(node: Node): string[] {
  if (node.type === 'null') return [];
  if (node.type !== 'object') return [''];
  return [...node.members].flatMap(([name, member]) =>
    leafPaths(member).map((rest) => (rest === '' ? name : `${name}.${rest}`)),
  );
}

/** A number text as a whole number and a power of ten: equal numbers give equal pairs. */
export function fraction(text: string): { mantissa: bigint; exponent: number } | undefined {
  const parts = NUMBER.exec(text);
  if (parts === null) return undefined;
  const [whole, behind = ''] = parts[2].split('.');
  let mantissa = BigInt(`${whole}${behind}`) * (parts[1] === '-' ? -1n : 1n);
  let exponent = Number(parts[3] ?? 0) - behind.length;
  if (mantissa === 0n) return { mantissa, exponent: 0 };
  for (; mantissa % 10n === 0n; mantissa /= 10n) exponent++;
  return { mantissa, exponent };
}

/** Compares the numbers that texts say: negative when `left` is less. */
export function compareNumbers(left: string, right: string): number {
  const [a, b] = [fraction(left), fraction(right)];
  if (a === undefined || b === undefined) throw new Error('not a number');
  const least = Math.min(a.exponent, b.exponent);
  const difference =
    a.mantissa * 10n ** BigInt(a.exponent - least) - b.mantissa * 10n ** BigInt(b.exponent - least);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

function sameNumber(left: string, right: string): boolean {
  const a = fraction(left);
  const b = fraction(right);
  return (
    a !== undefined && b !== undefined && a.mantissa === b.mantissa && a.exponent === b.exponent
  );
}

/** True when a value counts as a number. */
export function isNumeric(value: Scalar): boolean {
  if (value.type === 'number') return true;
  return value.type === 'string' && NUMBER.test(value.text) && Number.isFinite(Number(value.text));
}

function regexOf(pattern: ModelPattern): RegExp {
  const source = pattern.map((piece) => {
    if ('wildcard' in piece) return piece.wildcard === '*' ? '.*' : '.';
    return piece.literal.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
  return new RegExp(`^${source.join('')}$`, 'su');
}

/** Microseconds of a date text in one of the known forms. */
function dateMicros(text: string): number | undefined {
  const parts = DATE.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '0', zone = 'Z'] = parts;
  if (zone === '-00:00' || zone === '-0000') return undefined;
  const zoneMinutes = zone === 'Z' ? 0 : Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  if (zone !== 'Z' && (Number(zone.slice(1, 3)) > 23 || Number(zone.slice(-2)) > 59))
    return undefined;
  if (zoneMinutes % 15 !== 0) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCMonth() !== Number(month) - 1 || Number(day) === 0) return undefined;
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  const offset = zone.startsWith('-') ? -zoneMinutes : zoneMinutes;
  const micros = (date.getTime() - offset * 60_000) * 1000 + Number(fraction.padEnd(6, '0'));
  return fraction.length < 6 || Number.isSafeInteger(micros) ? micros : undefined;
}

/** By code points: negative when `left` comes first. */
export function compareText(left: string, right: string): number {
  const a = [...left];
  const b = [...right];
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const difference = (a[at].codePointAt(0) ?? 0) - (b[at].codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function inRange(value: Scalar, from: ModelEnd | undefined, to: ModelEnd | undefined): boolean {
  const ends = [from, to].filter((end) => end !== undefined);
  const dated = ends.every((end) => dateMicros(end.text) !== undefined);
  return ends.every((end) => {
    const sign = end === from ? 1 : -1;
    let difference: number;
    if (value.type === 'boolean') return false;
    if (isNumeric(value)) {
      if (end.number === undefined) return false;
      const number = Number(value.text);
      difference = number === end.number ? 0 : number < end.number ? -1 : 1;
    } else {
      if (end.number !== undefined) return false;
      const micros = dateMicros(value.text);
      difference =
        dated && micros !== undefined
          ? micros - (dateMicros(end.text) ?? 0)
          : compareText(value.text, end.text);
    }
    return sign * difference > 0 || (difference === 0 && end.inclusive);
  });
}

function hasWords(text: string, patterns: ModelPattern[]): boolean {
  const words = [...text.matchAll(WORDS)].map(([word]) => word.toLowerCase());
  const wanted = patterns.map(regexOf);
  return words.some((_, first) =>
    wanted.every((pattern, at) => first + at < words.length && pattern.test(words[first + at])),
  );
}

function matchesText(value: Scalar, text: string): boolean {
  return value.type === 'number' ? sameNumber(value.text, text) : value.text === text;
}

function testOf(match: ModelMatch): (value: Scalar) => boolean {
  if (match.type === 'text') return (value) => matchesText(value, match.text);
  if (match.type === 'words') return (value) => hasWords(value.text, match.words);
  const regex =
    match.type === 'regex' ? new RegExp(`^(?:${match.source})$`, 'su') : regexOf(match.pattern);
  return (value) => regex.test(value.text);
}

/** True when a predicate holds for an event. */
export function holds(predicate: ModelPredicate, event: Node): boolean {
  const some = (paths: string[], test: (value: Scalar) => boolean): boolean =>
    paths.some((path) => scalarsAt(event, path).some(test));
  switch (predicate.type) {
    case 'all':
      return true;
    case 'none':
      return false;
    case 'and':
      return predicate.children.every((child) => holds(child, event));
    case 'or':
      return predicate.children.some((child) => holds(child, event));
    case 'not':
      return !holds(predicate.child, event);
    case 'words':
      return nodesAt(event, 'message').some(
        (node) => node.type === 'string' && hasWords(node.text, predicate.words),
      );
    case 'anywhere':
      return allScalars(event).some(testOf(predicate.match));
    case 'exists':
      return leafPaths(event).some((leaf) =>
        predicate.paths.some((path) => leaf === path || leaf.startsWith(`${path}.`)),
      );
    case 'range': {
      const { paths, from, to } = predicate;
      if (from === undefined && to === undefined) return holds({ type: 'exists', paths }, event);
      return some(paths, (value) => inRange(value, from, to));
    }
    case 'value':
      return some(predicate.paths, testOf(predicate.match));
  }
}

/** By (time, sequence, writer). */
export function compareModel(
  left: Pick<ModelEvent, 'timeMs' | 'writer' | 'sequence'>,
  right: Pick<ModelEvent, 'timeMs' | 'writer' | 'sequence'>,
): number {
  return left.timeMs - right.timeMs || left.sequence - right.sequence || left.writer - right.writer;
}

/** Results of the metrics of a path. `absolute` is the sum of absolutes. */
export interface ModelSummary {
  count: number;
  cardinality: number;
  sum: number | null;
  absolute: number;
  min: number | null;
  max: number | null;
  /** Texts of the least number, of the greatest one, and of the sum. */
  texts: { min: string; max: string; sum: string };
  avg: number | null;
  /** The numbers, ascending. */
  numbers: number[];
  /** True when all of them were written as decimals of few digits: their sum is exact. */
  plain: boolean;
}

export class Model {
  readonly events: ModelEvent[] = [];
  readonly #nodes = new Map<ModelEvent, Node>();

  add(event: ModelEvent): void {
    this.events.push(event);
    this.#nodes.set(event, parseNode(event.event));
  }

  /** The events of a range for which a predicate holds. */
  selected(fromMs: number, toMs: number, predicate: ModelPredicate): ModelEvent[] {
    return this.events.filter(
      (event) =>
        event.timeMs >= fromMs && event.timeMs < toMs && holds(predicate, this.node(event)),
    );
  }

  /** An event as a tree. */
  node(event: ModelEvent): Node {
    return this.#nodes.get(event) ?? { type: 'null' };
  }

  list(query: ModelListQuery): ModelEvent[] {
    const sign = query.order === 'asc' ? 1 : -1;
    const { after } = query;
    return this.selected(query.fromMs, query.toMs, query.predicate)
      .filter((event) => after === undefined || sign * compareModel(event, after) > 0)
      .sort((a, b) => sign * compareModel(a, b))
      .slice(0, query.limit);
  }

  find(key: Pick<ModelEvent, 'timeMs' | 'writer' | 'sequence'>): ModelEvent | undefined {
    return this.events.find((event) => compareModel(event, key) === 0);
  }

  holds(event: ModelEvent, predicate: ModelPredicate): boolean {
    return holds(predicate, this.node(event));
  }

  count(fromMs: number, toMs: number, predicate: ModelPredicate): number {
    return this.selected(fromMs, toMs, predicate).length;
  }

  /** The values of an attribute of the selected events, summed up. */
  summary(fromMs: number, toMs: number, predicate: ModelPredicate, path: string): ModelSummary {
    return this.summaryOf(this.selected(fromMs, toMs, predicate), path);
  }

  /** The values of an attribute of events, summed up. */
  summaryOf(events: ModelEvent[], path: string): ModelSummary {
    const values = events.flatMap((event) => scalarsAt(this.node(event), path));
    const texts = values
      .filter((value) => isNumeric(value) && Number.isFinite(Number(value.text)))
      .map((value) => value.text);
    texts.sort(compareNumbers);
    const numbers = texts.map(Number);
    const sumText = exactSum(texts);
    const sum = numbers.length === 0 ? null : Number(sumText);
    return {
      count: values.length,
      cardinality: new Set(values.map(distinctKey)).size,
      sum,
      absolute: numbers.reduce((total, number) => total + Math.abs(number), 0),
      min: numbers[0] ?? null,
      max: numbers.at(-1) ?? null,
      texts: { min: texts[0] ?? '', max: texts.at(-1) ?? '', sum: sumText },
      avg: sum === null ? null : sum / numbers.length,
      numbers,
      plain: texts.every((text) => PLAIN.test(text)),
    };
  }
}

/** Identity of a value: its type and text; of a number what it says. */
export function distinctKey(value: Scalar): string {
  if (value.type !== 'number') return `${value.type} ${value.text}`;
  const number = fraction(value.text);
  return `number ${number?.mantissa}e${number?.exponent}`;
}

/** The text of the sum of number texts. */
function exactSum(texts: string[]): string {
  const numbers = texts.map((text) => fraction(text) ?? { mantissa: 0n, exponent: 0 });
  const least = numbers.reduce((min, { exponent }) => Math.min(min, exponent), 0);
  const total = numbers.reduce(
    (sum, { mantissa, exponent }) => sum + mantissa * 10n ** BigInt(exponent - least),
    0n,
  );
  return `${total}e${least}`;
}
