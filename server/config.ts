import { fileURLToPath } from 'node:url';
import { parse, stringify, TomlError } from 'smol-toml';
import { EngineError } from '../engine/base/errors.ts';
import { nearest } from '../engine/base/nearest.ts';
import { readTextAt } from '../engine/base/text-file.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';

/** Where a listener listens. Port 0 is any free one. An IPv6 host is without brackets here. */
export interface Address {
  host: string;
  port: number;
}

/** What a value that a setting does not take is read as. */
const WRONG = Symbol('wrong value');

/** How the text of a setting is read. `allowed` ends the sentence "allowed are". */
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

function numberOrNone(least: number, most: number): ValueType<number | undefined> {
  const number = wholeNumber(least, most);
  return {
    placeholder: 'N',
    allowed: `${number.allowed}, or none`,
    read: (text) => (text === 'none' ? undefined : number.read(text)),
  };
}

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
  http: setting('Listeners', ADDRESS, '0.0.0.0:8080', 'input, output and admin API over HTTP'),
  tcp: setting('Listeners', ADDRESS_OR_OFF, '0.0.0.0:10514', 'input of lines over TCP, or off'),
  trustedProxies: setting('Listeners', IP_LIST, '', 'peers whose X-Forwarded-For is believed'),
  bodyMbMax: setting('Limits', wholeNumber(1, 1_024), '64', 'megabytes (2^20) of a request body'),
  planLimitMb: setting(
    'Limits',
    numberOrNone(1, 100_000_000),
    'none',
    'megabytes (10^6) a day that quotas in percent are of',
  ),
  ingestWorkers: setting('Threads', wholeNumber(1, 64), '1', 'threads that take events in'),
  queryWorkers: setting('Threads', wholeNumber(1, 64), '1', 'threads that answer queries'),
  config: setting('General', OPTIONAL_PATH, '', 'TOML file with settings'),
  logLevel: setting('General', LEVEL, 'info', `what is told on stderr: ${LEVEL.allowed}`),
};

type Table = typeof SETTINGS;
type Name = keyof Table;

/**
 * The settings in force. `data` and `config` are paths as they were given, `trustedProxies` in the spelling of `readIp`,
 * `tcp` is undefined when it is off, `planLimitMb` when there is none.
 */
export type Config = {
  readonly [Key in Name]: Table[Key] extends Setting<infer Value> ? Value : never;
};

/** A configuration and where each of its values came from. */
export interface LoadedConfig {
  config: Config;
  /** By TOML key: the text and `--http`, `LOGSEAM_HTTP`, the file's path, or `default`. */
  sources: ReadonlyMap<string, { text: string; source: string }>;
}

const NAMES = Object.keys(SETTINGS) as Name[];
const VARIABLE_PREFIX = 'LOGSEAM_';
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
    if (name === undefined) {
      throw failure(unknownName('environment variable', variable, NAMES.map(variableOf)));
    }
    given.set(name, { text, shown: text, source: variable });
  }
  return given;
}

function fromFile(path: string): Map<Name, Given> {
  const toml = readTextAt(path);
  if (toml === undefined) throw failure(`config file ${path} does not exist`);
  const given = new Map<Name, Given>();
  const names = NAMES.filter((name) => name !== 'config');
  for (const [key, value] of Object.entries(parseToml(path, toml))) {
    const name = names.find((each) => keyOf(each) === key);
    if (name === undefined) throw failure(unknownName(`${path}: key`, key, names.map(keyOf)));
    const text = textOfToml(value, SETTINGS[name].type.isList === true);
    given.set(name, { text, shown: JSON.stringify(value) ?? String(value), source: path });
  }
  return given;
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
  return typeof value === 'string' || typeof value === 'number' ? String(value) : WRONG;
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
  const all = path === '' ? given : new Map([...fromFile(path), ...given]);
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
  return { config: Object.fromEntries(config) as Config, sources };
}

/** The settings in force as TOML that `--config` takes, each with its help and where it came from. */
export function printConfig({ config, sources }: LoadedConfig): string {
  const lines: string[] = [];
  for (const name of NAMES) {
    const { type, help } = SETTINGS[name];
    const key = keyOf(name);
    const { text, source } = sources.get(key) ?? { text: '', source: 'default' };
    const value = config[name];
    const printed = type.isList === true || typeof value === 'number' ? value : text;
    const from = source === 'default' ? 'the default' : `from ${source}`;
    const hidden = name === 'config' ? '# ' : '';
    lines.push(`# ${help}; ${from}`, hidden + stringify({ [key]: printed }).trimEnd(), '');
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

/** Whether texts for that stream may have colours: it is a terminal and NO_COLOR is not set (no-color.org). */
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
