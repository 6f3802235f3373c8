import { join } from 'node:path';
import { readTextAt } from '../../../engine/base/text-file.ts';
import { addressText, readAddress } from '../../address.ts';
import type { KeyKind, Quota } from '../../registry/key-record.ts';
import { ADMIN_TOKEN_PATH } from '../../registry/secret.ts';

const REPLY_TIME_MAX_MS = 10_000;

/** A key as the admin API lists it. */
export interface ListedKey {
  id: string;
  name: string;
  kind: KeyKind;
  enabled?: boolean;
  quota_reached?: boolean;
  daily_usage?: number;
  daily_quota?: Quota | null;
  security_filter?: string | null;
}

/** The service that may run on a data folder; `ask` rejects when it does not, or refuses. */
export interface Holder {
  isRunning(): Promise<boolean>;
  /** Sends a request below `/admin/api/`; the `result` of its answer. */
  ask(method: string, path: string, body?: unknown): Promise<unknown>;
}

/** A request that the service refused or that did not reach it; the message is for the user. */
export class AdminFailure extends Error {}

/**
 * Speaks to the admin API of the service that runs on a data folder, found by its lock and with the folder's token.
 * Methods reject with AdminFailure.
 */
export class AdminClient {
  readonly #askHolder: (root: string) => Promise<string | undefined>;
  readonly #root: string;

  constructor(askHolder: (root: string) => Promise<string | undefined>, root: string) {
    this.#askHolder = askHolder;
    this.#root = root;
  }

  /** The keys of these kinds. */
  async list(kinds: readonly KeyKind[]): Promise<ListedKey[]> {
    const keys: ListedKey[] = [];
    for (const kind of kinds) {
      const result = (await this.ask('GET', `${kind}_keys`)) as Record<string, ListedKey[]>;
      for (const key of result[`${kind}_keys`]) keys.push({ ...key, kind });
    }
    return keys;
  }

  /** Sends a request below `/admin/api/`; the `result` of its answer. */
  async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const { pid, base } = await this.#findService();
    const token = readTextAt(join(this.#root, ADMIN_TOKEN_PATH))?.trim();
    if (token === undefined) {
      throw new AdminFailure(`${join(this.#root, ADMIN_TOKEN_PATH)} is not there`);
    }
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${base}/admin/api/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(REPLY_TIME_MAX_MS),
      });
      text = await response.text();
    } catch (cause) {
      const message = `the service (process ${pid}) does not answer at ${base}`;
      throw new AdminFailure(message, { cause });
    }
    const answer = parseAnswer(text);
    if (response.ok && answer?.result !== undefined) return answer.result;
    const reason = answer?.error?.message ?? `status ${response.status}`;
    throw new AdminFailure(reason);
  }

  async #findService(): Promise<{ pid: number; base: string }> {
    const root = this.#root;
    const greeting = await this.#askHolder(root);
    if (greeting === undefined) {
      throw new AdminFailure(
        `no service is running on ${root}; start it with: logseam serve --data ${root}`,
      );
    }
    const { pid, http } = (parseAnswer(greeting) ?? {}) as { pid?: number; http?: string };
    const address = readAddress(http ?? '');
    if (pid === undefined || address === undefined) {
      throw new AdminFailure(`the service on ${root} does not tell its HTTP address (yet)`);
    }
    return { pid, base: `http://${addressText({ ...address, host: reachable(address.host) })}` };
  }
}

/** Host to which a client connects: the loopback address when the listener listens on all. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

function parseAnswer(text: string): { result?: unknown; error?: { message?: string } } | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' && answer !== null ? answer : undefined;
  } catch {
    return undefined;
  }
}
