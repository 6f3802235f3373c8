/** Address of a listener. Port 0 is any free one. An IPv6 host is without brackets here. */
export interface Address {
  host: string;
  port: number;
}

/** Reads `HOST:PORT`, `[IPV6]:PORT`; `undefined` when it is neither. */
export function readAddress(text: string): Address | undefined {
  const match = /^(?:\[([^\]]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const port = Number(match[3]);
  const host = match[1] === undefined ? match[2] : readIpv6(match[1]);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}

/** The text of an address, with an IPv6 host in brackets. */
export function addressText({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * The one spelling of an IP address: IPv6 short and in lower case (RFC 5952), IPv4 that is mapped into IPv6 as IPv4.
 * `undefined` when the text is no IP address.
 */
export function readIp(text: string): string | undefined {
  if (/^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(text)) return text;
  const address = readIpv6(text);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address ?? '');
  if (mapped === null) return address;
  const [high, low] = [Number.parseInt(mapped[1], 16), Number.parseInt(mapped[2], 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

function readIpv6(text: string): string | undefined {
  if (!/^[0-9a-fA-F:.]+$/.test(text) || !URL.canParse(`http://[${text}]/`)) return undefined;
  return new URL(`http://[${text}]/`).hostname.slice(1, -1);
}
