import { fileURLToPath } from 'node:url';
import { parse, stringify, TomlError } from 'smol-toml';
import { EngineError } from '../engine/base/errors.ts';
import { nearest } from '../engine/base/nearest.ts';
import { readTextAt } from '../engine/base/text-file.ts';
import {
  type BoundListener,
  LISTENER_KEY,
  readBoundListeners,
  writeBoundListeners,
} from './bound-listener.ts';
import { SETTINGS, type Setting, WRONG } from './settings.ts';

type Table = typeof SETTINGS;
type Name = keyof Table;

/**
 * The settings in force. `data` and `config` are paths as they were given, `trustedProxies` in the spelling of
 * `readIp`, `proxyUserHeader` in lower case. `undefined` stands for a listener or a header that is off, a certificate
 * or key that is not given, a plan limit or retention that is none, and for `diskReserveMb` and numbers of workers that
 * are auto.
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
  /**
   * Text and source of each setting by its TOML key. The source is `--http`, `LOGSEAM_HTTP`, the file's path, or
   * `default`.
   */
  sources: ReadonlyMap<string, { text: string; source: string }>;
}

const NAMES = Object.keys(SETTINGS) as Name[];
const VARIABLE_PREFIX = 'LOGSEAM_';
/**
 * A variable that Kubernetes sets in its containers for services whose names begin with `logseam`. A user's own port
 * is a number.
 */
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

/** The variable with the password of the user that a first start makes. It is no setting: none is printed or kept. */
const ADMIN_PASSWORD = 'LOGSEAM_ADMIN_PASSWORD';

/** The password of the environment for the user `admin`, who is made when there is no user; `undefined` without one. */
export function adminPassword(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return environment[ADMIN_PASSWORD];
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Map<Name, Given> {
  const given = new Map<Name, Given>();
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(VARIABLE_PREFIX) || text === undefined) continue;
    if (variable === ADMIN_PASSWORD) continue;
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

/**
 * The watchdog interval that systemd expects of a service it started; `undefined` without systemd. Source:
 * sd_notify(3).
 */
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
