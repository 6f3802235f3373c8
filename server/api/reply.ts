import { isGzip, wholeText } from '../query/gzip.ts';

/**
 * A request to anything but the input routes, as the HTTP listener hands it on.
 * Header names are lower-case; a header or parameter that came twice has its last value.
 */
export interface ApiRequest {
  method: string;
  /** Path without the query, percent-decoded, without a slash at its end (except `/`). */
  path: string;
  query: Map<string, string>;
  headers: Map<string, string>;
  body: Uint8Array;
  /** The caller's address. */
  peer: string;
  /**
   * The users that a trusted proxy names, one for each time the header of `proxy_user_header` came; none from other
   * peers.
   */
  proxyUsers?: readonly string[];
  /** Set when the client reached us, or a trusted proxy, over HTTPS. */
  isSecure: boolean;
  /** Aborted when the client goes away. */
  signal: AbortSignal;
}

/** Writes a reply that comes in parts, one after the other. */
export interface ReplySink {
  /**
   * Resolves when the next part may come, with true when the client was behind: then the end of the part may be kept
   * back until more is written. Rejects with CANCELLED when the client is gone.
   */
  write(part: Uint8Array | string): Promise<boolean>;
}

/**
 * Reply to a request. `body` is a whole JSON text unless `contentType` says otherwise. `pieces` replace it: they are
 * written one after the other as the client takes them, never joined, and none is empty. `stream` replaces it too:
 * when it rejects the connection is cut, so that the client does not take a part for the whole. `over` is called
 * once, when the client has received everything or is gone.
 */
export interface Reply {
  status: number;
  body: Uint8Array | string;
  pieces?: readonly Uint8Array[];
  stream?: (sink: ReplySink) => Promise<void>;
  over?: () => void;
  contentType?: string;
  headers?: Record<string, string>;
}

/**
 * A refusal. The message names the parameter, its value and what is allowed; never a path of the file system, a
 * stack, a key or data of others. Source: INTERFACE.md 7.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.headers = headers;
  }
}

/** The error form of INTERFACE.md 7. */
export function errorReply(error: ApiError): Reply {
  return {
    status: error.status,
    body: JSON.stringify({ error: { status: error.status, message: error.message } }),
    headers: error.headers,
  };
}

/** A successful answer of an output endpoint whose `result` is already JSON text. */
export function resultReply(result: string): Reply {
  return { status: 200, body: `{"result":${result}}` };
}

/**
 * The same of a query's answer, which may be large: its pieces are the JSON text of `result`, or the whole reply as
 * gzip.
 */
export function answerReply(answer: readonly Uint8Array[]): Reply {
  const vary = { vary: 'Accept-Encoding' };
  if (!isGzip(answer)) return { status: 200, body: '', pieces: wholeText(answer), headers: vary };
  const headers = { ...vary, 'content-encoding': 'gzip' };
  return { status: 200, body: '', pieces: answer, headers };
}

/** Reports whether a client takes a coding, by one of its names. Source: RFC 9110, 12.5.3. */
export function takesCoding({ headers }: ApiRequest, ...names: string[]): boolean {
  return (headers.get('accept-encoding') ?? '').split(',').some((element) => {
    const [coding, ...parameters] = element.toLowerCase().split(';');
    const isRefused = parameters.some((parameter) => /^\s*q=0(?:\.0*)?\s*$/.test(parameter));
    return names.includes(coding.trim()) && !isRefused;
  });
}
