import { EngineError } from '../../engine/base/errors.ts';
import type { Address } from '../address.ts';
import type { ListenerCounts } from '../api/metrics/metrics.ts';
import type { ApiRequest, Reply } from '../api/reply.ts';
import type { BoundListener } from '../bound-listener.ts';
import type { Config } from '../config.ts';
import type { Intake } from '../ingest/intake.ts';
import type { Channel } from '../ingest/protocol.ts';
import type { Log } from '../log.ts';
import type { Sender } from '../registry/senders.ts';
import type { Certificate } from './certificate.ts';
import { type HttpListener, listenHttp } from './http.ts';
import type { InputOptions } from './input.ts';
import type { LineCells } from './line-cells.ts';
import { LineListeners } from './line-listeners.ts';
import { listenUdp, type UdpListener, type UdpOptions } from './udp/udp.ts';

/** Dependencies of all listeners on the front thread. */
export interface ListenersOptions {
  config: Config;
  /** For TLS and HTTPS. */
  certificate: Certificate | undefined;
  intake: Pick<Intake, 'leastBusy' | 'writers' | 'order' | 'watchSockets'>;
  /** Counts of the connections of TCP and TLS. */
  cells: LineCells;
  /** Limit of each listener for HTTP. */
  httpConnectionsMax: number;
  /** The cell of the write key with that name; NO_CELL when there is none. */
  cellOf: (name: string) => number;
  input: Omit<InputOptions, 'channel'>;
  /** Answers everything but the input path; never rejects. */
  routes: (request: ApiRequest) => Promise<Reply>;
  /** Receives a sender of datagrams, the word that one of them began with, and the name of the key it is bound to. */
  met: (sender: Sender, word: string, boundKey: string | undefined) => void;
  /** Receives the status of each answer over HTTP. */
  answered: (channel: Channel, status: number) => void;
  log: Log;
}

/** Kind of a listener over HTTP; `input` has the input route alone. */
type HttpKind = 'HTTP' | 'HTTPS' | 'HTTP input' | 'HTTPS input';

/** An address that is listened on. */
export interface ListenerAddress {
  kind: HttpKind | 'TCP' | 'TLS' | 'UDP';
  /** `undefined` when it is off. */
  address: Address | undefined;
  /** Name of the write key that it is bound to. */
  key?: string;
}

/** All that listens. */
export interface Listeners {
  /** Address of HTTP. */
  readonly http: Address;
  /** All of them, in the order in which they are told. */
  readonly addresses: readonly ListenerAddress[];
  /** Certificate of TLS and HTTPS; `undefined` when neither is on. */
  readonly certificate: Certificate | undefined;
  /** Is set when no worker may listen on the ports of TCP and TLS. */
  readonly areLinesRefused: boolean;
  /** Sums of each channel since the start. */
  counts(): ListenerCounts[];
  /** New connections get this certificate. Throws USAGE when it cannot be used. */
  reload(certificate: Certificate): void;
  /** Takes nothing new and ends what is open, within `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** The port of syslog over UDP when the one of the settings may not be used. Source: INTERFACE.md 1.1. */
const UDP_PORT_INSTEAD = 10_514;
const PRIVILEGED_PORT_MAX = 1_023;

/**
 * Opens all listeners of the settings. Rejects with USAGE, with none left open, when an address cannot be had.
 * Source: INTERFACE.md 1.1 and 4.4.
 */
export async function openListeners(options: ListenersOptions): Promise<Listeners> {
  const opening = new Opening(options);
  let { certificate } = options;
  try {
    const http = await opening.all();
    return {
      http,
      get certificate() {
        return certificate;
      },
      addresses: opening.addresses,
      get areLinesRefused() {
        return opening.areLinesRefused;
      },
      counts: () => summed(opening.counts.flatMap((count) => count())),
      reload: (next) => {
        for (const listener of opening.secure) listener.reload(next);
        certificate = next;
      },
      close: (graceMs) => opening.close(graceMs),
    };
  } catch (error) {
    await opening.close(0);
    throw error;
  }
}

/** The listeners that are open so far. */
class Opening {
  readonly addresses: ListenerAddress[] = [];
  readonly counts: (() => ListenerCounts[])[] = [];
  readonly secure: { reload(certificate: Certificate): void }[] = [];
  readonly #options: ListenersOptions;
  readonly #overConnections: LineListeners;
  readonly #closers: ((graceMs: number) => Promise<void>)[] = [];

  constructor(options: ListenersOptions) {
    this.#options = options;
    const listeners = new LineListeners(options);
    this.#overConnections = listeners;
    this.#closers.push((graceMs) => listeners.close(graceMs));
    this.counts.push(() => listeners.counts());
    this.secure.push(listeners);
  }

  /** Opens them; where HTTP is. */
  async all(): Promise<Address> {
    const { config } = this.#options;
    const http = await this.#http('HTTP', config.http);
    if (config.https === undefined) this.#add('HTTPS', undefined);
    else await this.#http('HTTPS', config.https);
    if (config.httpInput !== undefined) await this.#http('HTTP input', config.httpInput);
    if (config.httpsInput !== undefined) await this.#http('HTTPS input', config.httpsInput);
    await this.#lines('TCP', config.tcp);
    await this.#lines('TLS', config.tls);
    await this.#lines('UDP', config.udp);
    for (const [index, { protocol, address, key }] of config.listeners.entries()) {
      await this.#lines(KINDS[protocol], address, { key, setting: `listener ${index + 1}` });
    }
    await this.#overConnections.open();
    return http;
  }

  get areLinesRefused(): boolean {
    return this.#overConnections.areRefused;
  }

  async close(graceMs: number): Promise<void> {
    await Promise.all(this.#closers.map((close) => close(graceMs)));
  }

  #add(kind: ListenerAddress['kind'], address: Address | undefined, key?: string): void {
    this.addresses.push({ kind, address, ...(key === undefined ? {} : { key }) });
  }

  async #http(kind: HttpKind, wanted: Address): Promise<Address> {
    const isSecure = kind.startsWith('HTTPS');
    const channel = isSecure ? 'https' : 'http';
    const { config, input, routes, answered, certificate, httpConnectionsMax } = this.#options;
    const listener: HttpListener = await listenHttp({
      ...input,
      ...wanted,
      connectionsMax: httpConnectionsMax,
      proxyUserHeader: config.proxyUserHeader,
      setting: kind.toLowerCase().replace(' ', '_'),
      answered,
      channel,
      ...(kind.endsWith('input') ? {} : { routes }),
      ...(isSecure ? { certificate: needed(certificate) } : {}),
    });
    if (isSecure) this.secure.push(listener);
    this.#closers.push((graceMs) => listener.close(graceMs));
    this.counts.push(() => [{ channel, ...listener.counts }]);
    const address = { host: wanted.host, port: listener.port };
    this.#add(kind, address);
    return address;
  }

  /** Opens a listener for lines, that of the setting of its kind unless it is bound to a write key. */
  async #lines(
    kind: 'TCP' | 'TLS' | 'UDP',
    wanted: Address | undefined,
    bound?: { key: string; setting: string },
  ): Promise<void> {
    if (wanted === undefined) {
      this.#add(kind, undefined);
      return;
    }
    const { key, setting = kind.toLowerCase() } = bound ?? {};
    const port =
      kind === 'UDP'
        ? await this.#datagrams(setting, wanted, key)
        : await this.#stream(kind, setting, wanted, key);
    this.#add(kind, { host: wanted.host, port }, key);
  }

  #stream(
    kind: 'TCP' | 'TLS',
    setting: string,
    wanted: Address,
    key: string | undefined,
  ): Promise<number> {
    if (kind === 'TCP') return this.#overConnections.add(setting, wanted, key);
    const { config, certificate } = this.#options;
    const { cert, key: secret } = needed(certificate);
    return this.#overConnections.add(setting, wanted, key, {
      certificate: { cert, key: secret },
      versionMax: config.tlsVersionMax,
    });
  }

  async #datagrams(setting: string, wanted: Address, key: string | undefined): Promise<number> {
    const { intake, log, cellOf } = this.#options;
    const listener = await this.#udp({
      ...wanted,
      setting,
      intake,
      failed: (error) => log.error('a listener failed, it goes on', { kind: 'UDP', error }),
      met: (sender, word) => this.#options.met(sender, word, key),
      ...(key === undefined ? {} : { cell: () => cellOf(key) }),
    });
    this.#closers.push(() => listener.close());
    this.counts.push(() => [udpCounts(listener)]);
    return listener.port;
  }

  /** Without the right to the port another one is taken, and it is said how to get the right. */
  async #udp(options: UdpOptions): Promise<UdpListener> {
    try {
      return await listenUdp(options);
    } catch (error) {
      const { setting, port } = options;
      if (!isForbidden(error) || port === 0 || port > PRIVILEGED_PORT_MAX) throw error;
      const fixes = [
        'give the process CAP_NET_BIND_SERVICE (setcap, or AmbientCapabilities of systemd)',
        `set the sysctl net.ipv4.ip_unprivileged_port_start to ${port}`,
        `set ${setting} to another port`,
      ];
      const message = 'no right to a port of UDP below 1024, another one is taken';
      this.#options.log.error(message, { udp: port, instead: UDP_PORT_INSTEAD, fixes });
      return listenUdp({ ...options, port: UDP_PORT_INSTEAD });
    }
  }
}

const KINDS: Readonly<Record<BoundListener['protocol'], 'TCP' | 'TLS' | 'UDP'>> = {
  tcp: 'TCP',
  tls: 'TLS',
  udp: 'UDP',
};

/** Number of listeners for HTTP. */
export function httpListenersOf({ http, https, httpInput, httpsInput }: Config): number {
  return [http, https, httpInput, httpsInput].filter((address) => address !== undefined).length;
}

/** Reports whether TLS or HTTPS is on, so that a certificate is needed. */
export function needsCertificate({ https, httpsInput, tls, listeners }: Config): boolean {
  const isBound = listeners.some(({ protocol }) => protocol === 'tls');
  return https !== undefined || httpsInput !== undefined || tls !== undefined || isBound;
}

function needed(certificate: Certificate | undefined): Certificate {
  if (certificate !== undefined) return certificate;
  throw new EngineError('USAGE', 'there is no certificate');
}

function isForbidden(error: unknown): boolean {
  if (!(error instanceof EngineError)) return false;
  return (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EACCES';
}

function udpCounts(listener: UdpListener): ListenerCounts {
  const { datagrams, datagramsDropped } = listener.counts;
  const dropped = datagramsDropped + (listener.kernelDropCount() ?? 0);
  return { channel: 'udp', datagrams, datagramsDropped: dropped };
}

/** One entry a channel, as a channel may have several listeners. */
function summed(all: readonly ListenerCounts[]): ListenerCounts[] {
  const sums = new Map<Channel, ListenerCounts>();
  for (const { channel, ...counts } of all) {
    const sum = sums.get(channel) ?? { channel };
    sums.set(channel, sum);
    for (const [name, count] of Object.entries(counts) as [keyof typeof counts, number][]) {
      sum[name] = (sum[name] ?? 0) + count;
    }
  }
  return [...sums.values()];
}
