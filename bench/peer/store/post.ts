import { Agent, request } from 'node:http';
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
export function post(url: string, body: Buffer, contentType: string, agent: Agent): Promise<void> {
  const headers = { 'content-type': contentType };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        if (response.statusCode !== undefined && response.statusCode < 300) resolve();
        else reject(new Error(`HTTP ${response.statusCode}: ${text}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** The text of a reply to a form, as query endpoints take it; rejects unless it is 2xx, with what the server said. */
export async function askForm(
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<string> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams({ ...form }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${text}`);
  return text;
}
