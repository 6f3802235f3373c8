/** A request as a library has it, while its handler runs. */
export interface RequestSource {
  forEach(take: (lowerCaseName: string, value: string) => void): void;
  getMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
}

/** Parts of a request before its body that say nothing of its length. Requests that are alike may share one. */
export interface RequestHead {
  /** Upper-case. */
  readonly method: string;
  /** Path as it was sent, without the query. */
  readonly path: string;
  /** Query as it was sent, without `?`; empty when there is none. */
  readonly query: string;
  /** Names are lower-case; a header that came twice has its last value. */
  readonly headers: Map<string, string>;
}

/** A head as it is remembered: with all headers but the length, in their order. */
interface KnownHead extends RequestHead {
  readonly names: readonly string[];
  readonly values: readonly string[];
}

/** Heads that are remembered, one a path, and the characters of each. */
const HEADS_MAX = 256;
const HEAD_LENGTH_MAX = 2_048;

const NONE: readonly string[] = [];

/**
 * Reads the heads of requests, which are gone when their handler returns. Senders say the same with each of their
 * bodies, so a head that came last with its path is given again.
 */
export class HeadReader {
  /** All values of some headers of the request that was read last. */
  lengths: readonly string[] = NONE;
  encodings: readonly string[] = NONE;
  users: readonly string[] = NONE;
  readonly #userHeader: string | undefined;
  readonly #known = new Map<string, KnownHead>();
  /** The first `#count` are of the request at hand. */
  readonly #names: string[] = [];
  readonly #values: string[] = [];
  #count = 0;

  /** `userHeader` is the name of a header of which all values are kept. */
  constructor(userHeader: string | undefined) {
    this.#userHeader = userHeader;
  }

  /** The head of a request. */
  read(request: RequestSource): RequestHead {
    this.lengths = NONE;
    this.encodings = NONE;
    this.users = NONE;
    this.#count = 0;
    request.forEach(this.#take);
    const method = request.getMethod();
    const path = request.getUrl();
    const query = request.getQuery() ?? '';
    const known = this.#known.get(path);
    if (known !== undefined && this.#isSame(known, method, query)) return known;
    return this.#learn(method, path, query);
  }

  readonly #take = (name: string, value: string): void => {
    if (name === 'content-length') {
      this.lengths = this.lengths.length === 0 ? [value] : [...this.lengths, value];
      return;
    }
    if (name === 'transfer-encoding') this.encodings = [...this.encodings, value];
    else if (name === this.#userHeader) this.users = [...this.users, value];
    const at = this.#count++;
    this.#names[at] = name;
    this.#values[at] = value;
  };

  #isSame(known: KnownHead, method: string, query: string): boolean {
    const { names, values } = known;
    if (names.length !== this.#count || known.query !== query) return false;
    for (let at = 0; at < names.length; at++) {
      if (this.#values[at] !== values[at] || this.#names[at] !== names[at]) return false;
    }
    return known.method === method.toUpperCase();
  }

  #learn(method: string, path: string, query: string): RequestHead {
    const names = this.#names.slice(0, this.#count);
    const values = this.#values.slice(0, this.#count);
    const headers = new Map<string, string>();
    let length = path.length + query.length;
    for (const [at, name] of names.entries()) {
      headers.set(name, values[at]);
      length += name.length + values[at].length;
    }
    const head = { method: method.toUpperCase(), path, query, headers, names, values };
    if (length <= HEAD_LENGTH_MAX) {
      if (this.#known.size >= HEADS_MAX) this.#known.clear();
      this.#known.set(path, head);
    }
    return head;
  }
}
