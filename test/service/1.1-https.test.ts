import { readFileSync } from 'node:fs';
import { request as requestHttps } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { listAll, request, testService } from '../support/service.ts';

const listeners = ['--https', '127.0.0.1:0', '--http-input', '127.0.0.1:0'];
const service = await testService(t, listeners);
const { writeKey, readKey } = service;
const ca = readFileSync(join(service.folder, 'tls/cert.pem'));
const port = Number(new URL(service.https).port);

function post(
  path: string,
  body: string,
  headers: Record<string, string>,
): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers, ca };
    const sent = requestHttps(`${service.https}${path}`, options, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve([response.statusCode ?? 0, text]));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

t.test('HTTPS serves the same routes, with a certificate that a client can trust', async (t) => {
  t.same(await post(`/v1/input/${writeKey}`, 'over https', { 'content-type': 'text/plain' }), [
    200,
    '{"ok":true}',
  ]);
  const query = JSON.stringify({ time: { from: 'now-1h', to: 'now+1h' }, event: true });
  const headers = { 'content-type': 'application/json', 'x-api-key': readKey };
  const [status, text] = await post('/beta/events/list', query, headers);
  t.equal(status, 200);
  t.match(text, '"over https"');
});

t.test('TLS 1.2 and 1.3 are there', async (t) => {
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const protocol = await new Promise((resolve, reject) => {
      const options = { port, host: '127.0.0.1', ca, minVersion: version, maxVersion: version };
      const socket = connect(options, () => {
        resolve(socket.getProtocol());
        socket.destroy();
      });
      socket.on('error', reject);
    });
    t.equal(protocol, version);
  }
});

t.test('SIGHUP keeps connections that are open, and new ones go on', async (t) => {
  const socket = connect({ port, host: '127.0.0.1', ca });
  const ask = (): Promise<string> =>
    new Promise((resolve) => {
      socket.once('data', (chunk) => resolve(String(chunk)));
      socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    });
  t.match(await ask(), /^HTTP\/1\.1 200/);
  process.kill(service.pid, 'SIGHUP');
  while (!service.output().includes('the certificate was read')) await new Promise(setImmediate);
  t.match(await ask(), /^HTTP\/1\.1 200/);
  socket.destroy();
  t.equal((await post(`/v1/input/${writeKey}`, 'after reload', {}))[0], 200);
});

t.test('the input listener has the input route and no other', async (t) => {
  const input = await request(`${service.httpInput}/v1/input/${writeKey}`, {
    method: 'POST',
    body: 'x',
  });
  t.equal(input.status, 200);
  for (const path of ['/', '/healthz', '/metrics', '/beta/events/list', '/admin/api/write_keys']) {
    const answer = await request(`${service.httpInput}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': readKey },
    });
    t.equal(answer.status, 404, path);
    t.match(answer.body, { error: { status: 404 } });
  }
});

/** Parts of a browser that the browser's client uses; requests go out as a browser sends them, the preflight first. */
function browser(sent: Promise<unknown>[]): Record<string, unknown> {
  class XMLHttpRequest {
    #url = '';
    readonly #headers: Record<string, string> = {};
    onload: (event: object) => void = () => {};
    open(_: string, url: string): void {
      this.#url = url;
    }
    setRequestHeader(name: string, value: string): void {
      this.#headers[name.toLowerCase()] = value;
    }
    send(body: string): void {
      const names = Object.keys(this.#headers).join(', ');
      const preflight = request(this.#url, {
        method: 'OPTIONS',
        headers: {
          origin: 'http://page.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': names,
        },
      });
      const answer = preflight.then(async ({ status, headers }) => {
        t.equal(status, 204);
        t.equal(headers.get('access-control-allow-origin'), '*');
        t.match(headers.get('access-control-allow-headers'), /content-type/i);
        const own = { ...this.#headers, origin: 'http://page.example', 'user-agent': 'Browser' };
        const posted = await request(this.#url, { method: 'POST', headers: own, body });
        t.same([posted.status, posted.headers.get('access-control-allow-origin')], [200, '*']);
        this.onload({ target: { status: posted.status } });
      });
      sent.push(answer);
    }
  }
  const window: Record<string, unknown> = { XMLHttpRequest, setTimeout, clearTimeout, console };
  window['window'] = window;
  window['location'] = { href: 'http://page.example/', protocol: 'http:' };
  window['navigator'] = { userAgent: 'Browser' };
  return window;
}

t.test('the client for browsers posts its events', async (t) => {
  const sent: Promise<unknown>[] = [];
  const window = browser(sent);
  const path = new URL('../../node_modules/logmatic-js/src/logmatic.js', import.meta.url);
  runInNewContext(readFileSync(path, 'utf8'), window);
  const code = `
    logmatic.forceEndpoint(${JSON.stringify(`${service.http}/v1/input/${writeKey}`)});
    logmatic.setIPTracking('client.ip');
    logmatic.setUserAgentTracking('client.agent');
    logmatic.log('browser click', { button: 'left' });
    logmatic.log('browser scroll', { by: 12 });`;
  runInNewContext(code, window);
  while (sent.length === 0) await new Promise(setImmediate);
  await Promise.all(sent);
  let events: { message?: string; custom: Record<string, unknown> }[] = [];
  while (events.length < 2) {
    const found = await listAll(service, { filters: [{ search: 'browser' }] });
    events = found.map(({ event }) => event);
    await Promise.all(sent);
  }
  const click = events.find(({ message }) => message === 'browser click');
  t.match(click?.custom, { button: 'left', client: { ip: '127.0.0.1', agent: 'Browser' } });
});
