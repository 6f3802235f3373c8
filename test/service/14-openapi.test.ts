import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { must } from '../../engine/base/assert.ts';
import { refusalsOf } from '../../server/api/openapi/document.ts';
import { errorReply, inputErrorReply } from '../../server/api/openapi/reply-schema.ts';
import type { ApiExample } from '../../server/api/routes/examples/example.ts';
import type { ApiOperation } from '../../server/api/routes/operation.ts';
import { ROUTES } from '../../server/api/routes/table.ts';
import {
  answerTo,
  type ExampleRequest,
  examplesInOrder,
  firstPlaceholders,
  placeholdersOf,
  requestOf,
} from '../support/openapi-run.ts';
import { type Answer, testService } from '../support/service.ts';
import { logIn } from '../support/session.ts';

const service = await testService(t);
const token = readFileSync(join(service.folder, 'admin-token'), 'utf8').trim();
let placeholders = await firstPlaceholders(service, token);

/** Members that are never twice the same. */
const VOLATILE = [
  ...['tookMs', 'ms', 'key', 'reception', 'daily_usage', 'last_seen', 'created', 'ends', 'at'],
  'changed',
];

/** A reply in which everything that a service makes up is replaced. */
function steady(value: unknown): unknown {
  if (typeof value === 'string') {
    return value
      .replace(/(^|\n|"id":")[\w-]{22}(?=[",]|$)/g, '$1an event')
      .replace(/\b[0-9a-f]{16}\b/g, 'a key')
      .replace(/id: [\w-]{22,}/g, 'id: a place');
  }
  if (Array.isArray(value)) return value.map(steady);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      VOLATILE.includes(name) ? name : steady(member),
    ]),
  );
}

/** True when a reply has what an excerpt shows: members, elements of arrays wherever they stand, and lines. */
function has(actual: unknown, excerpt: unknown): boolean {
  if (Array.isArray(excerpt)) {
    if (!Array.isArray(actual)) return false;
    return excerpt.every((wanted) => actual.some((one) => has(one, wanted)));
  }
  if (typeof excerpt === 'object' && excerpt !== null) {
    return Object.entries(excerpt).every(([name, wanted]) => has(Object(actual)[name], wanted));
  }
  if (typeof excerpt === 'string') return String(actual).includes(excerpt);
  return actual === excerpt;
}

/** The reply as the example has it: lines of JSON one by one. */
function bodyOf(answer: Answer): unknown {
  const isLines = answer.headers.get('content-type')?.includes('ndjson');
  return isLines === true ? JSON.parse(answer.text.trim()) : answer.body;
}

t.test(
  'each example works and has the answer that is shown, of the form that is told',
  async (t) => {
    for (const [operation, example] of examplesInOrder()) {
      if (operation.access !== 'writer' && placeholders.eventId === '') {
        placeholders = { ...placeholders, ...(await placeholdersOf(service)) };
      }
      const title = `${operation.id} ${example.name}`;
      const answer = await answerTo(requestOf(service, token, operation, example, placeholders));
      t.equal(answer.status, example.status ?? 200, `${title}: ${answer.text.slice(0, 200)}`);
      const type = example.replyType ?? operation.replies[0].type;
      if (operation.id === 'makeView') placeholders.viewId = Object(answer.body).result.id;
      const content = must(
        operation.replies.find((reply) => reply.type === type),
        `reply of ${title}`,
      );
      const schema = Compile(example.status === undefined ? content.schema : errorReply);
      const body = bodyOf(answer);
      if (example.status === undefined) {
        t.match(answer.headers.get('content-type'), type, `${title}: type`);
      }
      t.same([...schema.Errors(body)], [], `${title}: form of the answer`);
      const [found, shown] = [steady(body), steady(example.reply)];
      if (example.isExcerpt === true) t.ok(has(found, shown), `${title}: the excerpt`);
      else {
        t.same([...schema.Errors(example.reply)], [], `${title}: form of what is shown`);
        t.same(found, shown, `${title}: the answer`);
      }
    }
  },
);

/** The cookie of a reader's session. */
let cookie = '';

/** Statuses that come of load, of failures of the machine, or of another request. */
const OF_CIRCUMSTANCES = [409, 411, 429, 500, 503, 507];

/** A request that is refused with `status`, made of one that works; `undefined` where none is. */
function spoilt(status: number, operation: ApiOperation): ExampleRequest | undefined {
  const example: ApiExample = operation.examples[0];
  const request = requestOf(service, token, operation, example, placeholders);
  const { init } = request;
  const isRead = operation.access === 'reader' || operation.access === 'overview';
  if (status === 401 && operation.id === 'logIn') {
    const body = JSON.stringify({ name: 'ann', password: 'a wrong password' });
    return { ...request, init: { ...init, body } };
  }
  if (status === 401) {
    const { 'x-api-key': _, authorization: __, cookie: ___, ...headers } = init.headers;
    const url = request.url.replace(placeholders.writeKey, 'no-such-key');
    return { url, init: { ...init, headers } };
  }
  if (status === 403 && isRead) {
    const { authorization: _, ...headers } = init.headers;
    return {
      ...request,
      init: { ...init, headers: { ...headers, 'x-api-key': service.writeKey } },
    };
  }
  if (status === 403 && operation.access === 'admin') {
    const { authorization: _, ...headers } = init.headers;
    return { ...request, init: { ...init, headers: { ...headers, cookie } } };
  }
  if (operation.access === 'session') Object.assign(init.headers, { cookie });
  if (status === 403) return withHeader(request, 'origin', 'https://elsewhere.test');
  if (status === 405) return { ...request, init: { method: 'PUT', headers: init.headers } };
  if (status === 415) {
    if (operation.access === 'writer') return withHeader(request, 'content-encoding', 'rot13');
    return withHeader({ ...request, init: { ...init, body: '{}' } }, 'content-type', 'text/plain');
  }
  if (status === 413) {
    if (operation.access === 'writer') {
      const url = `${request.url}?debug=1`;
      return { url, init: { ...init, body: ' '.repeat(1_048_577) } };
    }
    return { ...request, init: { ...init, body: ' '.repeat(1_048_577) } };
  }
  if (status === 404) {
    if (!operation.path.includes('{')) {
      const body = { ...Object(example.body), id: 'no-such-event' };
      return { ...request, init: { ...init, body: JSON.stringify(body) } };
    }
    const parameters = { ...example.parameters };
    for (const name of Object.keys(parameters)) {
      if (operation.path.includes(`{${name}}`)) parameters[name] = 'no-such-thing';
    }
    return requestOf(service, token, operation, { ...example, parameters }, placeholders);
  }
  if (status !== 400) return undefined;
  // What is used by others, of what every service has, and the last admin.
  if (operation.id === 'deleteUser') return withPath(request, 'users/root');
  if (operation.id === 'deleteField') return withPath(request, 'fields/syslog.appname');
  if (operation.id === 'deleteMetric') return withPath(request, 'metrics/count');
  if (operation.method === 'get' || operation.method === 'delete') {
    const separator = request.url.includes('?') ? '&' : '?';
    return { ...request, url: `${request.url}${separator}surprise=1` };
  }
  const body = operation.access === 'writer' ? '{"broken":' : '{"surprise":1}';
  const json = withHeader(request, 'content-type', 'application/json');
  return { ...json, init: { ...json.init, body } };
}

function withHeader(request: ExampleRequest, name: string, value: string): ExampleRequest {
  const { init } = request;
  return { ...request, init: { ...init, headers: { ...init.headers, [name]: value } } };
}

function withPath(request: ExampleRequest, path: string): ExampleRequest {
  return { ...request, url: `${service.http}/admin/api/${path}` };
}

t.test('each status that a request can cause is answered, in the form that is told', async (t) => {
  // What the deletions at the end took away.
  for (const [operation, example] of examplesInOrder()) {
    if (!operation.id.startsWith('make')) continue;
    await answerTo(requestOf(service, token, operation, example, placeholders));
  }
  cookie = await logIn(service, { name: 'ann', password: 'correct horse battery' });
  for (const operation of ROUTES) {
    const schema = Compile(operation.access === 'writer' ? inputErrorReply : errorReply);
    for (const status of refusalsOf(operation)) {
      if (OF_CIRCUMSTANCES.includes(status)) continue;
      const title = `${operation.id} ${status}`;
      const request = spoilt(status, operation);
      if (request === undefined) {
        t.fail(title);
        continue;
      }
      const answer = await answerTo(request);
      t.equal(answer.status, status, `${title}: ${answer.text.slice(0, 200)}`);
      t.same([...schema.Errors(answer.body)], [], `${title}: form of the refusal`);
    }
  }
});

t.test('the description needs no key and is the same whenever it is asked for', async (t) => {
  const [first, second] = await Promise.all(
    [1, 2].map(() =>
      answerTo({ url: `${service.http}/openapi.json`, init: { method: 'GET', headers: {} } }),
    ),
  );
  t.equal(first.status, 200);
  t.equal(first.headers.get('content-type'), 'application/json');
  t.equal(first.headers.get('access-control-allow-origin'), '*');
  t.equal(first.text, second.text);
});
