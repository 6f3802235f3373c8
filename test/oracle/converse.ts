import { type ModelBucket, type ModelNumber, modelPage } from '../support/bucket-model.ts';
import {
  compareModel,
  distinctKey,
  holds,
  type Model,
  type ModelEvent,
  type Node,
  nodesAt,
  parseNode,
} from '../support/model.ts';
import { isoOf } from '../support/zone-model.ts';
import { FETCH_PATH, type Meaning, type ModelColumn } from './meaning.ts';

/** Asks all pages of a request, and holds each against what the model says of it. */

/** The answer of a POST of `body` to `path`. */
export type Ask = (path: string, body: string) => Promise<{ status: number; text: string }>;

/** What the answers are held against. */
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

/** The texts of all answers. Throws Disagreement, when `known` is given. */
export async function converse(
  ask: Ask,
  meaning: Meaning,
  known: Known | undefined,
): Promise<string[]> {
  return meaning.type === 'list'
    ? listPages(ask, meaning, known)
    : aggregatePages(ask, meaning, known);
}

async function answered(ask: Ask, path: string, body: string): Promise<string> {
  const { status, text } = await ask(path, body);
  if (status !== 200) throw new Disagreement(path, body, `answered ${status}: ${text}`);
  return text;
}

async function listPages(
  ask: Ask,
  meaning: Extract<Meaning, { type: 'list' }>,
  known: Known | undefined,
): Promise<string[]> {
  const { path, body, limit, columns, event } = meaning;
  const texts: string[] = [];
  let after: string | undefined;
  for (let page = 0; ; page++) {
    const sent = JSON.stringify(after === undefined ? body : { ...body, afterEvent: after });
    const text = await answered(ask, path, sent);
    texts.push(text);
    if (known !== undefined) {
      const wanted = listText(meaning, known, page);
      if (text !== wanted)
        throw new Disagreement(path, sent, `answered ${text}\nnot      ${wanted}`);
    }
    const ids = idsIn(text);
    if (page === 0 && ids.length > 0) {
      const fetch = JSON.stringify({ id: ids[0], event, columns: body['columns'] });
      const fetched = await answered(ask, FETCH_PATH, fetch);
      texts.push(fetched);
      const [first] = known === undefined ? [] : selected(meaning, known);
      if (known !== undefined && first !== undefined) {
        const wanted = `{"result":${eventText({ ...known, zone: 'UTC', columns, event }, first)}}`;
        if (fetched !== wanted) {
          throw new Disagreement(FETCH_PATH, fetch, `answered ${fetched}\nnot      ${wanted}`);
        }
      }
    }
    if (ids.length < limit) return texts;
    if (page > PAGES_MAX) throw new Disagreement(path, sent, 'the pages do not end');
    after = ids[ids.length - 1];
  }
}

/** The ids of the events of a list's answer. */
export function idsIn(text: string): string[] {
  const result = (JSON.parse(text) as { result: { events: { id: string }[] } }).result;
  return result.events.map(({ id }) => id);
}

function selected(meaning: Extract<Meaning, { type: 'list' }>, { model }: Known): ModelEvent[] {
  const { fromMs, toMs, predicate, order } = meaning;
  const sign = order === 'asc' ? 1 : -1;
  return model.selected(fromMs, toMs, predicate).sort((a, b) => sign * compareModel(a, b));
}

function listText(meaning: Extract<Meaning, { type: 'list' }>, known: Known, page: number): string {
  const { limit } = meaning;
  const events = selected(meaning, known).slice(page * limit, (page + 1) * limit);
  const texts = events.map((event) => eventText({ ...known, ...meaning }, event));
  return `{"result":{"events":[${texts.join(',')}]}}`;
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

async function aggregatePages(
  ask: Ask,
  meaning: Extract<Meaning, { type: 'aggregate' }>,
  known: Known | undefined,
): Promise<string[]> {
  const { path, body } = meaning;
  const texts: string[] = [];
  let after: Node | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const whole = JSON.stringify(body);
    const sent =
      after === undefined ? whole : `${whole.slice(0, -1)},"afterBucket":${printNode(after)}}`;
    const text = await answered(ask, path, sent);
    texts.push(text);
    const result = memberOf(parseNode(text), 'result');
    const last = memberOf(result, 'lastBucket');
    if (known !== undefined) {
      const key = after === undefined ? {} : { after: lastKey(meaning, after) };
      const wanted = modelPage(known.model, { ...meaning.query, ...key });
      const found = bucketsIn(meaning, memberOf(result, 'aggregates'));
      const fault = faultOf(meaning, found, wanted.buckets);
      if (fault !== undefined) throw new Disagreement(path, sent, fault);
      const isPaged = isNatural(meaning);
      const wantedLast = isPaged ? wanted.last : undefined;
      const foundLast = last === undefined ? undefined : lastKey(meaning, last);
      if (foundLast !== wantedLast) {
        throw new Disagreement(path, sent, `lastBucket ${foundLast}, not ${wantedLast}`);
      }
    }
    if (last === undefined) return texts;
    after = last;
  }
  throw new Disagreement(path, JSON.stringify(body), 'the pages do not end');
}

function isNatural({ query }: Extract<Meaning, { type: 'aggregate' }>): boolean {
  const [first] = query.groupBys;
  return first !== undefined && first.type !== 'time' && first.order.by.type === 'natural';
}

/** The model's key of a `lastBucket`. */
function lastKey(meaning: Extract<Meaning, { type: 'aggregate' }>, last: Node): string {
  return keyText(meaning, 0, memberOf(last, meaning.groupOutputs[0]));
}

function memberOf(node: Node | undefined, name: string): Node | undefined {
  return node?.type === 'object' ? node.members.get(name) : undefined;
}

/** A key of an answer as the model writes it. */
function keyText(
  { query, totals }: Extract<Meaning, { type: 'aggregate' }>,
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

function bucketsIn(
  meaning: Extract<Meaning, { type: 'aggregate' }>,
  aggregates: Node | undefined,
): FoundBucket[] {
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

/** What is not as the model has it. */
function faultOf(
  { zone, outputs, query }: Extract<Meaning, { type: 'aggregate' }>,
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

function isNumber(actual: Node | undefined, { exact, tolerance }: ModelNumber): boolean {
  if (actual?.type === 'null') return exact === null || !Number.isFinite(tolerance);
  if (actual?.type !== 'number') return false;
  const value = Number(actual.text);
  if (value === exact || !Number.isFinite(tolerance)) return true;
  return exact !== null && Math.abs(value - exact) <= tolerance;
}
