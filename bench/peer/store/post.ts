import { Agent, request } from 'node:http';

/** POSTs over a few connections that stay open, as shippers send. */

const CONNECTIONS = 2;

/** Posts every body to `url`; rejects unless each is answered with 2xx, with what the server said. */
export async function postAll(
  url: string,
  bodies: readonly Buffer[],
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < bodies.length) await post(url, bodies[next++], headers, agent);
  };
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
  } finally {
    agent.destroy();
  }
}

function post(
  url: string,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
  agent: Agent,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method: 'POST', agent, headers: { ...headers } },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => {
          if (response.statusCode !== undefined && response.statusCode < 300) resolve();
          else reject(new Error(`HTTP ${response.statusCode}: ${text}`));
        });
      },
    );
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
