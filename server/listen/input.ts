import { dryEventText, roundedMs } from '../api/admin/dry.ts';
import { corsHeaders, preflightReply } from '../api/cors.ts';
import type { Reply } from '../api/reply.ts';
import type { Enrichment } from '../decode/enrichment.ts';
import { DRY_BYTES_MAX, DRY_TOO_LARGE } from '../ingest/dry.ts';
import type { Channel, DryRun, TaskOutcome, WriteKey } from '../ingest/protocol.ts';
import { KEY_UNKNOWN, OVERLOADED, type Refusal, refusalOf } from '../ingest/refusal.ts';
import type { Sender } from '../registry/senders.ts';
import { dayOf, secondsToMidnight, type UsageCells } from '../registry/usage.ts';
import { withoutKeys } from '../safe-text.ts';
import type { BodyRoom, InputBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import {
  addedAttributes,
  bodyCharset,
  bodyEncoding,
  bodyForm,
  callerAddress,
  keyCandidates,
} from './header.ts';

/** Limits that are read at each request, and may change while the listener is open. */
export interface InputLimits {
  bodyBytesMax: number;
  /** Addresses in the spelling of `plainAddress`. */
  trustedProxies: ReadonlySet<string>;
}

/** Dependencies of input over HTTP on the front thread. */
export interface InputOptions {
  room: BodyRoom;
  /** The write key with that text, switched-off ones too. */
  lookup: (key: string) => Readonly<WriteKey> | undefined;
  cells: UsageCells;
  limits: InputLimits;
  /** Why the disk takes nothing in now; `undefined` when it does. */
  diskRefusal?: () => Refusal | undefined;
  nowMs: () => number;
  /** `http` when it is not said. */
  channel?: 'http' | 'https';
  /** Receives each request that is refused before a worker gets it. */
  refused?: (channel: Channel, refusal: Refusal) => void;
  /** Receives the key of each request whose events are stored, and from where it came. */
  stored?: (key: string, sender: () => Sender) => void;
  /** Receives the address of a request that is refused by 401. */
  unauthenticated?: (peer: string) => void;
  /** Receives the status of a refusal that speaks of the body, and who sent that. */
  faulty?: (status: number, peer: string) => void;
  /** Reports whether the header `Authorization` is an administrator's. */
  isAdministrator?: (authorization: string | undefined) => boolean;
}

/** Seconds after which a request that was refused for load may come again. */
const RETRY_SECONDS = 1;
/** The same where the disk has to be made free first. */
const DISK_RETRY_SECONDS = 15;
/**
 * A refused body of up to this many bytes is read and dropped, so that the refusal arrives and the connection lives.
 */
const DROPPED_BYTES_MAX = 64 * 1024 * 1024;
const STORED = '{"ok":true}';
const ENCODINGS = 'gzip, deflate, br, zstd, identity';
const CHARSETS = 'utf-8, us-ascii, iso-8859-1, windows-1252, utf-16, utf-16le, utf-16be';

/**
 * Makes the handler of the input path. It authenticates, takes room for the body before it is read, hands it to an
 * ingest worker and answers when its events are durable and in the catalog.
 * Source: INTERFACE.md 4.4.
 */
export function createInput(options: InputOptions): (exchange: Exchange) => void {
  const whole = new TurnEnd();
  return (exchange) => {
    if (exchange.method === 'OPTIONS') {
      exchange.answer(preflight(exchange));
      return;
    }
    const query = exchange.query === '' ? undefined : new URLSearchParams(exchange.query);
    const key = keyOf(options, exchange, query);
    const refusal = refusalBeforeBody(options, exchange, key);
    if (refusal !== undefined || key === undefined) {
      refuse(options, exchange, refusal ?? KEY_UNKNOWN);
      return;
    }
    const enrichment = enrichmentOf(exchange, query, options.limits.trustedProxies);
    receive(options, exchange, { key, enrichment, dry: query?.get('debug') === '1' }, whole);
  };
}

function preflight({ path, method, headers }: Exchange): Reply {
  const signal = new AbortController().signal;
  const body = new Uint8Array(0);
  return preflightReply({
    method,
    path,
    query: new Map(),
    headers,
    peer: '',
    isSecure: false,
    body,
    signal,
  });
}

function keyOf(
  options: InputOptions,
  exchange: Exchange,
  query: URLSearchParams | undefined,
): WriteKey | undefined {
  for (const text of keyCandidates(exchange.path, query, exchange.headers)) {
    const key = options.lookup(text);
    if (key !== undefined) return { id: key.id, cell: key.cell };
  }
  return undefined;
}

/** The refusal by the head alone. Reserving nothing tells whether the key is on and has quota left. */
function refusalBeforeBody(
  options: InputOptions,
  { method, headers, contentBytes }: Exchange,
  key: WriteKey | undefined,
): Refusal | undefined {
  if (method !== 'POST') {
    return { status: 405, message: `the method ${method} is not allowed; allowed: POST, OPTIONS` };
  }
  if (key === undefined) return KEY_UNKNOWN;
  const refusal = refusalOf(options.cells.reserve(key.cell, 0, dayOf(options.nowMs())));
  if (refusal !== undefined) return refusal;
  const diskRefusal = options.diskRefusal?.();
  if (diskRefusal !== undefined) return diskRefusal;
  const encoding = headers.get('content-encoding');
  if (bodyEncoding(encoding) === 'unknown') {
    const shown = JSON.stringify(withoutKeys(encoding ?? '').slice(0, 100));
    const message = `the header Content-Encoding ${shown} is not allowed; allowed: one of ${ENCODINGS}`;
    return { status: 415, message };
  }
  const type = headers.get('content-type');
  if (bodyCharset(type) === 'unknown') {
    const shown = JSON.stringify(withoutKeys(type ?? '').slice(0, 100));
    const message = `the charset of the header Content-Type ${shown} is not allowed; allowed: one of ${CHARSETS}`;
    return { status: 415, message };
  }
  return (contentBytes ?? 0) > options.limits.bodyBytesMax ? tooLarge(options) : undefined;
}

function tooLarge(options: InputOptions): Refusal {
  return {
    status: 413,
    message: `the body is too large; allowed: ${options.limits.bodyBytesMax} bytes`,
  };
}

function enrichmentOf(
  exchange: Exchange,
  query: URLSearchParams | undefined,
  trusted: ReadonlySet<string>,
): Enrichment | undefined {
  const { headers } = exchange;
  const caller = (): string =>
    callerAddress(exchange.peer, headers.get('x-forwarded-for'), trusted);
  const attributes = addedAttributes(query, headers, caller);
  return attributes.length === 0 ? undefined : { attributes };
}

/** Facts about a request's events from its head. */
interface InputHead {
  key: WriteKey;
  enrichment: Enrichment | undefined;
  /** Set when they are only to be shown. */
  dry: boolean;
}

/** Reads the body into a slot and, when it is whole, has it decoded and stored. */
function receive(options: InputOptions, exchange: Exchange, head: InputHead, whole: TurnEnd): void {
  const { dry } = head;
  const { bodyBytesMax } = options.limits;
  const bytesMax = dry ? Math.min(bodyBytesMax, DRY_BYTES_MAX) : bodyBytesMax;
  if (dry && (exchange.contentBytes ?? 0) > bytesMax) {
    refuse(options, exchange, DRY_TOO_LARGE);
    return;
  }
  const body = options.room.begin(exchange.contentBytes, bytesMax, () =>
    refuse(options, exchange, OVERLOADED),
  );
  if (body === undefined) {
    refuse(options, exchange, OVERLOADED);
    return;
  }
  exchange.whenGone(() => body.release());
  exchange.read((chunk, isLast) => {
    const progress = body.add(chunk);
    if (progress !== 'taken') {
      body.release();
      const large = dry ? DRY_TOO_LARGE : tooLarge(options);
      refuse(options, exchange, progress === 'large' ? large : OVERLOADED);
    } else if (isLast) {
      // What is wrong behind the body, and a further request before the answer, show in this turn of the event loop:
      // then the client is gone, and nothing is stored that could not be answered.
      whole.add(() => give(options, exchange, body, head, bytesMax));
    }
  });
}

/** Calls at the end of this turn of the event loop, made together: what they give goes in one message. */
class TurnEnd {
  #calls: (() => void)[] = [];

  add(call: () => void): void {
    this.#calls.push(call);
    if (this.#calls.length === 1) setImmediate(this.#run);
  }

  readonly #run = (): void => {
    const calls = this.#calls;
    this.#calls = [];
    for (const call of calls) call();
  };
}

/** Has a whole body decoded and stored, unless its client is gone. */
function give(
  options: InputOptions,
  exchange: Exchange,
  body: InputBody,
  { key, enrichment, dry }: InputHead,
  bytesMax: number,
): void {
  const slot = body.take();
  if (slot === undefined) return;
  const encoding = bodyEncoding(exchange.headers.get('content-encoding'));
  const type = exchange.headers.get('content-type');
  const form = bodyForm(type);
  const charset = bodyCharset(type);
  // The lengths of frames are those of the bytes that were sent.
  const isUtf8 = charset === 'utf-8' || charset === 'unknown' || form === 'frames';
  body.thread
    .body(slot, {
      type: 'body',
      channel: options.channel ?? 'http',
      bytes: body.bytes,
      form,
      key,
      receivedMs: options.nowMs(),
      enrichment,
      compression:
        encoding === 'identity' || encoding === 'unknown' ? undefined : { encoding, bytesMax },
      decoding: isUtf8 ? undefined : { charset, bytesMax },
      dry: dry ? {} : undefined,
    })
    .then((outcome) => {
      if (outcome.status === 200 && outcome.events > 0) noteSender(options, exchange, key.id);
      answer(options, exchange, outcome);
    });
}

function noteSender(options: InputOptions, exchange: Exchange, key: string): void {
  const { stored, channel = 'http' } = options;
  stored?.(key, () => ({ channel, peer: callerOf(options, exchange) }));
}

function callerOf({ limits }: InputOptions, { peer, headers }: Exchange): string {
  return callerAddress(peer, headers.get('x-forwarded-for'), limits.trustedProxies);
}

/** Tells who sent a body that is malformed or too large. */
function noteFault(options: InputOptions, exchange: Exchange, status: number): void {
  if (status === 400 || status === 413) options.faulty?.(status, callerOf(options, exchange));
}

function answer(options: InputOptions, exchange: Exchange, outcome: TaskOutcome): void {
  if (outcome.status === 200) {
    const body = outcome.dry === undefined ? STORED : dryText(options, exchange, outcome.dry);
    exchange.answer({ status: 200, body, headers: corsHeaders() });
  } else {
    noteFault(options, exchange, outcome.status);
    exchange.answer(refusalReply(options, outcome));
  }
}

/** Text of a dry run; only administrators learn which extensions there are. */
function dryText(
  { isAdministrator }: InputOptions,
  { headers }: Exchange,
  { events, tookMs }: DryRun,
): string {
  const namesExtensions = isAdministrator?.(headers.get('authorization')) === true;
  const texts = events.map((event) => dryEventText(event, namesExtensions)).join(',');
  return `{"ok":true,"debug":true,"events":[${texts}],"tookMs":${roundedMs(tookMs)}}`;
}

/** Refuses before the body was read. One of unknown or absurd length is not waited for. */
function refuse(options: InputOptions, exchange: Exchange, refusal: Refusal): void {
  options.refused?.(options.channel ?? 'http', refusal);
  const { contentBytes, headers } = exchange;
  if (refusal.status === 401) options.unauthenticated?.(callerOf(options, exchange));
  noteFault(options, exchange, refusal.status);
  const endless = contentBytes === undefined && headers.has('transfer-encoding');
  const close = endless || (contentBytes ?? 0) > DROPPED_BYTES_MAX;
  exchange.answer(refusalReply(options, refusal), close);
}

/** The form of a refusal of the input API. Source: INTERFACE.md 4.4. */
function refusalReply(options: InputOptions, refusal: Refusal): Reply {
  const { status, message } = refusal;
  const headers = corsHeaders();
  if (status === 405) headers['allow'] = 'POST, OPTIONS';
  if (status === 503 || message === OVERLOADED.message) {
    headers['retry-after'] = String(RETRY_SECONDS);
  } else if (status === 507) {
    headers['retry-after'] = String(DISK_RETRY_SECONDS);
  } else if (status === 429) {
    headers['retry-after'] = String(secondsToMidnight(options.nowMs()));
  }
  return { status, body: JSON.stringify({ error: { status, message }, ok: false }), headers };
}
