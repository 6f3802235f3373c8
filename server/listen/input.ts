import { dryEventText, roundedMs } from '../api/admin/dry.ts';
import { corsHeaders, preflightReply } from '../api/cors.ts';
import type { Reply } from '../api/reply.ts';
import type { Enrichment } from '../decode/enrichment.ts';
import { DRY_BYTES_MAX, DRY_TOO_LARGE } from '../ingest/dry.ts';
import type {
  BodyForm,
  BodyTask,
  Channel,
  DryRun,
  TaskOutcome,
  WriteKey,
} from '../ingest/protocol.ts';
import { KEY_UNKNOWN, OVERLOADED, type Refusal, refusalOf } from '../ingest/refusal.ts';
import type { Sender } from '../registry/senders.ts';
import { dayOf, secondsToMidnight, type UsageCells } from '../registry/usage.ts';
import { withoutKeys } from '../safe-text.ts';
import type { BodyRoom, InputBody } from './body.ts';
import type { BodyTaker, Exchange } from './exchange.ts';
import {
  addedAttributes,
  bodyCharset,
  bodyEncoding,
  bodyForm,
  callerAddress,
  keyCandidates,
} from './header.ts';
import type { RequestHead } from './request-head.ts';
import { TurnEnd } from './turn/turn-end.ts';

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
const STORED: Reply = { status: 200, body: '{"ok":true}', headers: corsHeaders() };
const ENCODINGS = 'gzip, deflate, br, zstd, identity';
const CHARSETS = 'utf-8, us-ascii, iso-8859-1, windows-1252, utf-16, utf-16le, utf-16be';

/**
 * Makes the handler of the input path. It authenticates, takes room for the body before it is read, hands it to an
 * ingest worker and answers when its events are durable and in the catalog.
 * Source: INTERFACE.md 4.4.
 */
export function createInput(options: InputOptions): (exchange: Exchange) => void {
  const whole = new TurnEnd();
  const known = new WeakMap<RequestHead, HeadFacts>();
  const factsOf = (head: RequestHead): HeadFacts => {
    const before = known.get(head);
    if (before !== undefined) return before;
    const facts = readHead(head);
    known.set(head, facts);
    return facts;
  };
  return (exchange) => {
    if (exchange.head.method === 'OPTIONS') {
      exchange.answer(preflight(exchange.head));
      return;
    }
    const facts = factsOf(exchange.head);
    const key = keyOf(options, facts.keys);
    const refusal = refusalBeforeBody(options, exchange, facts, key);
    if (refusal !== undefined || key === undefined) {
      refuse(options, exchange, refusal ?? KEY_UNKNOWN);
      return;
    }
    receive(new InputRequest(options, exchange, facts, key, whole));
  };
}

/** Facts about a request's events that its head tells. */
interface HeadFacts {
  query: URLSearchParams | undefined;
  /** Texts that may be the write key. */
  keys: readonly string[];
  encoding: ReturnType<typeof bodyEncoding>;
  form: BodyForm;
  charset: ReturnType<typeof bodyCharset>;
  /** Set when nothing is added to the events, whoever sends them. */
  addsNothing: boolean;
  /** Set when the events are only to be shown. */
  isDry: boolean;
}

function readHead({ path, query: text, headers }: RequestHead): HeadFacts {
  const query = text === '' ? undefined : new URLSearchParams(text);
  const type = headers.get('content-type');
  return {
    query,
    keys: keyCandidates(path, query, headers),
    encoding: bodyEncoding(headers.get('content-encoding')),
    form: bodyForm(type),
    charset: bodyCharset(type),
    addsNothing: addedAttributes(query, headers, () => 'any').length === 0,
    isDry: query?.get('debug') === '1',
  };
}

function preflight({ path, method, headers }: RequestHead): Reply {
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

function keyOf({ lookup }: InputOptions, texts: readonly string[]): Readonly<WriteKey> | undefined {
  for (const text of texts) {
    const key = lookup(text);
    if (key !== undefined) return key;
  }
  return undefined;
}

/** The refusal by the head alone. Reserving nothing tells whether the key is on and has quota left. */
function refusalBeforeBody(
  options: InputOptions,
  { head: { method, headers }, contentBytes }: Exchange,
  { encoding, charset }: HeadFacts,
  key: Readonly<WriteKey> | undefined,
): Refusal | undefined {
  if (method !== 'POST') {
    return { status: 405, message: `the method ${method} is not allowed; allowed: POST, OPTIONS` };
  }
  if (key === undefined) return KEY_UNKNOWN;
  const refusal = refusalOf(options.cells.reserve(key.cell, 0, dayOf(options.nowMs())));
  if (refusal !== undefined) return refusal;
  const diskRefusal = options.diskRefusal?.();
  if (diskRefusal !== undefined) return diskRefusal;
  if (encoding === 'unknown') {
    const shown = shownHeader(headers.get('content-encoding'));
    const message = `the header Content-Encoding ${shown} is not allowed; allowed: one of ${ENCODINGS}`;
    return { status: 415, message };
  }
  if (charset === 'unknown') {
    const shown = shownHeader(headers.get('content-type'));
    const message = `the charset of the header Content-Type ${shown} is not allowed; allowed: one of ${CHARSETS}`;
    return { status: 415, message };
  }
  return (contentBytes ?? 0) > options.limits.bodyBytesMax ? tooLarge(options) : undefined;
}

function shownHeader(value: string | undefined): string {
  return JSON.stringify(withoutKeys(value ?? '').slice(0, 100));
}

function tooLarge(options: InputOptions): Refusal {
  return {
    status: 413,
    message: `the body is too large; allowed: ${options.limits.bodyBytesMax} bytes`,
  };
}

function enrichmentOf(
  { limits }: InputOptions,
  exchange: Exchange,
  { query, addsNothing }: HeadFacts,
): Enrichment | undefined {
  if (addsNothing) return undefined;
  const { headers } = exchange.head;
  const caller = (): string =>
    callerAddress(exchange.peer, headers.get('x-forwarded-for'), limits.trustedProxies);
  const attributes = addedAttributes(query, headers, caller);
  return attributes.length === 0 ? undefined : { attributes };
}

/** Takes room for the body of a request, before it is read. */
function receive(request: InputRequest): void {
  const { options, exchange, bytesMax, isDry } = request;
  const { contentBytes } = exchange;
  if (isDry && (contentBytes ?? 0) > bytesMax) {
    refuse(options, exchange, DRY_TOO_LARGE);
    return;
  }
  const body = options.room.begin(contentBytes, bytesMax, () =>
    refuse(options, exchange, OVERLOADED),
  );
  if (body === undefined) {
    refuse(options, exchange, OVERLOADED);
    return;
  }
  request.body = body;
  exchange.read(request);
}

/** A request that brings events: reads its body into a slot and, when it is whole, has it decoded and stored. */
class InputRequest implements BodyTaker {
  readonly options: InputOptions;
  readonly exchange: Exchange;
  readonly isDry: boolean;
  readonly bytesMax: number;
  body: InputBody | undefined;
  readonly #facts: HeadFacts;
  readonly #key: Readonly<WriteKey>;
  readonly #enrichment: Enrichment | undefined;
  readonly #whole: TurnEnd;

  constructor(
    options: InputOptions,
    exchange: Exchange,
    facts: HeadFacts,
    key: Readonly<WriteKey>,
    whole: TurnEnd,
  ) {
    const { bodyBytesMax } = options.limits;
    this.options = options;
    this.exchange = exchange;
    this.isDry = facts.isDry;
    this.bytesMax = facts.isDry ? Math.min(bodyBytesMax, DRY_BYTES_MAX) : bodyBytesMax;
    this.#facts = facts;
    this.#key = key;
    this.#enrichment = enrichmentOf(options, exchange, facts);
    this.#whole = whole;
  }

  take(chunk: Uint8Array, isLast: boolean): void {
    const { options, exchange, body } = this;
    const progress = body?.add(chunk) ?? 'full';
    if (progress !== 'taken') {
      body?.release();
      const large = this.isDry ? DRY_TOO_LARGE : tooLarge(options);
      refuse(options, exchange, progress === 'large' ? large : OVERLOADED);
    } else if (isLast) {
      // What is wrong behind the body, and a further request before the answer, show in this turn of the event loop:
      // then the client is gone, and nothing is stored that could not be answered.
      this.#whole.add(this);
    }
  }

  gone(): void {
    this.body?.release();
  }

  /** Has the whole body decoded and stored, unless its client is gone. */
  give(): boolean {
    const { options, body } = this;
    const slot = body?.take();
    if (body === undefined || slot === undefined) return false;
    const { form, encoding, charset } = this.#facts;
    // The lengths of frames are those of the bytes that were sent.
    const isUtf8 = charset === 'utf-8' || charset === 'unknown' || form === 'frames';
    const { bytesMax } = this;
    const task: Omit<BodyTask, 'task' | 'start'> = {
      type: 'body',
      channel: options.channel ?? 'http',
      bytes: body.bytes,
      form,
      key: this.#key,
      receivedMs: options.nowMs(),
      enrichment: this.#enrichment,
      compression:
        encoding === 'identity' || encoding === 'unknown' ? undefined : { encoding, bytesMax },
      decoding: isUtf8 ? undefined : { charset, bytesMax },
      dry: this.isDry ? {} : undefined,
    };
    body.thread.give(slot, task, this);
    return true;
  }

  /** Takes what became of the body. */
  done(outcome: TaskOutcome): void {
    const { options, exchange } = this;
    this.#whole.answered();
    if (outcome.status === 200 && outcome.events > 0) noteSender(options, exchange, this.#key.id);
    answer(options, exchange, outcome);
  }
}

function noteSender(options: InputOptions, exchange: Exchange, key: string): void {
  const { stored, channel = 'http' } = options;
  stored?.(key, () => ({ channel, peer: callerOf(options, exchange) }));
}

function callerOf({ limits }: InputOptions, { peer, head }: Exchange): string {
  return callerAddress(peer, head.headers.get('x-forwarded-for'), limits.trustedProxies);
}

/** Tells who sent a body that is malformed or too large. */
function noteFault(options: InputOptions, exchange: Exchange, status: number): void {
  if (status === 400 || status === 413) options.faulty?.(status, callerOf(options, exchange));
}

function answer(options: InputOptions, exchange: Exchange, outcome: TaskOutcome): void {
  if (outcome.status === 200) {
    const { dry } = outcome;
    if (dry === undefined) exchange.answer(STORED);
    else exchange.answer({ ...STORED, body: dryText(options, exchange, dry) });
  } else {
    noteFault(options, exchange, outcome.status);
    exchange.answer(refusalReply(options, outcome));
  }
}

/** Text of a dry run; only administrators learn which extensions there are. */
function dryText(
  { isAdministrator }: InputOptions,
  { head: { headers } }: Exchange,
  { events, tookMs }: DryRun,
): string {
  const namesExtensions = isAdministrator?.(headers.get('authorization')) === true;
  const texts = events.map((event) => dryEventText(event, namesExtensions)).join(',');
  return `{"ok":true,"debug":true,"events":[${texts}],"tookMs":${roundedMs(tookMs)}}`;
}

/** Refuses before the body was read. One of unknown or absurd length is not waited for. */
function refuse(options: InputOptions, exchange: Exchange, refusal: Refusal): void {
  options.refused?.(options.channel ?? 'http', refusal);
  const { contentBytes, head } = exchange;
  if (refusal.status === 401) options.unauthenticated?.(callerOf(options, exchange));
  noteFault(options, exchange, refusal.status);
  const endless = contentBytes === undefined && head.headers.has('transfer-encoding');
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
