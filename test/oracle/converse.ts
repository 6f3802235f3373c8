import {
  compareScalars,
  isRight,
  type ModelBucket,
  type ModelNumber,
  modelPage,
} from '../support/bucket-model.ts';
import {
  compareModel,
  distinctKey,
  holds,
  type Model,
  type ModelEvent,
  type Node,
  nodesAt,
  parseNode,
  type Scalar,
  scalarsAt,
} from '../support/model.ts';
import { isoOf } from '../support/zone-model.ts';
import { FETCH_PATH, type Meaning, type ModelColumn } from './meaning.ts';

/** Asks all pages of a request, and holds each against what the model says of it. */

/** The answer of a POST of `body` to `path`. */
export type Ask = (path: string, body: string) => Promise<{ status: number; text: string }>;

/** A request as it was sent, and the text of its answer. */
export interface Exchange {
  path: string;
  body: string;
  text: string;
}

/** The events that answers are about. */
export interface Known {
  model: Model;
  /** Ids of the events. */
  ids: ReadonlyMap<ModelEvent, string>;
}

/** An answer that is not the model's. */
export class Disagreement extends Error {
  constructor(path: string, body: string, what: string) {
    const quoted = body.replaceAll("'", "'\\''");
    super(
      `${what}\ncurl -s localhost:8080${path} -H 'content-type: application/json' -H "x-api-key: $KEY" -d '${quoted}'`,
    );
  }
}

const PAGES_MAX = 400;

/** All that was asked and answered, up to so many pages. Throws Disagreement. */
export async function converse(
  ask: Ask,
  meaning: Meaning,
  known: Known,
  pagesMax = Number.POSITIVE_INFINITY,
): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  const asked = async (path: string, body: string): Promise<string> => {
    const text = await answered(ask, path, body);
    exchanges.push({ path, body, text });
    return text;
  };
  if (meaning.type === 'list') await listPages(asked, meaning, known, pagesMax);
  else await aggregatePages(asked, meaning, known, pagesMax);
  return exchanges;
}

/** The answer's text. Throws Disagreement when it is a refusal. */
export async function answered(ask: Ask, path: string, body: string): Promise<string> {
  const { status, text } = await ask(path, body);
  if (status !== 200) throw new Disagreement(path, body, `answered ${status}: ${text}`);
  return text;
}

/** Asks a service that does not refuse. */
type Asked = (path: string, body: string) => Promise<string>;

type ListMeaning = Extract<Meaning, { type: 'list' }>;

async function listPages(
  ask: Asked,
  meaning: ListMeaning,
  known: Known,
  pagesMax: number,
): Promise<void> {
  const { path, body, limit, columns, event } = meaning;
  const events = selected(meaning, known);
  let after: string | undefined;
  for (let page = 0; page < pagesMax; page++) {
    // What is skipped is skipped once.
    const next = { ...body, skip: undefined, afterEvent: after };
    const sent = JSON.stringify(after === undefined ? body : next);
    const text = await ask(path, sent);
    expectText(path, sent, withoutHints(text), listText(meaning, known, events, page));
    const ids = idsIn(text);
    if (page === 0 && ids.length > 0) {
      const fetch = JSON.stringify({ id: ids[0], event, columns: body['columns'] });
      const fetched = await ask(FETCH_PATH, fetch);
      const first = events[meaning.skip ?? 0];
      const wanted = eventText({ ...known, zone: 'UTC', columns, event }, first);
      expectText(FETCH_PATH, fetch, fetched, `{"result":${wanted}}`);
    }
    if (ids.length < limit) return;
    if (page > PAGES_MAX) throw new Disagreement(path, sent, 'the pages do not end');
    after = ids[ids.length - 1];
  }
}

function expectText(path: string, body: string, text: string, wanted: string): void {
  if (text === wanted) return;
  throw new Disagreement(path, body, `answered ${text}\nnot      ${wanted}`);
}

/** The answer of a list without its hints, which only one without events has: the model knows none. */
function withoutHints(text: string): string {
  if (!text.startsWith('{"result":{"events":[]')) return text;
  const { hints, ...result } = (JSON.parse(text) as { result: { hints?: unknown } }).result;
  return hints === undefined ? text : JSON.stringify({ result });
}

/** The ids of the events of a list's answer. */
export function idsIn(text: string): string[] {
  const result = (JSON.parse(text) as { result: { events: { id: string }[] } }).result;
  return result.events.map(({ id }) => id);
}

function selected(meaning: ListMeaning, { model }: Known): ModelEvent[] {
  const { fromMs, toMs, predicate, order, orderBy } = meaning;
  const sign = order === 'asc' ? 1 : -1;
  const events = model.selected(fromMs, toMs, predicate);
  events.sort((a, b) => sign * compareModel(a, b));
  if (orderBy === undefined) return events;
  const first = (event: ModelEvent): Scalar | undefined =>
    scalarsAt(model.node(event), orderBy).sort((a, b) => sign * compareScalars(a, b))[0];
  const valued = events.map((event) => ({ event, value: first(event) }));
  valued.sort(({ value: a }, { value: b }) => {
    if (a === undefined || b === undefined)
      return Number(a === undefined) - Number(b === undefined);
    return sign * compareScalars(a, b);
  });
  return valued.map(({ event }) => event);
}

/** The answer of a page of all the `events` of a list. */
function listText(meaning: ListMeaning, known: Known, events: ModelEvent[], page: number): string {
  const { limit, skip = 0, total } = meaning;
  const texts = events
    .slice(skip + page * limit, skip + (page + 1) * limit)
    .map((event) => eventText({ ...known, ...meaning }, event));
  const counted = total ? `,"total":${events.length}` : '';
  return `{"result":{"events":[${texts.join(',')}]${counted}}}`;
}

function eventText(
  form: Known & { zone: string; columns: ModelColumn[]; event: boolean },
  event: ModelEvent,
): string {
  const { model, ids, zone, columns } = form;
  const parts = [`"id":"${ids.get(event)}"`, `"date":"${isoOf(zone, event.timeMs)}"`];
  if (form.event) parts.push(`"event":${event.event}`);
  if (columns.length > 0) {
    const values = columns.map((column) => columnText(column, model.node(event)));
    parts.push(`"columns":[${values.join(',')}]`);
  }
  return `{${parts.join(',')}}`;
}

function columnText(column: ModelColumn, event: Node): string {
  if (column.type === 'count') return '1';
  if (column.type === 'path') return pathText(event, column.path);
  if (column.type === 'tag') {
    const tag = column.tags.find(({ predicate }) => holds(predicate, event));
    return tag === undefined ? 'null' : JSON.stringify(tag.id);
  }
  const number = onEvent(column.expression, event);
  return JSON.stringify(number);
}

function pathText(event: Node, path: string): string {
  const [node] = nodesAt(event, path);
  return node === undefined ? 'null' : printNode(node);
}

/** JSON text of a tree; numbers as they were written. */
function printNode(node: Node): string {
  switch (node.type) {
    case 'null':
      return 'null';
    case 'string':
      return JSON.stringify(node.text);
    case 'array':
      return `[${node.elements.map(printNode).join(',')}]`;
    case 'object': {
      const members = [...node.members];
      return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${printNode(member)}`).join(',')}}`;
    }
    default:
      return node.text;
  }
}

const NUMERIC = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A formula over one event. */
function onEvent(
  expression: Extract<ModelColumn, { type: 'formula' }>['expression'],
  event: Node,
): number | null {
  const finite = (value: number) => (Number.isFinite(value) ? value : null);
  if (expression.type === 'number') return expression.value;
  if (expression.type === 'metric') {
    const { metric } = expression;
    if (metric.type === 'core') return 1;
    const [node] = nodesAt(event, metric.path);
    if (node?.type === 'number') return finite(Number(node.text));
    const isNumber = node?.type === 'string' && NUMERIC.test(node.text);
    return isNumber ? finite(Number(node.text)) : null;
  }
  const left = onEvent(expression.left, event);
  const right = onEvent(expression.right, event);
  if (left === null || right === null) return null;
  switch (expression.operator) {
    case '+':
      return finite(left + right);
    case '-':
      return finite(left - right);
    case '*':
      return finite(left * right);
    default:
      return right === 0 ? null : finite(left / right);
  }
}

type AggregateMeaning = Extract<Meaning, { type: 'aggregate' }>;

async function aggregatePages(
  ask: Asked,
  meaning: AggregateMeaning,
  known: Known,
  pagesMax: number,
): Promise<void> {
  const { path, body } = meaning;
  const whole = JSON.stringify(body);
  let after: Node | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const sent =
      after === undefined ? whole : `${whole.slice(0, -1)},"afterBucket":${printNode(after)}}`;
    const result = memberOf(parseNode(await ask(path, sent)), 'result');
    const last = memberOf(result, 'lastBucket');
    const key = after === undefined ? {} : { after: lastKey(meaning, after) };
    const wanted = modelPage(known.model, { ...meaning.query, ...key });
    const found = bucketsIn(meaning, memberOf(result, 'aggregates'));
    const fault = faultOf(meaning, found, wanted.buckets);
    if (fault !== undefined) throw new Disagreement(path, sent, fault);
    const wantedLast = isNatural(meaning) ? wanted.last : undefined;
    const foundLast = last === undefined ? undefined : lastKey(meaning, last);
    if (foundLast !== wantedLast) {
      throw new Disagreement(path, sent, `lastBucket ${foundLast}, not ${wantedLast}`);
    }
    if (last === undefined) return;
    if (page > PAGES_MAX) throw new Disagreement(path, sent, 'the pages do not end');
    after = last;
  }
}

function isNatural({ query }: AggregateMeaning): boolean {
  const [first] = query.groupBys;
  return first !== undefined && first.type !== 'time' && first.order.by.type === 'natural';
}

/** The model's key of a `lastBucket`. */
function lastKey(meaning: AggregateMeaning, last: Node): string {
  return keyText(meaning, 0, memberOf(last, meaning.groupOutputs[0]));
}

function memberOf(node: Node | undefined, name: string): Node | undefined {
  return node?.type === 'object' ? node.members.get(name) : undefined;
}

/** A key of an answer as the model writes it. */
function keyText(
  { query, totals }: AggregateMeaning,
  place: number,
  node: Node | undefined,
): string {
  if (node === undefined || !('text' in node)) return 'no key';
  const groupBy = query.groupBys[place];
  if (groupBy.total && node.type === 'string' && node.text === totals[place]) return 'total';
  if (groupBy.type === 'time') return `date ${node.text}`;
  return groupBy.type === 'tagset' ? `tag ${node.text}` : distinctKey(node);
}

interface FoundBucket {
  keys: string[];
  values: (Node | undefined)[];
}

function bucketsIn(meaning: AggregateMeaning, aggregates: Node | undefined): FoundBucket[] {
  const { groupOutputs, outputs } = meaning;
  const elements = aggregates?.type === 'array' ? aggregates.elements : [];
  return elements.map((element) => {
    const bucket = memberOf(element, 'bucket');
    const values = memberOf(element, 'values');
    return {
      keys: groupOutputs.map((name, place) => keyText(meaning, place, memberOf(bucket, name))),
      values: outputs.map((name) => memberOf(values, name)),
    };
  });
}

/** The difference from the model, in words. */
function faultOf(
  { zone, outputs, query }: AggregateMeaning,
  found: FoundBucket[],
  wanted: ModelBucket[],
): string | undefined {
  const dated = (key: string) =>
    key.startsWith('time ') ? `date ${isoOf(zone, Number(key.slice(5)))}` : key;
  const keys = JSON.stringify(found.map((bucket) => bucket.keys));
  const wantedKeys = JSON.stringify(
    wanted.map((bucket) =>
      bucket.keys.map((key, place) => (query.groupBys[place].type === 'time' ? dated(key) : key)),
    ),
  );
  if (keys !== wantedKeys) return `buckets ${keys}\nnot     ${wantedKeys}`;
  for (const [at, bucket] of wanted.entries()) {
    for (const [place, value] of bucket.values.entries()) {
      const actual = found[at].values[place];
      const compute = query.computes[place];
      const isRight = Array.isArray(value)
        ? compute.type === 'timeseries' && isSeries(actual, value, compute.boundaries, zone)
        : isNumber(actual, value);
      if (!isRight) {
        const text = actual === undefined ? 'nothing' : printNode(actual);
        return `${outputs[place]} of ${bucket.keys} is ${text}, not ${JSON.stringify(value)}`;
      }
    }
  }
  return undefined;
}

function isSeries(
  actual: Node | undefined,
  wanted: ModelNumber[],
  boundaries: number[],
  zone: string,
): boolean {
  if (actual?.type !== 'array' || actual.elements.length !== wanted.length) return false;
  return actual.elements.every((point, step) => {
    const time = memberOf(point, 'time');
    const isTime = time?.type === 'string' && time.text === isoOf(zone, boundaries[step]);
    return isTime && isNumber(memberOf(point, 'value'), wanted[step]);
  });
}

function isNumber(actual: Node | undefined, wanted: ModelNumber): boolean {
  if (actual?.type === 'null') return isRight(null, wanted);
  return actual?.type === 'number' && isRight(actual.text, wanted);
}
