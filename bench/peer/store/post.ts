import { Agent, request } from 'node:http';
import type { Service } from '../../../test/support/service.ts';
import type { Body } from '../../corpus/bodies.ts';

/** POSTs over a few connections that stay open, as shippers send. */

/** How many connections `postAll` sends over, unless it is said. */
export const CONNECTIONS = 4;

/**
 * Posts every body to `url`; rejects unless each is answered with 2xx, with what the server said. Resolves with the
 * milliseconds of each request. `progress` is told how many events were sent.
 */
export async function postAll(
  url: string,
  bodies: readonly Body[],
  contentType: string,
  progress: (events: number) => void = () => {},
  connections = CONNECTIONS,
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  let next = 0;
  let sent = 0;
  const work = async (): Promise<void> => {
    while (next < bodies.length) {
      const { body, events } = bodies[next++];
      const started = performance.now();
      await post(url, body, contentType, agent);
      latencies.push(performance.now() - started);
      sent += events;
      progress(sent);
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, work));
  } finally {
    agent.destroy();
  }
  return latencies;
}

/** Posts a body; rejects unless it is answered with 2xx, with what the server said. */
export async function post(
  url: string,
  body: Buffer,
  contentType: string,
  agent: Agent,
): Promise<void> {
  await replyTo(url, body, { 'content-type': contentType }, agent);
}

/** Connections of those who ask one question after the other. */
const ASKING = new Agent({ keepAlive: true });

/**
 * The text of the reply to a POST, which is not asked to be compressed; rejects unless it is 2xx, with what the server
 * said. `fetch` would take more than a millisecond longer for a hundred events.
 */
export function replyTo(
  url: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>>,
  agent = ASKING,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode !== undefined && response.statusCode < 300) resolve(text);
        else reject(new Error(`HTTP ${response.statusCode}: ${text}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** The text of the reply to a form, as query endpoints take it; rejects as `replyTo`. */
export function askForm(url: string, form: Readonly<Record<string, string>>): Promise<string> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return replyTo(url, `${new URLSearchParams({ ...form })}`, headers);
}

/** The text of the reply of a Logseam to a request of its API; rejects as `replyTo`. */
export function askApi(
  { http, readKey }: Pick<Service, 'http' | 'readKey'>,
  path: string,
  body: object,
): Promise<string> {
  const headers = { 'content-type': 'application/json', 'x-api-key': readKey };
  return replyTo(`${http}${path}`, JSON.stringify(body), headers);
}
