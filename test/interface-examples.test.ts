import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  listAll,
  removeFolder,
  request,
  sendTcp,
  startService,
  temporaryFolder,
} from './support/service.ts';

/**
 * Runs the examples of server/INTERFACE.md, from its top down, against one service. An example is a fenced block whose
 * first word says what it is; the words `name=value` behind it are its parameters. `KEY`, `READ_KEY` and `TOKEN` stand
 * for the write key, the read key and the token of the service.
 *
 * | block | what is done with it |
 * |---|---|
 * | `input` | is a body, POSTed to `path` (default `/v1/input/KEY`) with the content type `type` (default `text/plain`, or `none`); other parameters are headers |
 * | `tcp`, `udp` | is sent over a connection, or as a datagram |
 * | `json event` | the events that the block before it has stored, whatever their order; their texts count, without blanks |
 * | `dates` | lines `<value> -> <date>`: an event with this `timestamp` has this date, or that of its reception |
 * | `search`, `search none` | lines that find, or do not find, the events of the last `json event` |
 * | `http` | method and path, header lines, an empty line, the body |
 * | `http answer` | the status, and what the JSON of the answer to the block before it has among other things |
 *
 * `input` takes `date`, which is then that of its events. Blocks without a word, `json` and others are only shown.
 */

const DOCUMENT = new URL('../server/INTERFACE.md', import.meta.url).pathname;
const TEXTS = ['', 'json', 'toml', 'sh'];
const FOREVER = { from: -62_135_596_800_000, to: 253_402_300_799_999 };
const TRIES_MAX = 500;

interface Block {
  kind: string;
  parameters: Map<string, string>;
  body: string;
  title: string;
}

const folder = temporaryFolder();
const service = await startService(folder, ['--udp', '127.0.0.1:0']);
t.teardown(async () => {
  await service.stop();
  removeFolder(folder);
});
const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim();

function filled(text: string): string {
  return text
    .replaceAll('READ_KEY', service.readKey)
    .replaceAll(/\bKEY\b/g, service.writeKey)
    .replaceAll(/\bTOKEN\b/g, token);
}

function blocksOf(document: string): Block[] {
  const found: Block[] = [];
  const lines = document.split('\n');
  for (let at = 0; at < lines.length; at++) {
    if (!lines[at].startsWith('```')) continue;
    const end = lines.indexOf('```', at + 1);
    const words = lines[at].slice(3).split(' ');
    const isParameter = (word: string): boolean => word.includes('=');
    const parameters = words.filter(isParameter).map((word): [string, string] => {
      const equals = word.indexOf('=');
      return [word.slice(0, equals), word.slice(equals + 1)];
    });
    found.push({
      kind: words.filter((word) => !isParameter(word)).join(' '),
      parameters: new Map(parameters),
      body: lines.slice(at + 1, end).join('\n'),
      title: `line ${at + 1}`,
    });
    at = end;
  }
  return found;
}

/** The JSON values of a text, without the blanks between their tokens. */
function jsonValues(text: string): string[] {
  const values: string[] = [];
  let value = '';
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[^\s"]/gs)) {
    value += token;
    if (token === '{' || token === '[') depth++;
    if (token === '}' || token === ']') depth--;
    if (depth > 0) continue;
    values.push(value);
    value = '';
  }
  return values;
}

const seen = new Set<string>();

/** The events that came since it was last called, each as the text of its reply and its date. */
async function newEvents(): Promise<{ id: string; text: string; date: string }[]> {
  const listed = (await listAll(service)).filter(({ id }) => !seen.has(id));
  return Promise.all(
    listed.map(async ({ id, date }) => {
      seen.add(id);
      const { text } = await post('/beta/events/fetch', { id, event: true });
      return { id, date, text };
    }),
  );
}

function post(path: string, body: object): ReturnType<typeof request> {
  return request(`${service.http}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.readKey },
    body: JSON.stringify(body),
  });
}

/** As `newEvents`, but waits until there are `count`: nobody tells when a datagram is stored. */
async function comingEvents(count: number): Promise<Awaited<ReturnType<typeof newEvents>>> {
  const events = await newEvents();
  for (let tries = 0; events.length < count && tries < TRIES_MAX; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    events.push(...(await newEvents()));
  }
  return events;
}

async function sendInput({ parameters, body }: Block): Promise<number> {
  const headers = new Headers();
  for (const [name, value] of parameters) {
    if (name === 'type' || name === 'path' || name === 'date') continue;
    headers.set(name, filled(value));
  }
  const type = parameters.get('type') ?? 'text/plain';
  if (type !== 'none') headers.set('content-type', type);
  const url = `${service.http}${filled(parameters.get('path') ?? '/v1/input/KEY')}`;
  // A body of bytes gets no content type of its own.
  const sent = Buffer.from(filled(body));
  return (await request(url, { method: 'POST', headers, body: sent })).status;
}

function sendHttp({ body }: Block): ReturnType<typeof request> {
  const [head, ...rest] = filled(body).split('\n\n');
  const [line, ...fields] = head.split('\n');
  const [method, path] = line.split(' ');
  const headers = new Headers();
  for (const field of fields) {
    const colon = field.indexOf(':');
    headers.set(field.slice(0, colon), field.slice(colon + 1).trim());
  }
  const content = rest.join('\n\n');
  const sent = content === '' ? {} : { body: Buffer.from(content) };
  return request(`${service.http}${path}`, { method, headers, ...sent });
}

function sendDatagram(content: string): Promise<void> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.send(content, service.udpPort, '127.0.0.1', () => socket.close(() => resolve()));
  });
}

async function found(query: string): Promise<string[]> {
  const events = await listAll(service, { time: FOREVER, filters: [{ search: { query } }] });
  return events.map(({ id }) => id);
}

type Assertions = Pick<typeof t, 'equal' | 'same' | 'match' | 'ok' | 'notOk'>;

async function checkDates(t: Assertions, { body, title }: Block): Promise<void> {
  for (const line of body.split('\n')) {
    const [value, date] = line.split(/ +-> /);
    const event = `{"timestamp":${value}}`;
    const before = Date.now();
    t.equal(await sendInput({ kind: 'input', parameters: new Map(), body: event, title }), 200);
    const [stored] = await newEvents();
    const ms = Date.parse(stored.date);
    if (date === 'received') t.ok(ms >= before - 1000 && ms <= Date.now(), `${title}: ${line}`);
    else t.equal(new Date(ms).toISOString(), date, `${title}: ${line}`);
    t.ok(stored.text.includes(`"event":{"custom":${event}}`), `${title}: ${line} stays`);
  }
}

/** Compares the events of a `json event` block with those that came; returns their ids. */
async function checkEvents(
  t: Assertions,
  block: Block,
  before: Block | undefined,
): Promise<string[]> {
  const wanted = jsonValues(block.body);
  const events = await comingEvents(wanted.length);
  const texts = events.map(({ text }) => text);
  t.equal(events.length, wanted.length, `${block.title}: as many events`);
  for (const event of wanted) {
    const at = texts.findIndex((text) => text.includes(`"event":${event}`));
    t.ok(at >= 0, `${block.title}: ${event}`, { texts });
    if (at >= 0) texts.splice(at, 1);
  }
  const date = before?.parameters.get('date');
  if (date !== undefined) {
    for (const event of events) t.equal(new Date(event.date).toISOString(), date, block.title);
  }
  return events.map(({ id }) => id);
}

t.test('the examples of INTERFACE.md are what happens', async (t) => {
  let before: Block | undefined;
  let answer: Awaited<ReturnType<typeof request>> | undefined;
  let shown: string[] = [];
  for (const block of blocksOf(readFileSync(DOCUMENT, 'utf8'))) {
    const { kind, body, title } = block;
    if (kind === 'input') {
      t.equal(await sendInput(block), 200, `${title}: taken`);
    } else if (kind === 'tcp') {
      await sendTcp(service.tcpPort, filled(body));
    } else if (kind === 'udp') {
      await sendDatagram(filled(body));
    } else if (kind === 'json event') {
      shown = await checkEvents(t, block, before);
    } else if (kind === 'dates') {
      await checkDates(t, block);
    } else if (kind === 'search' || kind === 'search none') {
      for (const query of body.split('\n')) {
        const ids = await found(query);
        const isFound = (id: string): boolean => ids.includes(id) === (kind === 'search');
        t.ok(shown.every(isFound), `${title}: ${query}`);
      }
    } else if (kind === 'http') {
      answer = await sendHttp(block);
      await newEvents();
    } else if (kind === 'http answer') {
      const [status, ...rest] = body.split('\n');
      t.equal(answer?.status, Number(status), `${title}: ${answer?.text}`);
      if (rest.length > 0) t.match(answer?.body, JSON.parse(rest.join('\n')), title);
    } else {
      t.ok(TEXTS.includes(kind), `${title}: the block "${kind}" is known`);
    }
    before = block;
  }
});

t.test('each rule of what comes in has its example', async (t) => {
  const kinds = blocksOf(readFileSync(DOCUMENT, 'utf8')).map(({ kind }) => kind);
  const count = (kind: string): number => kinds.filter((name) => name === kind).length;
  t.ok(count('input') >= 15, 'bodies');
  t.ok(count('tcp') >= 2 && count('udp') >= 1, 'raw channels');
  t.ok(count('http') >= 4 && count('http') === count('http answer'), 'requests with answers');
});
