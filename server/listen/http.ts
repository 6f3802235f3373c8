import type { HttpRequest, HttpResponse, ListenSocket, TemplatedApp } from 'uWebSockets.js';
import library from 'uWebSockets.js';
import { EngineError } from '../../engine/base/errors.ts';
import { corsHeaders } from '../api/cors.ts';
import { ApiError, type ApiRequest, errorReply, type Reply } from '../api/reply.ts';
import { SmallBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import { addressText, INPUT_PATH } from './header.ts';
import { createInput, type InputOptions } from './input.ts';

/** What the HTTP listener needs. */
export interface HttpOptions extends InputOptions {
  host: string;
  /** 0: any free one. */
  port: number;
  /** Answers everything but the input path; never rejects. */
  routes: (request: ApiRequest) => Promise<Reply>;
}

/** An open HTTP listener. */
export interface HttpListener {
  readonly port: number;
  /** Takes no new connection, lets open requests end for up to `graceMs`, then closes all connections. */
  close(graceMs: number): Promise<void>;
}

/** Bytes of a body that is no input. */
const API_BODY_BYTES_MAX = 1_048_576;
const CLOSE_POLL_MS = 10;

const STATUS_TEXTS = new Map([
  [200, '200 OK'],
  [201, '201 Created'],
  [204, '204 No Content'],
  [400, '400 Bad Request'],
  [401, '401 Unauthorized'],
  [403, '403 Forbidden'],
  [404, '404 Not Found'],
  [405, '405 Method Not Allowed'],
  [409, '409 Conflict'],
  [413, '413 Payload Too Large'],
  [415, '415 Unsupported Media Type'],
  [429, '429 Too Many Requests'],
  [500, '500 Internal Server Error'],
  [503, '503 Service Unavailable'],
  [507, '507 Insufficient Storage'],
]);

/** Listens for HTTP. Rejects with USAGE when the address cannot be had. */
export function listenHttp(options: HttpOptions): Promise<HttpListener> {
  const app = library.App();
  const input = createInput(options);
  const open = { count: 0, closing: false };
  app.any('/*', (response, request) => {
    const exchange = new UwsExchange(response, request, open);
    if (exchange.contradictory) {
      exchange.answer(
        errorReply(new ApiError(400, 'the header Content-Length came twice', corsHeaders())),
        true,
      );
    } else if (exchange.path === INPUT_PATH || exchange.path.startsWith(`${INPUT_PATH}/`)) {
      input(exchange);
    } else {
      serveRoute(exchange, options.routes);
    }
  });
  const { host, port } = options;
  return new Promise((resolve, reject) => {
    app.listen(host, port, library.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket === false) {
        reject(new EngineError('USAGE', `http: ${host}:${port} cannot be listened on`));
        return;
      }
      resolve({
        port: library.us_socket_local_port(socket),
        close: (graceMs) => close(app, socket, open, graceMs),
      });
    });
  });
}

/** Requests that are not answered yet, and whether the listener is about to end. */
interface OpenRequests {
  count: number;
  closing: boolean;
}

async function close(
  app: TemplatedApp,
  socket: ListenSocket,
  open: OpenRequests,
  graceMs: number,
): Promise<void> {
  open.closing = true;
  library.us_listen_socket_close(socket);
  const until = performance.now() + graceMs;
  while (open.count > 0 && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
  }
  app.close();
}

/** Collects the body and lets the routes answer. */
function serveRoute(exchange: Exchange, routes: HttpOptions['routes']): void {
  const path = decodedPath(exchange.path);
  if (path === undefined) {
    exchange.answer(
      errorReply(new ApiError(400, 'the path is not percent-encoded text', corsHeaders())),
    );
    return;
  }
  const abort = new AbortController();
  const body = new SmallBody(API_BODY_BYTES_MAX);
  exchange.whenGone(() => abort.abort());
  exchange.read((chunk, isLast) => {
    if (!body.add(chunk)) {
      const message = `the body is too large; allowed: ${API_BODY_BYTES_MAX} bytes`;
      exchange.answer(errorReply(new ApiError(413, message, corsHeaders())), true);
    } else if (isLast) {
      const { method, headers } = exchange;
      const query = new Map(new URLSearchParams(exchange.query));
      routes({ method, path, query, headers, body: body.whole(), signal: abort.signal }).then(
        (reply) => exchange.answer(reply),
        () => exchange.answer(errorReply(new ApiError(500, 'internal error'))),
      );
    }
  });
}

/** The path percent-decoded and without a slash at its end; `undefined` when it cannot be decoded. */
function decodedPath(path: string): string | undefined {
  try {
    const decoded = decodeURIComponent(path);
    return decoded.length > 1 && decoded.endsWith('/') ? decoded.slice(0, -1) : decoded;
  } catch {
    return undefined;
  }
}

/** An exchange over uWebSockets.js; copies what it needs of the request, which is gone when the handler returns. */
class UwsExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers = new Map<string, string>();
  readonly contentBytes: number | undefined;
  /** Whether the length of the body is said twice: whoever is before us may have read it otherwise. */
  readonly contradictory: boolean;
  readonly #response: HttpResponse;
  readonly #open: OpenRequests;
  #over = false;
  #gone: () => void = () => {};

  constructor(response: HttpResponse, request: HttpRequest, open: OpenRequests) {
    this.#response = response;
    this.#open = open;
    this.method = request.getMethod().toUpperCase();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? '';
    let lengthCount = 0;
    request.forEach((name, value) => {
      if (name === 'content-length') lengthCount++;
      this.headers.set(name, value);
    });
    this.contradictory = lengthCount > 1;
    this.contentBytes = lengthCount === 1 ? Number(this.headers.get('content-length')) : undefined;
    open.count++;
    response.onAborted(() => {
      if (this.#over) return;
      this.#end();
      this.#gone();
    });
  }

  get peer(): string {
    return this.#over ? '' : addressText(new Uint8Array(this.#response.getRemoteAddress()));
  }

  read(take: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#response.onData((chunk, isLast) => {
      if (!this.#over) take(new Uint8Array(chunk), isLast);
    });
  }

  whenGone(gone: () => void): void {
    this.#gone = gone;
  }

  answer(reply: Reply, close = false): void {
    if (this.#over) return;
    this.#end();
    const response = this.#response;
    const closing = close || this.#open.closing;
    response.cork(() => {
      response.writeStatus(STATUS_TEXTS.get(reply.status) ?? `${reply.status} Status`);
      if (reply.status !== 204) {
        response.writeHeader('content-type', reply.contentType ?? 'application/json');
      }
      for (const [name, value] of Object.entries(reply.headers ?? {})) {
        response.writeHeader(name, value);
      }
      // Without arguments no Content-Length is sent, which is what this status wants.
      if (reply.status === 204 && !closing) response.endWithoutBody();
      else if (this.method === 'HEAD') {
        response.endWithoutBody(Buffer.byteLength(reply.body), closing);
      } else response.end(reply.body, closing);
    });
  }

  #end(): void {
    this.#over = true;
    this.#open.count--;
  }
}
