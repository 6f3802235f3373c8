import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { listAll, testService } from '../support/service.ts';

/** npm's `logmatic-js`, the browser client, in a context that has what it uses of a browser. */

interface LogmaticJs {
  init(key: string): void;
  forceEndpoint(url: string): void;
  setMetas(metas: object): void;
  setIPTracking(attribute: string): void;
  setUserAgentTracking(attribute: string): void;
  setBulkOptions(options: { lingerMs: number }): void;
  log(message: string, context?: object): void;
  error(message: string, context?: object): void;
}

/** The part of XMLHttpRequest that the client uses, with the preflight that a browser would send before it. */
class PreflightedRequest {
  onload: (event: { target: { status: number } }) => void = () => {};
  onerror: (event: { target: { status: number } }) => void = () => {};
  #url = '';
  #headers: Record<string, string> = {};

  open(_method: string, url: string): void {
    this.#url = url;
  }

  setRequestHeader(name: string, value: string): void {
    this.#headers[name.toLowerCase()] = value;
  }

  send(body: string): void {
    this.#exchange(body).then(
      (status) => this.onload({ target: { status } }),
      () => this.onerror({ target: { status: 500 } }),
    );
  }

  async #exchange(body: string): Promise<number> {
    const asked = Object.keys(this.#headers).join(',');
    const preflight = await fetch(this.#url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': asked,
      },
    });
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase() ?? '';
    const missing = Object.keys(this.#headers).filter((name) => !allowed.includes(name));
    if (!preflight.ok || missing.length > 0) throw new Error(`blocked: ${missing}`);
    const headers = { ...this.#headers, origin: 'https://shop.example' };
    const response = await fetch(this.#url, { method: 'POST', headers, body });
    if (response.headers.get('access-control-allow-origin') === null) throw new Error('blocked');
    return response.status;
  }
}

const service = await testService(t);
t.test('logmatic-js’s events arrive with context, metas, address and user agent', async (t) => {
  const path = createRequire(import.meta.url).resolve('logmatic-js/src/logmatic.js');
  const exported: { exports: LogmaticJs | undefined } = { exports: undefined };
  runInNewContext(readFileSync(path, 'utf8'), {
    module: exported,
    exports: exported,
    XMLHttpRequest: PreflightedRequest,
    window: { location: { href: 'https://shop.example/cart' } },
    console,
    setTimeout,
    clearTimeout,
    JSON,
  });
  const client = exported.exports;
  if (client === undefined) throw new Error('the client did not load');
  client.init(service.writeKey);
  client.forceEndpoint(`${service.http}/v1/input/${service.writeKey}`);
  client.setMetas({ userId: '1234' });
  client.setIPTracking('client.IP');
  client.setUserAgentTracking('client.user-agent');
  client.setBulkOptions({ lingerMs: 10 });
  client.log('Button clicked', { name: 'buy' });
  client.error('Something broke', { code: 7 });
  let events = await listAll(service);
  while (events.length < 2) events = await listAll(service);
  const found = new Map(events.map(({ event }) => [event.message, event.custom]));
  t.match(found.get('Button clicked'), {
    name: 'buy',
    userId: '1234',
    severity: 'info',
    client: { IP: '127.0.0.1', 'user-agent': String },
  });
  t.match(found.get('Something broke'), { code: 7, severity: 'error' });
});
