import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import type { Service } from './service.ts';

const UNTIL_MAX_MS = 10_000;

/** A message of a stream of server-sent events. */
export interface TailMessage {
  id: string;
  event: string;
  data: unknown;
}

/** A client of server-sent events, as a browser has one, that does not connect again by itself. */
export class TailClient {
  readonly messages: TailMessage[] = [];
  /** Of the last block that had one, whether it was a message or not. */
  lastId = '';
  /** Of the first one: the place at which the tail began. */
  firstId = '';
  comments = 0;
  bytes = 0;
  isOver = false;
  readonly #request: ClientRequest;
  readonly #response: IncomingMessage;
  #rest = '';
  #changed: () => void = () => {};

  constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request;
    this.#response = response;
    response.setEncoding('utf8').on('data', (text: string) => {
      this.bytes += text.length;
      this.#take(text);
      this.#changed();
    });
    response.on('error', () => {});
    response.on('close', () => {
      this.isOver = true;
      this.#changed();
    });
  }

  get status(): number {
    return this.#response.statusCode ?? 0;
  }

  get headers(): IncomingMessage['headers'] {
    return this.#response.headers;
  }

  /** The data of all messages of a kind. */
  data(event = 'message'): unknown[] {
    return this.messages.filter((each) => each.event === event).map(({ data }) => data);
  }

  /** The attribute `n` of all events. */
  numbers(): number[] {
    return this.data().map((data) => (data as { event: { custom: { n: number } } }).event.custom.n);
  }

  /** The sum of what was dropped. */
  dropped(): number {
    return this.data('dropped').reduce<number>(
      (sum, data) => sum + (data as { count: number }).count,
      0,
    );
  }

  /** Resolves when `isDone`; rejects when that takes too long. */
  until(isDone: () => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new Error(`${what} did not come: ${this.messages.length}`));
      const timer = setTimeout(late, UNTIL_MAX_MS);
      this.#changed = () => {
        if (!isDone()) return;
        clearTimeout(timer);
        resolve();
      };
      this.#changed();
    });
  }

  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  close(): void {
    this.#request.destroy();
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) {
      let event = 'message';
      let data: string | undefined;
      for (const line of block.split('\n')) {
        if (line.startsWith(':')) this.comments++;
        if (line.startsWith('id: ')) this.lastId = line.slice(4);
        this.firstId ||= this.lastId;
        if (line.startsWith('event: ')) event = line.slice(7);
        if (line.startsWith('data: ')) data = line.slice(6);
      }
      if (data !== undefined)
        this.messages.push({ id: this.lastId, event, data: JSON.parse(data) });
    }
  }
}

/** Opens a tail; resolves when its first id is there: then it has all that is acknowledged from now on. */
export async function openTail(
  service: Service,
  parameters: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<TailClient> {
  const query = new URLSearchParams({ api_key: service.readKey, ...parameters });
  const client = await new Promise<TailClient>((resolve, reject) => {
    const url = `${service.http}/beta/events/tail?${query}`;
    const request = get(url, { headers, agent: false }, (response) => {
      resolve(new TailClient(request, response));
    });
    request.on('error', reject);
  });
  await client.until(() => client.lastId !== '' || client.status !== 200, 'the first id');
  return client;
}
