import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { adminToken } from '../support/admin.ts';
import {
  listAll,
  removeFolder,
  type Service,
  startService,
  temporaryFolder,
} from '../support/service.ts';

/** The configurations of proxies, tried with those that are installed. */

const FOLDER = new URL('../../deploy/proxy/', import.meta.url).pathname;
const LONG_BYTES = 5_000_000;
const POLL_MS = 20;

/** Where a proxy is tried. */
interface Place {
  folder: string;
  cert: string;
  key: string;
  port: number;
  service: string;
}

interface Proxy {
  name: string;
  version: string;
  /** Writes the configuration for a place, and gives the arguments to run it in the foreground. */
  args: (place: Place) => string[];
}

/** The configuration with the addresses and files of a place; each replacement has to be needed. */
function written(file: string, { folder }: Place, changes: [from: string, to: string][]): string {
  let text = readFileSync(join(FOLDER, file), 'utf8');
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    text = text.replaceAll(from, to);
  }
  const path = join(folder, file);
  writeFileSync(path, text);
  return path;
}

const proxies: Proxy[] = [
  {
    name: 'nginx',
    version: '-v',
    args: (place) => {
      const inner = written('nginx.conf', place, [
        ['server 127.0.0.1:8080', `server ${place.service}`],
        ['listen 443', `listen 127.0.0.1:${place.port}`],
        ['/etc/ssl/logs.example.com.pem', place.cert],
        ['/etc/ssl/logs.example.com.key', place.key],
        ['/var/log/nginx/logseam.log', join(place.folder, 'error.log')],
      ]);
      const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${place.folder}/${kind};`,
      );
      const path = join(place.folder, 'whole.conf');
      writeFileSync(
        path,
        `user root; daemon off; pid ${place.folder}/pid; events {} http { ${kinds.join(' ')} include ${inner}; }`,
      );
      return ['-p', place.folder, '-e', join(place.folder, 'error.log'), '-c', path];
    },
  },
  {
    name: 'haproxy',
    version: '-v',
    args: (place) => {
      const both = join(place.folder, 'both.pem');
      writeFileSync(
        both,
        `${readFileSync(place.cert, 'utf8')}\n${readFileSync(place.key, 'utf8')}`,
      );
      const path = written('haproxy.cfg', place, [
        ['logseam 127.0.0.1:8080', `logseam ${place.service}`],
        ['bind :443', `bind 127.0.0.1:${place.port}`],
        ['/etc/ssl/logs.example.com.pem', both],
      ]);
      return ['-db', '-f', path];
    },
  },
  {
    name: 'caddy',
    version: 'version',
    args: (place) => {
      const path = written('Caddyfile', place, [
        [
          'logs.example.com {',
          `https://localhost:${place.port} {\n\ttls ${place.cert} ${place.key}`,
        ],
        ['reverse_proxy 127.0.0.1:8080', `reverse_proxy ${place.service}`],
      ]);
      const text = readFileSync(path, 'utf8');
      writeFileSync(
        path,
        `{\n\tadmin off\n\tgrace_period 1s\n\tauto_https disable_redirects\n\tstorage file_system ${place.folder}\n}\n${text}`,
      );
      return ['run', '--adapter', 'caddyfile', '--config', path];
    },
  },
];

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}

/** A proxy's answer to a request whose body comes in parts when it is chunked. */
interface Sent {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  isChunked?: boolean;
  /** Ends the answer when it holds this. */
  until?: string;
}

function through(port: number, sent: Sent): Promise<{ status: number; text: string }> {
  const { method = 'POST', path, headers = {}, body = '', isChunked, until } = sent;
  return new Promise((resolve, reject) => {
    const length = isChunked ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const posted = httpsRequest(
      {
        port,
        host: '127.0.0.1',
        servername: 'localhost',
        method,
        path,
        rejectUnauthorized: false,
        agent: false,
      },
      (response) => {
        let text = '';
        const over = (): void => resolve({ status: response.statusCode ?? 0, text });
        response.on('data', (chunk) => {
          text += chunk;
          if (until === undefined || !text.includes(until)) return;
          over();
          posted.destroy();
        });
        response.on('end', over);
        response.on('error', over);
      },
    );
    posted.on('error', reject);
    const host = `localhost:${port}`;
    for (const [name, value] of Object.entries({ host, ...length, ...headers }))
      posted.setHeader(name, value);
    posted.end(body);
  });
}

/** Runs a proxy before the service; its end. */
async function run(proxy: Proxy, place: Place): Promise<() => Promise<void>> {
  const child: ChildProcess = spawn(proxy.name, proxy.args(place), {
    env: { ...process.env, HOME: place.folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  }
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  for (;;) {
    const isUp = await through(place.port, { method: 'GET', path: '/healthz' }).catch(
      () => undefined,
    );
    if (isUp?.status === 200) break;
    if (child.exitCode !== null) throw new Error(`${proxy.name} ended: ${output}`);
    await pause(POLL_MS);
  }
  return () => {
    child.kill('SIGTERM');
    return ended;
  };
}

const folder = temporaryFolder();
let service: Service | undefined;
t.teardown(async () => {
  await service?.stop();
  removeFolder(folder);
});

for (const proxy of proxies) {
  const isThere = spawnSync(proxy.name, [proxy.version]).status === 0;
  const skip = isThere ? false : `${proxy.name} is not installed`;
  t.test(
    `the configuration of ${proxy.name} works in front of the service`,
    { skip },
    async (t) => {
      service ??= await startService(folder, [
        ...['--https', '127.0.0.1:0', '--trusted-proxies', '127.0.0.1'],
      ]);
      const { http, writeKey, readKey } = service;
      const inner = join(folder, proxy.name);
      mkdirSync(inner);
      const [cert, key] = ['cert.pem', 'key.pem'].map((file) => join(folder, 'tls', file));
      const place = {
        folder: inner,
        cert,
        key,
        port: await freePort(),
        service: new URL(http).host,
      };
      const stop = await run(proxy, place);
      t.teardown(stop);
      const post = (
        body: string,
        more: Partial<Sent> = {},
      ): Promise<{ status: number; text: string }> =>
        through(place.port, {
          ...{ path: `/v1/input/${writeKey}`, body },
          ...more,
          headers: { 'content-type': 'application/json', ...more.headers },
        });
      const event = (more: object): string => JSON.stringify({ proxy: proxy.name, ...more });
      t.equal((await post(event({ n: 1 }))).status, 200);
      t.equal((await post(event({ n: 2 }), { isChunked: true })).status, 200, 'chunked');
      const long = `[${Array.from({ length: 10 }, (_, at) => event({ at, x: 'x'.repeat(LONG_BYTES / 10) })).join()}]`;
      t.equal((await post(long)).status, 200, 'long');
      const asked = { 'x-forwarded-for': '192.0.2.66', 'x-service-add-ip': 'ip' };
      t.equal((await post(event({ n: 3 }), { headers: asked })).status, 200);
      const events = await listAll(service, { filters: [{ search: `proxy:${proxy.name}` }] });
      t.equal(events.length, 13);
      const told = events.map(({ event: { custom } }) => custom).find(({ n }) => n === 3);
      t.equal(told?.['ip'], '127.0.0.1', 'what a caller says of its address is not believed');
      t.equal((await post('x', { path: '/v1/input/nobody' })).status, 401);
      t.equal((await post('{"a":')).status, 400);
      const token = { authorization: `Bearer ${adminToken(service)}` };
      const admin = { method: 'GET', path: '/admin/api/read_keys', headers: token };
      t.equal((await through(place.port, admin)).status, 404);
      const tail = through(place.port, {
        ...{ method: 'GET', path: `/beta/events/tail?api_key=${readKey}`, until: '"tailed"' },
      });
      let isTold = false;
      void tail.then(() => {
        isTold = true;
      });
      while (!isTold) {
        await post(event({ n: 'tailed' }));
        await pause(POLL_MS);
      }
      t.equal((await tail).status, 200);
    },
  );
}
