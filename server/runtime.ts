import { DAY_MS } from '../engine/base/durations.ts';
import type { Disk } from '../engine/base/file.ts';
import { type Config, changedSettings } from './config.ts';
import { type Certificate, openCertificate } from './listen/certificate.ts';
import type { InputLimits } from './listen/input.ts';
import { needsCertificate } from './listen/listeners.ts';
import type { Log, LogLevel } from './log.ts';
import { NO_CELL } from './registry/key-table.ts';
import type { Keys } from './registry/keys.ts';

/** Settings that change while the service runs, by their TOML keys; all others need a restart. */
const CHANGEABLE: ReadonlySet<string> = new Set([
  'log_level',
  'trusted_proxies',
  'body_mb_max',
  'tls_cert',
  'tls_key',
]);
const EXPIRY_WARNING_MS = 14 * DAY_MS;

/** The settings in force, as far as they may change while the service runs. */
export class Runtime {
  /** One object for the life of the service, whose content changes. */
  readonly limits: InputLimits = { bodyBytesMax: 0, trustedProxies: new Set() };
  #config: Config;

  constructor(config: Config) {
    this.#config = config;
    this.#setLimits();
  }

  /** The settings in force. */
  get config(): Config {
    return this.#config;
  }

  get logLevel(): LogLevel {
    return this.#config.logLevel;
  }

  /** Takes over what of newly read settings can be taken over, and says what cannot. */
  apply(next: Config, log: Log): void {
    for (const setting of changedSettings(this.#config, next)) {
      if (CHANGEABLE.has(setting)) log.info('a setting has changed', { setting });
      else log.error('a setting has changed that needs a restart', { setting });
    }
    const { logLevel, trustedProxies, bodyMbMax, tlsCert, tlsKey } = next;
    this.#config = { ...this.#config, logLevel, trustedProxies, bodyMbMax, tlsCert, tlsKey };
    this.#setLimits();
  }

  #setLimits(): void {
    this.limits.bodyBytesMax = this.#config.bodyMbMax * 2 ** 20;
    this.limits.trustedProxies = new Set(this.#config.trustedProxies);
  }
}

/** The certificate of the settings; `undefined` when no listener needs one. Rejects as `openCertificate` does. */
export async function certificateOf(
  config: Config,
  disk: Disk,
  log: Log,
): Promise<Certificate | undefined> {
  if (!needsCertificate(config)) return undefined;
  const { data: root, tlsCert: certPath, tlsKey: keyPath } = config;
  const certificate = await openCertificate({ disk, root, certPath, keyPath });
  if (certificate.validToMs < Date.now() + EXPIRY_WARNING_MS) {
    const validTo = new Date(certificate.validToMs);
    log.error('the certificate is or will soon be out of date', { validTo });
  }
  return certificate;
}

/** Dependencies of a reload. */
export interface ReloadOptions {
  runtime: Runtime;
  /** Reads the settings again; throws as at the start. */
  read: () => Config;
  disk: Disk;
  listeners: { reload(certificate: Certificate): void };
  log: Log;
}

/** Reads settings and certificate again. Faults are logged, and the values in force stay. Never rejects. */
export async function reload({
  runtime,
  read,
  disk,
  listeners,
  log,
}: ReloadOptions): Promise<void> {
  try {
    runtime.apply(read(), log);
  } catch (error) {
    log.error('the settings cannot be used, those in force stay', { error });
  }
  try {
    const certificate = await certificateOf(runtime.config, disk, log);
    if (certificate === undefined) return;
    listeners.reload(certificate);
    log.info('the certificate was read', { fingerprint: certificate.fingerprint });
  } catch (error) {
    log.error('the certificate cannot be used, the one in force stays', { error });
  }
}

/** The cells of the write keys that listeners are bound to, found by name once after each change of a key. */
export class BoundCells {
  readonly #keys: Keys;
  readonly #cells = new Map<string, number>();

  constructor(keys: Keys, { listeners }: Config, log: Log) {
    this.#keys = keys;
    for (const { key } of listeners) this.#cells.set(key, NO_CELL);
    this.refresh();
    for (const [key, cell] of this.#cells) {
      if (cell !== NO_CELL) continue;
      log.error('a listener drops its lines until its write key exists', { key });
    }
  }

  /** Looks the keys up again. The workers have to know them by then. */
  refresh(): void {
    for (const name of this.#cells.keys()) {
      this.#cells.set(name, this.#keys.named('write', name)?.cell ?? NO_CELL);
    }
  }

  /** The cell of the key with that name; NO_CELL when there is none. */
  of(name: string): number {
    return this.#cells.get(name) ?? NO_CELL;
  }
}
