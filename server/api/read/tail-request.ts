import { allOf } from '../../language/filter.ts';
import { shown } from '../../language/shown.ts';
import type { TailEnd } from '../../query/tail/tail.ts';
import type { TailPlace } from '../../query/tail/tail-token.ts';
import { columnsOf } from '../columns.ts';
import { jsonFault } from '../json.ts';
import { ApiError, type ApiRequest, type Reply } from '../reply.ts';
import type { ReadContext } from '../route.ts';
import { checkTailBody, type TailBody } from '../schema.ts';
import { predicateOf, searchOf } from '../selection.ts';
import { zoneOf } from './context.ts';

const PER_SECOND_DEFAULT = 200;
/** Parameters of GET besides the key: texts, JSON, and others. */
const TEXT_PARAMETERS: readonly string[] = ['query', 'timezone', 'last_event_id'];
const JSON_PARAMETERS: readonly string[] = ['filters', 'columns'];
/** Header in which browsers tell the last id when they connect again. */
const PLACE_HEADER = 'last-event-id';

/**
 * `GET` and `POST /beta/events/tail`: the events that are committed from now on, or behind the one that was the last,
 * as server-sent events. Throws ApiError, and QueryRefused when there are too many.
 */
export function tailEvents(context: ReadContext): Reply {
  const { key, resolver, request } = context;
  const body = request.method === 'GET' ? bodyOfQuery(request) : checkTailBody(context.body);
  const security = key.filter;
  const search = searchOf(body.query ?? '', 'query', resolver);
  const place = placeOf(body, context);
  const stream = context.tails.open({
    key: key.id,
    predicate: predicateOf(body.filters ?? [], allOf([security, search]), resolver),
    event: body.event ?? true,
    columns: columnsOf(body.columns ?? [], resolver),
    zone: zoneOf(body.timezone).name,
    perSecondMax: body.limit_per_second ?? PER_SECOND_DEFAULT,
    ...(place === undefined ? {} : { place }),
    refusal: () => refusalOf(context),
    signal: context.signal,
  });
  return {
    status: 200,
    body: '',
    stream,
    contentType: 'text/event-stream',
    // Proxies are not to keep events back.
    headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  };
}

/** Why a tail may not go on: its key is not what it was. */
function refusalOf({ key, currentKey }: ReadContext): TailEnd | undefined {
  try {
    const { filter } = currentKey();
    if (filter === key.filter) return undefined;
    return JSON.stringify(filter) === JSON.stringify(key.filter) ? undefined : 'filter_changed';
  } catch (error) {
    // A filter that cannot be understood any more hides everything.
    const isGone = error instanceof ApiError && error.status === 401;
    return isGone ? 'key_deleted' : 'filter_changed';
  }
}

/** The place behind the last event that the client had; `undefined` when it had none. */
function placeOf(body: TailBody, { request, tails }: ReadContext): TailPlace | undefined {
  // The address of a browser that connects again is the one of the first time.
  const header = request.headers.get(PLACE_HEADER) ?? '';
  const token = header === '' ? body.last_event_id : header;
  if (token === undefined || token === '') return undefined;
  const place = tails.placeOf(token);
  if (place !== undefined) return place;
  const parameter = header === '' ? 'last_event_id' : 'the header Last-Event-ID';
  throw new ApiError(
    400,
    `${parameter} ${shown(token)} is malformed; allowed: the id of an event of a tail`,
  );
}

/** The body that a GET's parameters stand for. */
function bodyOfQuery(request: ApiRequest): TailBody {
  const body = new Map<string, unknown>();
  for (const [name, text] of request.query) {
    if (name === 'api_key') continue;
    const isJson = JSON_PARAMETERS.includes(name);
    if (TEXT_PARAMETERS.includes(name)) body.set(name, text);
    else body.set(name, isJson ? parseParameter(name, text) : scalarOr(text));
  }
  return checkTailBody(Object.fromEntries(body));
}

/** The JSON value of a parameter. Throws ApiError 400 naming the position of a syntax error. */
function parseParameter(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const { position, expected } = jsonFault(text);
    throw new ApiError(
      400,
      `${name} ${shown(text)} is not JSON: at position ${position}: expected ${expected}`,
    );
  }
}

/** The number or truth value that a text is, else the text, which is then refused. */
function scalarOr(text: string): boolean | number | string {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}
