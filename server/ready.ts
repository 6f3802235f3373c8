import { type Address, addressText } from './address.ts';

/** Facts that the first lines of the service tell. */
export interface ReadyFacts {
  version: string;
  data: string;
  /** Address of HTTP. */
  http: Address;
  /** All listeners: what they are, where (`undefined`: off), the name of the write key that they are bound to. */
  listeners: readonly { kind: string; address: Address | undefined; key?: string }[];
  /** The certificate of TLS and HTTPS, when one of them is on. */
  certificate: { certPath: string; fingerprint: string } | undefined;
  /** The keys that the first start made. */
  provisioned: { writeKey: string; readKey: string } | undefined;
  events: number;
  /** The token of the link by which the first user is made; `undefined`: there is a user. */
  setupToken: string | undefined;
}

/** The fingerprint's second half begins here: a line of a terminal has no room for all. */
const FINGERPRINT_CUT = 48;

/** An address that a person can paste: a wildcard host is reached by the loopback address. */
function reachable({ host, port }: Address): string {
  const wildcard = host === '0.0.0.0' || host === '::';
  return addressText({ host: wildcard ? '127.0.0.1' : host, port });
}

function listenerLine({ kind, address, key }: ReadyFacts['listeners'][number]): string {
  const scheme = kind.startsWith('HTTP') ? `${kind.split(' ', 1)[0].toLowerCase()}://` : '';
  const where = address === undefined ? 'off' : scheme + reachable(address);
  const bound = key === undefined ? '' : `, bound to the write key ${JSON.stringify(key)}`;
  return `  ${kind.padEnd(11)}  ${where}${bound}`;
}

/**
 * Text printed when the service takes events: its addresses and, on the first start, the keys and lines to try. The
 * last line is `ready`. With usual settings it fits a terminal of 80 columns and 24 lines.
 */
export function readyText(facts: ReadyFacts): string {
  const { version, data, http, listeners, certificate, provisioned, events, setupToken } = facts;
  const base = `http://${reachable(http)}`;
  const lines = [
    `Logseam ${version}, ${events.toLocaleString('en-US')} events in ${data}`,
    ...listeners.map(listenerLine),
  ];
  if (certificate !== undefined) {
    const { certPath, fingerprint } = certificate;
    lines.push(
      `  certificate  ${certPath}`,
      `  SHA-256      ${fingerprint.slice(0, FINGERPRINT_CUT)}`,
      `               ${fingerprint.slice(FINGERPRINT_CUT)}`,
    );
  }
  if (setupToken === undefined) lines.push(`  console      ${base}/`);
  else lines.push('Open this link to make the first user:', `  ${base}/setup#${setupToken}`);
  if (provisioned !== undefined) {
    const { writeKey, readKey } = provisioned;
    lines.push(
      '',
      'The first start has made two keys. They are shown this once:',
      `  write key  ${writeKey}`,
      `  read key   ${readKey}`,
      '',
      'Send a line, and read it back:',
      "  curl -H Content-Type:text/plain --data 'This is my first line of log' \\",
      `    ${base}/v1/input/${writeKey}`,
      `  curl -H Content-Type:application/json -H X-API-Key:${readKey} \\`,
      `    --data '{"time":{"from":"now-1h","to":"now"},"event":true}' \\`,
      `    ${base}/beta/events/list`,
    );
  }
  return `${[...lines, 'ready'].join('\n')}\n`;
}
