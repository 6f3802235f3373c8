import { fileURLToPath } from 'node:url';
import { parse, stringify, TomlError } from 'smol-toml';
import { EngineError } from '../engine/base/errors.ts';
import { NAMES_PER_KEY_DAY } from '../engine/base/limits.ts';
import { nearest } from '../engine/base/nearest.ts';
import { readTextAt } from '../engine/base/text-file.ts';
import { type Address, readAddress, readIp } from './address.ts';
import {
  type BoundListener,
  LISTENER_KEY,
  readBoundListeners,
  writeBoundListeners,
} from './bound-listener.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';

/** Larger bodies would not fit into the memory of an ingest worker while they arrive. */
const BODY_MB_MAX = 100;

/** Stands for a value that a setting does not take. */
const WRONG = Symbol('wrong value');

/** Reader of the text of a setting. `allowed` ends the sentence "allowed are". */
interface ValueType<Value> {
  placeholder: string;
  allowed: string;
  isList?: boolean;
  read(text: string): Value | typeof WRONG;
}

/** A setting: from its name come flag, variable and TOML key; `initial` is the text of its default. */
interface Setting<Value> {
  group: string;
  type: ValueType<Value>;
  initial: string;
  help: string;
}

const PATH: ValueType<string> = {
  placeholder: 'PATH',
  allowed: 'paths of 1 to 4,000 characters',
  read: (text) => (text.length >= 1 && text.length <= 4_000 && !text.includes('\0') ? text : WRONG),
};

const OPTIONAL_PATH: ValueType<string | undefined> = {
  ...PATH,
  read: (text) => (text === '' ? undefined : PATH.read(text)),
};

const ADDRESS: ValueType<Address> = {
  placeholder: 'HOST:PORT',
  allowed: 'HOST:PORT with a port from 0 to 65535, IPv6 addresses in brackets',
  read: (text) => readAddress(text) ?? WRONG,
};

const ADDRESS_OR_OFF: ValueType<Address | undefined> = {
  placeholder: 'HOST:PORT',
  allowed: `${ADDRESS.allowed}, or off`,
  read: (text) => (text === 'off' ? undefined : ADDRESS.read(text)),
};

const TLS_VERSION: ValueType<'1.2' | '1.3'> = {
  placeholder: 'VERSION',
  allowed: '1.2 and 1.3',
  read: (text) => (text === '1.2' || text === '1.3' ? text : WRONG),
};

const IP_LIST: ValueType<readonly string[]> = {
  placeholder: 'IP,...',
  allowed: 'IPv4 and IPv6 addresses with commas between them',
  isList: true,
  read: (text) => {
    const parts = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
    const addresses = parts.flatMap((part) => readIp(part) ?? []);
    return addresses.length === parts.length ? addresses : WRONG;
  },
};

function wholeNumber(least: number, most: number): ValueType<number> {
  return {
    placeholder: 'N',
    allowed: `whole numbers from ${least} to ${most}`,
    read: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : WRONG;
    },
  };
}

function decimalNumber(least: number, most: number): ValueType<number> {
  return {
    placeholder: 'N',
    allowed: `numbers from ${least} to ${most}`,
    read: (text) => {
      const value = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : WRONG;
    },
  };
}

function numberOrNone(least: number, most: number, word = 'none'): ValueType<number | undefined> {
  const number = wholeNumber(least, most);
  return {
    placeholder: 'N',
    allowed: `${number.allowed}, or ${word}`,
    read: (text) => (text === word ? undefined : number.read(text)),
  };
}

const TRUE_OR_FALSE: ValueType<boolean> = {
  placeholder: 'true|false',
  allowed: 'true, false',
  read: (text) => (text === 'true' || text === 'false' ? text === 'true' : WRONG),
};

const LEVEL: ValueType<LogLevel> = {
  placeholder: 'LEVEL',
  allowed: LOG_LEVELS.join(', '),
  read: (text) => LOG_LEVELS.find((level) => level === text) ?? WRONG,
};

function setting<Value>(
  group: string,
  type: ValueType<Value>,
  initial: string,
  help: string,
): Setting<Value> {
  return { group, type, initial, help };
}

/** All settings there are. Flags, variables, TOML keys, `--help` and `--print-config` are made from this table. */
const SETTINGS = {
  data: setting('Storage', PATH, './data', 'folder of all that is kept'),
  retentionDays: setting(
    'Storage',
    numberOrNone(1, 100_000),
    'none',
    'days that events are kept, by their date',
  ),
  retentionGb: setting(
    'Storage',
    numberOrNone(1, 1_000_000),
    'none',
    'gigabytes (10^9) of closed files that stay; the oldest go first',
  ),
  retentionFreeGb: setting(
    'Storage',
    numberOrNone(1, 1_000_000),
    'none',
    'free gigabytes (10^9) below which the oldest events go',
  ),
  diskReserveMb: setting(
    'Storage',
    numberOrNone(0, 1_000_000_000, 'auto'),
    'auto',
    'free megabytes (10^6) that are left; auto: 1000 or 5 %',
  ),
  sealIdleMinutes: setting(
    'Storage',
    decimalNumber(0, 1_440),
    '10',
    'minutes after which events that wait for others are sealed',
  ),
  sealRows: setting(
    'Storage',
    wholeNumber(100, 4_000_000),
    '1000000',
    'events of a sealed segment, about',
  ),
  http: setting('Listeners', ADDRESS, '0.0.0.0:8080', 'input, output and admin API over HTTP'),
  https: setting('Listeners', ADDRESS_OR_OFF, '0.0.0.0:8443', 'the same over HTTPS, or off'),
  httpInput: setting('Listeners', ADDRESS_OR_OFF, 'off', 'input over HTTP and nothing else'),
  httpsInput: setting('Listeners', ADDRESS_OR_OFF, 'off', 'input over HTTPS and nothing else'),
  tcp: setting('Listeners', ADDRESS_OR_OFF, '0.0.0.0:10514', 'input of lines over TCP, or off'),
  tls: setting('Listeners', ADDRESS_OR_OFF, '0.0.0.0:10515', 'input of lines over TLS, or off'),
  udp: setting('Listeners', ADDRESS_OR_OFF, '0.0.0.0:514', 'input of lines over UDP, or off'),
  tlsCert: setting('Listeners', OPTIONAL_PATH, '', 'PEM file with the certificate and its chain'),
  tlsKey: setting('Listeners', OPTIONAL_PATH, '', 'PEM file with the key of the certificate'),
  tlsVersionMax: setting(
    'Listeners',
    TLS_VERSION,
    '1.2',
    'newest TLS for lines; with 1.3 some senders lose their last ones',
  ),
  trustedProxies: setting('Listeners', IP_LIST, '', 'peers whose X-Forwarded-For is believed'),
  bodyMbMax: setting(
    'Limits',
    wholeNumber(1, BODY_MB_MAX),
    '64',
    'megabytes (2^20) of a request body',
  ),
  planLimitMb: setting(
    'Limits',
    numberOrNone(1, 100_000_000),
    'none',
    'megabytes (10^6) a day that quotas in percent are of',
  ),
  namesPerKeyDay: setting(
    'Limits',
    wholeNumber(1, 1_000_000),
    String(NAMES_PER_KEY_DAY),
    'names of attributes that a write key may bring a day',
  ),
  queriesMax: setting(
    'Limits',
    wholeNumber(1, 100_000),
    '32',
    'queries of all read keys that run at once; more wait',
  ),
  queriesPerKey: setting(
    'Limits',
    wholeNumber(1, 1_000),
    '8',
    'queries of a read key that run at once; more wait, up to 64',
  ),
  boundEvents: setting(
    'Limits',
    wholeNumber(1, 1_000_000_000_000),
    '50000000',
    'newest events that a query of more than 24 hours reaches',
  ),
  queryMemoryMb: setting(
    'Limits',
    wholeNumber(16, 65_536),
    '256',
    'megabytes (2^20) of memory that a query may take',
  ),
  queriesMemoryMb: setting(
    'Limits',
    wholeNumber(16, 1_048_576),
    '384',
    'megabytes (2^20) of all queries, answers not yet read included',
  ),
  queryCacheMb: setting(
    'Limits',
    wholeNumber(0, 4_096),
    '16',
    'megabytes (2^20) in which a query worker keeps what searches found',
  ),
  querySeconds: setting('Limits', wholeNumber(1, 86_400), '60', 'seconds that a query may take'),
  ingestWorkers: setting(
    'Threads',
    numberOrNone(1, 64, 'auto'),
    'auto',
    'threads that take events in; auto: half of the cores',
  ),
  queryWorkers: setting(
    'Threads',
    numberOrNone(1, 64, 'auto'),
    'auto',
    'threads that answer queries; auto: half of the cores, at least 2',
  ),
  sealWorkers: setting(
    'Threads',
    numberOrNone(1, 64, 'auto'),
    'auto',
    'threads that seal, at most; auto: as ingest, one a GB of memory',
  ),
  metricsOpen: setting('General', TRUE_OR_FALSE, 'false', 'whether /metrics needs no key'),
  config: setting('General', OPTIONAL_PATH, '', 'TOML file with settings'),
  logLevel: setting('General', LEVEL, 'info', `what is told on stderr: ${LEVEL.allowed}`),
};

type Table = typeof SETTINGS;
type Name = keyof Table;

/**
 * The settings in force. `data` and `config` are paths as they were given, `trustedProxies` in the spelling of `readIp`,
 * Listeners are undefined when they are off, certificate and key when there is no own one, `planLimitMb` and retention when there is none, `diskReserveMb` when it is auto.
 * `ingestWorkers`, `queryWorkers` and `sealWorkers` are undefined when they are auto.
 */
export type Config = {
  readonly [Key in Name]: Table[Key] extends Setting<infer Value> ? Value : never;
} & {
  /** The listeners that are bound to a write key; only the file can tell them. */
  readonly listeners: readonly BoundListener[];
};

/** A configuration and where each of its values came from. */
export interface LoadedConfig {
  config: Config;
  /** Settings by TOML key. A source is `--http`, `LOGSEAM_HTTP`, the file's path, or `default`. */
  sources: ReadonlyMap<string, { text: string; source: string }>;
}

const NAMES = Object.keys(SETTINGS) as Name[];
const VARIABLE_PREFIX = 'LOGSEAM_';
/** A variable that Kubernetes sets for services whose names begin with `logseam`. A user's own port is a number. */
const SERVICE_LINK =
  /^LOGSEAM_(\w+_)?(SERVICE_HOST=|SERVICE_PORT(_\w+)?=|PORT_\d+_\w+=|PORT=\w+:\/\/)/;
const VALUE_SHOWN_MAX = 100;

function keyOf(name: Name): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function flagOf(name: Name): string {
  return keyOf(name).replaceAll('_', '-');
}

function variableOf(name: Name): string {
  return VARIABLE_PREFIX + keyOf(name).toUpperCase();
}

/** The names of the flags of settings, without their dashes. */
export const SETTING_FLAGS: readonly string[] = NAMES.map(flagOf);

function failure(message: string): EngineError {
  return new EngineError('USAGE', message);
}

/** The message about a name that is not known: `what` it is, and the known one that was probably meant. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const close = nearest(name, known);
  return `${what} ${name} is unknown${close === undefined ? '' : `; did you mean ${close}?`}`;
}

interface Given {
  text: string | typeof WRONG;
  shown: string;
  source: string;
}

function fromFlags(flags: ReadonlyMap<string, string>): Map<Name, Given> {
  const given = new Map<Name, Given>();
  for (const [flag, text] of flags) {
    const name = NAMES.find((each) => flagOf(each) === flag);
    if (name === undefined) throw failure(unknownName('flag', `--${flag}`, dashed(SETTING_FLAGS)));
    given.set(name, { text, shown: text, source: `--${flag}` });
  }
  return given;
}

/** The flags with their two dashes. */
export function dashed(flags: readonly string[]): string[] {
  return flags.map((flag) => `--${flag}`);
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Map<Name, Given> {
  const given = new Map<Name, Given>();
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(VARIABLE_PREFIX) || text === undefined) continue;
    const name = NAMES.find((each) => variableOf(each) === variable);
    if (name === undefined && SERVICE_LINK.test(`${variable}=${text}`)) continue;
    if (name === undefined) {
      throw failure(unknownName('environment variable', variable, NAMES.map(variableOf)));
    }
    given.set(name, { text, shown: text, source: variable });
  }
  return given;
}

/** Settings of a file. */
interface FileSettings {
  given: Map<Name, Given>;
  listeners: BoundListener[];
}

function fromFile(path: string): FileSettings {
  const toml = readTextAt(path);
  if (toml === undefined) throw failure(`config file ${path} does not exist`);
  const given = new Map<Name, Given>();
  let listeners: BoundListener[] = [];
  const names = NAMES.filter((name) => name !== 'config');
  const known = [...names.map(keyOf), LISTENER_KEY];
  for (const [key, value] of Object.entries(parseToml(path, toml))) {
    if (key === LISTENER_KEY) {
      listeners = readBoundListeners(path, value);
      continue;
    }
    const name = names.find((each) => keyOf(each) === key);
    if (name === undefined) throw failure(unknownName(`${path}: key`, key, known));
    const text = textOfToml(value, SETTINGS[name].type.isList === true);
    given.set(name, { text, shown: JSON.stringify(value) ?? String(value), source: path });
  }
  return { given, listeners };
}

function parseToml(path: string, toml: string): object {
  try {
    return parse(toml);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const reason = cause.message.split('\n', 1)[0];
    throw failure(`${path}, line ${cause.line}, column ${cause.column}: ${reason}`);
  }
}

function textOfToml(value: unknown, isList: boolean): string | typeof WRONG {
  if (isList) {
    const strings = Array.isArray(value) && value.every((part) => typeof part === 'string');
    return strings ? value.join(',') : WRONG;
  }
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : WRONG;
}

/**
 * Reads the settings: flags (names without dashes) over variables over the file over defaults.
 * Throws USAGE naming an unknown name and its nearest, or a wrong value, where it came from and what is allowed.
 */
export function loadConfig(
  flags: ReadonlyMap<string, string>,
  environment: NodeJS.ProcessEnv = process.env,
): LoadedConfig {
  const given = new Map([...fromEnvironment(environment), ...fromFlags(flags)]);
  const path = given.get('config')?.shown ?? '';
  const file = path === '' ? undefined : fromFile(path);
  const all = new Map([...(file?.given ?? []), ...given]);
  const config = new Map<Name, unknown>();
  const sources = new Map<string, { text: string; source: string }>();
  for (const name of NAMES) {
    const { type, initial } = SETTINGS[name];
    const { text, shown, source } = all.get(name) ?? {
      text: initial,
      shown: initial,
      source: 'default',
    };
    const value = text === WRONG ? WRONG : type.read(text);
    if (value === WRONG || text === WRONG) {
      const cut = shown.length > VALUE_SHOWN_MAX ? `${shown.slice(0, VALUE_SHOWN_MAX)}...` : shown;
      const key = keyOf(name);
      throw failure(
        `${key} (from ${source}) is ${JSON.stringify(cut)}; allowed are ${type.allowed}`,
      );
    }
    config.set(name, value);
    sources.set(keyOf(name), { text, source });
  }
  const listeners = file?.listeners ?? [];
  const settings = Object.fromEntries(config) as Omit<Config, 'listeners'>;
  return { config: { ...settings, listeners }, sources };
}

/** The TOML keys of the settings in which two configurations differ. */
export function changedSettings(before: Config, after: Config): string[] {
  const differs = (name: keyof Config): boolean =>
    JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  const changed = NAMES.filter(differs).map(keyOf);
  return differs('listeners') ? [...changed, LISTENER_KEY] : changed;
}

/** The settings in force as TOML that `--config` takes, each with its help and where it came from. */
export function printConfig({ config, sources }: LoadedConfig): string {
  const lines: string[] = [];
  for (const name of NAMES) {
    const { type, help } = SETTINGS[name];
    const key = keyOf(name);
    const { text, source } = sources.get(key) ?? { text: '', source: 'default' };
    const value = config[name];
    const isText = type.isList !== true && !['number', 'boolean'].includes(typeof value);
    const printed = isText ? text : value;
    const from = source === 'default' ? 'the default' : `from ${source}`;
    const hidden = name === 'config' ? '# ' : '';
    lines.push(`# ${help}; ${from}`, hidden + stringify({ [key]: printed }).trimEnd(), '');
  }
  if (config.listeners.length > 0) {
    lines.push(stringify({ [LISTENER_KEY]: writeBoundListeners(config.listeners) }));
  }
  return lines.join('\n');
}

/** The part of `--help` that tells the settings, in groups. `bold` makes headings stand out. */
export function settingsHelp(bold: (text: string) => string): string {
  const rows = NAMES.map((name) => {
    const { group, type, initial, help } = SETTINGS[name];
    const left = `  --${flagOf(name)} ${type.placeholder}`;
    return { group, left, right: initial === '' ? help : `${help} [${initial}]` };
  });
  const width = Math.max(...rows.map((row) => row.left.length)) + 2;
  const groups = new Map<string, string[]>();
  for (const { group, left, right } of rows) {
    groups.set(group, [...(groups.get(group) ?? []), left.padEnd(width) + right]);
  }
  return [...groups].map(([group, lines]) => [bold(group), ...lines, ''].join('\n')).join('\n');
}

/** The watchdog interval that systemd expects; `undefined` when it did not start the service. Source: sd_notify(3). */
export function supervision(environment = process.env): { watchdogMs: number } | undefined {
  if (environment['NOTIFY_SOCKET'] === undefined) return undefined;
  return { watchdogMs: Number(environment['WATCHDOG_USEC'] ?? 0) / 1_000 };
}

/** Reports whether texts for that stream may have colours: it is a terminal and NO_COLOR is not set (no-color.org). */
export function wantsColor(
  stream: { isTTY?: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): boolean {
  return stream.isTTY === true && (environment['NO_COLOR'] ?? '') === '';
}

/** The version of this checkout, from its package.json. */
export function version(): string {
  const text = readTextAt(fileURLToPath(new URL('../package.json', import.meta.url)));
  return String(JSON.parse(text ?? '{}').version);
}
