import { must } from '../../engine/base/assert.ts';
import {
  type ApiExample,
  EXAMPLE_EVENT_ID,
  EXAMPLE_TIME,
  EXAMPLE_VIEW_ID,
  EXAMPLE_WRITE_KEY,
} from '../../server/api/routes/examples/example.ts';
import type { ApiOperation } from '../../server/api/routes/operation.ts';
import { ROUTES } from '../../server/api/routes/table.ts';
import { type Answer, ask, type Listed, request, type Service } from './service.ts';
import { logIn } from './session.ts';

/** Runs the examples of the description of the interface against a service. */

/** Placeholders in examples for values that a service makes up, and these. */
export interface Placeholders {
  writeKey: string;
  eventId: string;
  viewId: string;
  /** Of the session of an admin. */
  cookie: string;
}

/** A request as `fetch` takes it. */
export interface ExampleRequest {
  url: string;
  init: { method: string; headers: Record<string, string>; body?: string };
}

/** The examples in an order in which all of them work: what is defined comes before what uses it, and goes last. */
export function examplesInOrder(): [ApiOperation, ApiExample][] {
  const rankOf = ({ id, access, method }: ApiOperation): number => {
    if (access === 'writer') return 0;
    if (id.startsWith('make')) return 1;
    return method === 'delete' ? 3 : 2;
  };
  const ranked = ROUTES.map((operation, place) => {
    const rank = rankOf(operation);
    return { operation, rank, place: rank === 3 ? -place : place };
  });
  ranked.sort((left, right) => left.rank - right.rank || left.place - right.place);
  return ranked.flatMap(({ operation }) =>
    operation.examples.map((example): [ApiOperation, ApiExample] => [operation, example]),
  );
}

/** Values of the placeholders in a service that has nothing yet, and in which an admin logs in. */
export async function firstPlaceholders(service: Service, token: string): Promise<Placeholders> {
  const body = { name: 'root', role: 'admin', password: 'a password of root' };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  await request(`${service.http}/admin/api/users`, init);
  const cookie = await logIn(service, { name: body.name, password: body.password });
  return { writeKey: service.writeKey, eventId: '', viewId: '', cookie };
}

/** Values of further placeholders when the service has the events of the examples. */
export async function placeholdersOf(
  service: Service,
): Promise<Pick<Placeholders, 'writeKey' | 'eventId'>> {
  const answer = await ask(service, '/beta/events/list', { time: EXAMPLE_TIME, limit: 1 });
  const { events } = Object(answer.body).result as { events: Listed[] };
  return { writeKey: service.writeKey, eventId: must(events[0], 'newest event').id };
}

/** The request of an example. */
export function requestOf(
  service: Service,
  token: string,
  operation: ApiOperation,
  example: ApiExample,
  placeholders: Placeholders,
): ExampleRequest {
  const filled = (text: string): string =>
    text
      .replaceAll(EXAMPLE_WRITE_KEY, placeholders.writeKey)
      .replaceAll(EXAMPLE_EVENT_ID, placeholders.eventId)
      .replaceAll(EXAMPLE_VIEW_ID, placeholders.viewId);
  const headers: Record<string, string> = {};
  const query = new URLSearchParams();
  let { path } = operation;
  for (const { name, in: place } of operation.parameters ?? []) {
    const value = example.parameters?.[name];
    if (value === undefined) continue;
    const text = filled(String(value));
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(text));
    else if (place === 'query') query.set(name, text);
    else headers[name] = text;
  }
  if (operation.access === 'reader') headers['x-api-key'] = service.readKey;
  if (operation.access === 'admin' || operation.access === 'overview') {
    headers['authorization'] = `Bearer ${token}`;
  }
  if (operation.access === 'session' && example.status === undefined) {
    headers['cookie'] = placeholders.cookie;
  }
  if (operation.access === 'writer') headers['x-api-key'] = service.writeKey;
  const init: ExampleRequest['init'] = { method: operation.method.toUpperCase(), headers };
  if (example.body !== undefined) {
    headers['content-type'] =
      example.type ?? must(operation.bodies?.[0], `body of ${operation.id}`).type;
    init.body = filled(
      typeof example.body === 'string' ? example.body : JSON.stringify(example.body),
    );
  }
  const search = query.size === 0 ? '' : `?${query}`;
  return { url: `${service.http}${path}${search}`, init };
}

/** Sends a request; of a reply that does not end only what comes first. */
export async function answerTo({ url, init }: ExampleRequest): Promise<Answer> {
  const leave = new AbortController();
  const response = await fetch(url, { ...init, signal: leave.signal });
  const type = response.headers.get('content-type') ?? '';
  let text = '';
  if (type.startsWith('text/event-stream')) {
    const reader = must(response.body, 'body').getReader();
    const { value } = await reader.read();
    text = new TextDecoder().decode(value);
    leave.abort();
  } else text = await response.text();
  const isJson = type.startsWith('application/json');
  return {
    ...{ status: response.status, headers: response.headers, text },
    body: isJson ? JSON.parse(text) : text,
  };
}
