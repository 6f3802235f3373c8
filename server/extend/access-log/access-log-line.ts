import type { Attributes, ExtractedValue } from '../extraction.ts';
import { NumberText } from '../extraction.ts';

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';
const MONTH_LENGTH = 3;
const NOTHING = '-';
/** Parts of a date in ISO 8601; a line without a zone has none there either. */
const ISO = /^(\d{4})-(\d\d)-(\d\d)T([\d:.]+)(?:Z|([+-]\d\d):(\d\d))?$/;
/** Attributes of parts that may stand behind the bytes in ways that the attributes do not tell. */
const UNPLACED = 'network.bytes_read';

/** Request line that attributes of an access line tell; `undefined` when there is none. */
export function requestLineOf(attributes: Attributes): string | undefined {
  const target = textOf(attributes.get('http.request'));
  const verb = textOf(attributes.get('http.verb'));
  const version = textOf(attributes.get('http.version'));
  if (target === undefined || verb === undefined) return target;
  if (version === undefined) return `${verb} ${target}`;
  return `${verb} ${target} ${version.includes('/') ? version : `HTTP/${version}`}`;
}

/**
 * Access line that attributes tell, in the form in which most servers write it: the common format, or the combined one
 * when there is a referer, an agent or a forwarded address, with a virtual host before and with forwarded addresses and
 * a response time behind. It is the only reading of the attributes: a line that is equal to it loses nothing when it
 * is left out. `undefined` when they tell no line.
 */
export function accessLineOf(attributes: Attributes): string | undefined {
  const request = requestLineOf(attributes);
  const date = commonDate(textOf(attributes.get('date_access')) ?? '');
  if (request === undefined || date === undefined || attributes.has(UNPLACED)) return undefined;
  const part = (name: string): string => textOf(attributes.get(name)) ?? NOTHING;
  const quoted = (name: string): string => `"${escaped(part(name))}"`;
  const client = address(part('network.client_ip'), attributes.get('network.client_port'));
  const user = `${escaped(part('http.ident'))} ${escaped(part('http.auth'))}`;
  const bytes = `${part('http.status_code')} ${part('network.bytes_write')}`;
  let line = `${client} ${user} [${date}] "${escaped(request)}" ${bytes}`;
  const host = textOf(attributes.get('http.request_details.host'));
  // The host of an absolute request stands in the request.
  if (host !== undefined && part('http.request').startsWith('/'))
    line = `${address(host, attributes.get('http.request_details.port'))} ${line}`;
  const hasForwarded = attributes.has('network.forwarded_ip');
  if (hasForwarded || attributes.has('http.referer') || attributes.has('http.useragent'))
    line += ` ${quoted('http.referer')} ${quoted('http.useragent')}`;
  if (hasForwarded) line += ` ${quoted('network.forwarded_ip')}`;
  if (attributes.has('http.response_time')) line += ` ${part('http.response_time')}`;
  return line;
}

function textOf(value: ExtractedValue | undefined): string | undefined {
  if (value instanceof NumberText) return value.text;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function escaped(text: string): string {
  return /["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text;
}

/** A host with its port; brackets tell an IPv6 address from that. */
function address(host: string, port: ExtractedValue | undefined): string {
  if (port === undefined) return host;
  return `${host.includes(':') ? `[${host}]` : host}:${textOf(port)}`;
}

/** `10/Oct/2000:13:55:36 -0700` of a date in ISO 8601. */
export function commonDate(iso: string): string | undefined {
  const parts = ISO.exec(iso);
  if (parts === null) return undefined;
  const [, year, month, day, time, hours, minutes] = parts;
  const at = (Number(month) - 1) * MONTH_LENGTH;
  const zone = iso.endsWith('Z') ? ' +0000' : hours === undefined ? '' : ` ${hours}${minutes}`;
  return `${day}/${MONTHS.slice(at, at + MONTH_LENGTH)}/${year}:${time}${zone}`;
}
