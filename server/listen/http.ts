import type { HttpRequest, HttpResponse, ListenSocket, TemplatedApp } from 'uWebSockets.js';
import library from 'uWebSockets.js';
import { EngineError } from '../../engine/base/errors.ts';
import { corsHeaders } from '../api/cors.ts';
import { ApiError, type ApiRequest, errorReply, type Reply, type ReplySink } from '../api/reply.ts';
import type { Channel } from '../ingest/protocol.ts';
import { SmallBody } from './body.ts';
import { Drain } from './drain.ts';
import type { BodyTaker, Exchange } from './exchange.ts';
import { addressText, callerAddress, INPUT_PATH, lengthFault, plainAddress } from './header.ts';
import { HttpConnections, type HttpCounts } from './http-connections.ts';
import { createInput, type InputOptions } from './input.ts';
import { connectionsByPeer } from './peer.ts';
import { HeadReader, type RequestHead } from './request-head.ts';
import { STATUS_TEXTS } from './status-texts.ts';
import { refusalOf } from './tcp.ts';

/** Files with a certificate, with its chain, and its key, both PEM. */
export interface CertificateFiles {
  certPath: string;
  keyPath: string;
}

/** Dependencies of the HTTP listener. */
export interface HttpOptions extends InputOptions {
  /** The setting that errors name. */
  setting: string;
  host: string;
  /** 0: any free one. */
  port: number;
  /** Answers everything but the input path; never rejects. Without it all else is 404. */
  routes?: (request: ApiRequest) => Promise<Reply>;
  /** The header in which trusted proxies name the user, in lower case. */
  proxyUserHeader?: string | undefined;
  /** Receives the status of each answer. */
  answered?: (channel: Channel, status: number) => void;
  /**
   * Connections that may be open, beside some of this machine, half of them of one peer when it is crowded; those
   * beyond are closed. Any number when it is not said.
   */
  connectionsMax?: number;
  /** Makes it HTTPS, TLS 1.2 and 1.3. Both files have been checked. */
  certificate?: CertificateFiles;
}

/** An open HTTP listener. */
export interface HttpListener {
  readonly port: number;
  readonly counts: HttpCounts;
  /** Gives new connections of HTTPS this certificate; open ones stay. Throws USAGE when it cannot be used. */
  reload(certificate: CertificateFiles): void;
  /** Takes no new connection, lets open requests end for up to `graceMs`, then closes all connections. */
  close(graceMs: number): Promise<void>;
}

/** Bytes of a body that is no input. */
const API_BODY_BYTES_MAX = 1_048_576;
const CLOSE_POLL_MS = 10;
/** A body of up to so many bytes is dropped behind an answer that was given before it was read. */
const DROPPED_BYTES_MAX = 2 ** 30;
/** A client has to take an answer with so many bytes a second, behind a beginning. */
const ANSWER_BYTES_A_SECOND = 64 * 1024;
const ANSWER_MS = 20_000;
/** Bytes of an answer in pieces that a chunked request may get: they are all given to the library at once. */
const CHUNKED_ANSWER_BYTES_MAX = 1_048_576;

// Otherwise every answer names the library and its version.
library._cfg('silent');

/** Listens for HTTP or HTTPS. Rejects with USAGE when the address cannot be had. */
export function listenHttp(options: HttpOptions): Promise<HttpListener> {
  const { setting, host, port, certificate } = options;
  const { channel = 'http', answered } = options;
  const open: OpenRequests = {
    count: 0,
    closing: false,
    faultyPeers: new Set(),
    heads: new HeadReader(options.proxyUserHeader),
    answered: (status) => answered?.(channel, status),
  };
  const input = createInput(options);
  const serve = (response: HttpResponse, request: HttpRequest): void => {
    const exchange = new UwsExchange(response, request, open);
    if (open.faultyPeers.size > 0 && open.faultyPeers.has(exchange.peer)) {
      const message = 'the connection is not read any more, as a request was faulty';
      exchange.refuse(new ApiError(503, message, corsHeaders()));
    } else if (exchange.fault !== undefined) {
      distrust(open, exchange.peer);
      exchange.refuse(new ApiError(400, exchange.fault, corsHeaders()));
    } else if (isInput(exchange.head.path)) {
      input(exchange);
    } else {
      serveRoute(
        exchange,
        options.routes ?? noRoutes,
        options.limits.trustedProxies,
        channel === 'https',
      );
    }
  };
  let ownPort = port;
  const connections = new HttpConnections(options.connectionsMax ?? Number.POSITIVE_INFINITY, () =>
    connectionsByPeer(ownPort),
  );
  const handlers: Handlers = {
    serve,
    changed: (response, change) => connections.changed(response, change),
  };
  const apps = certificate === undefined ? plainApps(handlers) : secureApps(handlers, certificate);
  return new Promise((resolve, reject) => {
    apps.listening.listen(host, port, library.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket === false) {
        void refusalOf(setting, { host, port }).then(reject);
        return;
      }
      ownPort = library.us_socket_local_port(socket);
      resolve({
        port: ownPort,
        counts: connections.counts,
        reload: apps.reload,
        close: (graceMs) => close(apps.all, socket, open, graceMs),
      });
    });
  });
}

function isInput(path: string): boolean {
  return (
    path.startsWith(INPUT_PATH) &&
    (path.length === INPUT_PATH.length || path[INPUT_PATH.length] === '/')
  );
}

/** Handlers that an application calls. */
interface Handlers {
  serve: (response: HttpResponse, request: HttpRequest) => void;
  /** `change` is 1 for a connection that was opened, -1 for one that was closed. */
  changed: (response: HttpResponse, change: number) => void;
}

/** The applications of a listener: the one that listens, and all that have connections. */
interface Apps {
  listening: TemplatedApp;
  all: TemplatedApp[];
  reload: (certificate: CertificateFiles) => void;
}

function plainApps({ serve, changed }: Handlers): Apps {
  const app = library.App().any('/*', serve).filter(changed);
  return { listening: app, all: [app], reload: () => {} };
}

/**
 * The certificate of an application is for its life. So the one that listens passes each connection on to another one,
 * which is replaced when there is a new certificate, and closed with the listener.
 */
function secureApps(handlers: Handlers, certificate: CertificateFiles): Apps {
  const listening = secureApp(handlers, certificate);
  let taking = secureApp(handlers, certificate);
  listening.addChildAppDescriptor(taking.getDescriptor());
  const all = [listening, taking];
  const reload = (next: CertificateFiles): void => {
    const replacement = secureApp(handlers, next);
    listening.removeChildAppDescriptor(taking.getDescriptor());
    listening.addChildAppDescriptor(replacement.getDescriptor());
    taking = replacement;
    all.push(replacement);
  };
  return { listening, all, reload };
}

function secureApp(
  { serve, changed }: Handlers,
  { certPath, keyPath }: CertificateFiles,
): TemplatedApp {
  try {
    const files = { cert_file_name: certPath, key_file_name: keyPath };
    return library.SSLApp(files).any('/*', serve).filter(changed);
  } catch (cause) {
    throw new EngineError('USAGE', `https: ${certPath} and ${keyPath} cannot be used`, { cause });
  }
}

async function noRoutes(): Promise<Reply> {
  return errorReply(new ApiError(404, 'the path does not exist', corsHeaders()));
}

/** Requests that are not answered yet, and whether the listener is about to end. */
interface OpenRequests {
  count: number;
  closing: boolean;
  answered: (status: number) => void;
  heads: HeadReader;
  /** Peers who sent a faulty request in this turn of the event loop. */
  faultyPeers: Set<string>;
}

/**
 * The library takes what lies behind a faulty request in the same read for further ones, also when the connection is
 * being closed. It does not tell connections apart, so for that turn of the event loop nothing of the peer is taken.
 */
function distrust({ faultyPeers }: OpenRequests, peer: string): void {
  if (faultyPeers.size === 0) setImmediate(() => faultyPeers.clear());
  faultyPeers.add(peer);
}

async function close(
  apps: readonly TemplatedApp[],
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
  for (const app of apps) app.close();
}

/** Collects the body and lets the routes answer. */
function serveRoute(
  exchange: UwsExchange,
  routes: NonNullable<HttpOptions['routes']>,
  trusted: ReadonlySet<string>,
  isEncrypted: boolean,
): void {
  const path = decodedPath(exchange.head.path);
  if (path === undefined) {
    exchange.answer(
      errorReply(new ApiError(400, 'the path is not percent-encoded text', corsHeaders())),
    );
    return;
  }
  const { method, query: queryText, headers } = exchange.head;
  const peer = callerAddress(exchange.peer, headers.get('x-forwarded-for'), trusted);
  const isProxied = trusted.has(plainAddress(exchange.peer));
  const isSecure = isEncrypted || (isProxied && headers.get('x-forwarded-proto') === 'https');
  const proxyUsers = isProxied ? exchange.users : [];
  const abort = new AbortController();
  const { signal } = abort;
  const body = new SmallBody(API_BODY_BYTES_MAX);
  const take = (chunk: Uint8Array, isLast: boolean): void => {
    if (!body.add(chunk)) {
      const message = `the body is too large; allowed: ${API_BODY_BYTES_MAX} bytes`;
      exchange.answer(errorReply(new ApiError(413, message, corsHeaders())), true);
    } else if (isLast) {
      // As with input: nothing is done for a request that cannot be answered.
      setImmediate(() => {
        if (signal.aborted) return;
        // Of a repeated parameter the first one counts, as with input.
        const query = new Map([...new URLSearchParams(queryText)].reverse());
        const parts = { method, path, query, headers, peer, isSecure, proxyUsers, signal };
        routes({ ...parts, body: body.whole() }).then(
          (reply) => exchange.answer(reply),
          () => exchange.answer(errorReply(new ApiError(500, 'internal error'))),
        );
      });
    }
  };
  exchange.read({ take, gone: () => abort.abort() });
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
  readonly head: RequestHead;
  /** All values of the header that names the user. */
  readonly users: readonly string[];
  readonly contentBytes: number | undefined;
  /** Fault of the request's head; a request with a fault is not served. */
  readonly fault: string | undefined;
  readonly #response: HttpResponse;
  readonly #open: OpenRequests;
  /** The library is lenient about where chunks end, so nothing that follows is taken for a request. */
  readonly #isChunked: boolean;
  #over = false;
  #answered = false;
  /** The one who takes the body; none before it was asked for, and behind an answer. */
  #taker: BodyTaker | undefined;
  /** The one to be told when the client goes away. */
  #owner: BodyTaker | undefined;
  #isAsked = false;
  /** Set when all of the body has come. */
  #isRead = false;
  /** Is called when the answer was given, or cannot be. */
  #replyOver: (() => void) | undefined;
  /** Cuts a client that is too slow to take its answer. */
  #cut: NodeJS.Timeout | undefined;
  /** Resolves when the client has taken everything that was written. */
  #writable: PromiseWithResolvers<void> | undefined;

  constructor(response: HttpResponse, request: HttpRequest, open: OpenRequests) {
    this.#response = response;
    this.#open = open;
    const { heads } = open;
    this.head = heads.read(request);
    this.users = heads.users;
    const { lengths, encodings } = heads;
    this.fault = lengthFault(lengths, encodings);
    this.contentBytes = lengths.length === 1 ? Number(lengths[0]) : undefined;
    this.#isChunked = encodings.length > 0;
    open.count++;
    response.onAborted(() => {
      if (this.#over) return;
      this.#end();
      this.#writable?.reject(gone());
      this.#owner?.gone();
    });
  }

  get peer(): string {
    return this.#over ? '' : addressText(new Uint8Array(this.#response.getRemoteAddress()));
  }

  read(taker: BodyTaker): void {
    this.#taker = taker;
    this.#owner ??= taker;
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#response.onData((chunk, isLast) => {
      this.#isRead ||= isLast;
      if (!this.#over) this.#taker?.take(new Uint8Array(chunk), isLast);
    });
  }

  answer(reply: Reply, close = false): void {
    if (this.#over || this.#answered) {
      reply.over?.();
      return;
    }
    const { stream, pieces } = reply;
    const isLong = pieces !== undefined && bytesOf(pieces) > CHUNKED_ANSWER_BYTES_MAX;
    if ((stream !== undefined || isLong) && this.#isChunked) {
      reply.over?.();
      // Its connection could not be ended behind the answer.
      const message =
        'the answer to a chunked request would be too long; allowed: a request with Content-Length';
      this.answer(errorReply(new ApiError(411, message, corsHeaders())));
      return;
    }
    this.#answered = true;
    this.#taker = undefined;
    this.#replyOver = reply.over;
    if (stream !== undefined) {
      void this.#stream(reply, stream);
      return;
    }
    const mustEnd = close && (this.contentBytes ?? 0) > DROPPED_BYTES_MAX;
    if (!mustEnd && !this.#isChunked && !this.#open.closing) {
      // What is left of the body is read and dropped by the library.
      if (close)
        this.#write({ ...reply, headers: { ...reply.headers, connection: 'close' } }, false);
      else this.#write(reply, false);
      return;
    }
    const write = (): void => {
      if (!this.#over) this.#write(reply, true);
    };
    if (this.#isChunked && !this.#isRead) {
      const drain = new Drain(write);
      this.read({ take: (chunk, isLast) => drain.take(chunk.length, isLast), gone: () => {} });
    }
    // Not while the library still reads from what it received: it would go on behind an answer that closes. What is
    // not answered yet lets it give the connection up instead.
    else setImmediate(write);
  }

  /** Refuses a request whose end is unknown; see `distrust`. */
  refuse(error: ApiError): void {
    this.#answered = true;
    this.#write(errorReply(error), true);
  }

  /** Answers in parts. */
  async #stream(reply: Reply, stream: (sink: ReplySink) => Promise<void>): Promise<void> {
    const response = this.#response;
    response.onWritable(() => {
      this.#writable?.resolve();
      this.#writable = undefined;
      return true;
    });
    response.cork(() => this.#writeHead(reply));
    const write = async (part: Uint8Array | string): Promise<boolean> => {
      if (this.#over) throw gone();
      let isTaken = false;
      response.cork(() => {
        isTaken = response.write(part);
      });
      if (isTaken || this.#over) return false;
      this.#writable = Promise.withResolvers();
      await this.#writable.promise;
      return true;
    };
    try {
      await stream({ write });
      if (this.#over) return;
      this.#end();
      response.cork(() => response.end());
    } catch {
      if (this.#over) return;
      this.#end();
      response.close();
    }
  }

  #writeHead(reply: Reply): void {
    const response = this.#response;
    this.#open.answered(reply.status);
    // 200 is what the library says when it is told nothing.
    if (reply.status !== 200)
      response.writeStatus(STATUS_TEXTS.get(reply.status) ?? `${reply.status} Status`);
    if (reply.status !== 204) {
      response.writeHeader('content-type', reply.contentType ?? 'application/json');
    }
    const { headers = {} } = reply;
    for (const name in headers) response.writeHeader(name, headers[name]);
  }

  /** Answers with a body of known length, no faster than the client takes it. */
  #writePieces(reply: Reply, pieces: readonly Uint8Array[]): void {
    const response = this.#response;
    const bodyBytes = bytesOf(pieces);
    const slowMs = ANSWER_MS + (bodyBytes / ANSWER_BYTES_A_SECOND) * 1_000;
    let next = 0;
    let sentBefore = 0;
    const writeFrom = (sent: number): boolean => {
      let from = sent - sentBefore;
      for (; next < pieces.length; next++) {
        const piece = pieces[next];
        const [isSent, isOver] = response.tryEnd(piece.subarray(from), bodyBytes);
        if (isOver) this.#end();
        else if (!isSent) return false;
        sentBefore += piece.length;
        from = 0;
      }
      return true;
    };
    response.onWritable(writeFrom);
    response.cork(() => {
      this.#writeHead(reply);
      writeFrom(0);
    });
    if (this.#over) return;
    this.#cut = setTimeout(() => {
      this.#end();
      response.close();
    }, slowMs);
  }

  #write(reply: Reply, closing: boolean): void {
    const { pieces } = reply;
    if (pieces !== undefined && !closing && this.head.method !== 'HEAD') {
      this.#writePieces(reply, pieces);
      return;
    }
    const body = pieces === undefined ? reply.body : Buffer.concat(pieces);
    this.#end();
    const response = this.#response;
    response.cork(() => {
      this.#writeHead(reply);
      // Without arguments no Content-Length is sent, which is what this status wants.
      if (reply.status === 204 && !closing) response.endWithoutBody();
      else if (this.head.method === 'HEAD') {
        response.endWithoutBody(Buffer.byteLength(body), closing);
      } else response.end(body, closing);
    });
  }

  #end(): void {
    this.#over = true;
    this.#open.count--;
    clearTimeout(this.#cut);
    this.#replyOver?.();
  }
}

function bytesOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

function gone(): EngineError {
  return new EngineError('CANCELLED', 'the client is gone');
}
