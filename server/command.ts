import { parseArgs } from 'node:util';
import { EngineError } from '../engine/base/errors.ts';
import { nearest } from '../engine/base/nearest.ts';
import { AdminClient, AdminFailure, type Holder, type ListedKey } from './api/admin/client.ts';
import {
  type Config,
  dashed,
  loadConfig,
  printConfig,
  SETTING_FLAGS,
  settingsHelp,
  unknownName,
  version,
  wantsColor,
} from './config.ts';
import { type KeyKind, MEGABYTE_BYTES, type Quota } from './registry/key-record.ts';

/** Dependencies of the command line. */
export interface CommandWorld {
  /**
   * Runs the service until it is stopped; the exit code. `reload` reads the settings again; it throws as at the start.
   */
  serve(config: Config, reload: () => Config): Promise<number>;
  /** Verifies the store in a data folder; whether all of it is as it was written. */
  check(root: string): Promise<boolean>;
  /** Backs up the store in a data folder into another folder; `ask` reaches the service that has it. */
  backup(root: string, target: string, holder: Holder): Promise<void>;
  /** Copies a backup into a new data folder. */
  restore(source: string, root: string): Promise<void>;
  /** Makes the manifest in a data folder anew when it cannot be read. */
  repair(root: string): Promise<void>;
  /** Resolves with whether all segments could be written anew. */
  upgrade(root: string): Promise<boolean>;
  /** The greeting line of the service that holds a data folder: JSON `{pid, http}`; `undefined` when none does. */
  askHolder(root: string): Promise<string | undefined>;
  /** Writes to the standard output, `complain` to the standard error output. Texts end in a line end. */
  print(text: string): void;
  complain(text: string): void;
}

/** All went well. */
export const EXIT_OK = 0;

/** Exit status of a command that was understood and failed. */
export const EXIT_FAILED = 1;

/** The command line or the configuration is wrong. */
export const EXIT_USAGE = 2;

/** A command as it was typed: its words, flags with a value, switches. */
interface Invocation {
  words: string[];
  values: Map<string, string>;
  switches: Set<string>;
}

/** The service could not run; not a fault of the command line. */
class ServeFailure extends Error {}

const COMMANDS: readonly string[] = [
  'serve',
  'key',
  'check',
  'backup',
  'restore',
  'repair',
  'upgrade',
  'help',
];
const KEY_ACTIONS: readonly string[] = ['create', 'list', 'disable', 'enable', 'delete'];
const GENERAL_SWITCHES: readonly string[] = ['help', 'version'];
const SERVE_SWITCHES: readonly string[] = ['print-config'];
const KEY_SWITCHES: readonly string[] = ['write', 'read'];
const KEY_VALUES: readonly string[] = ['name', 'filter', 'quota-mb', 'quota-percent'];

const KILOBYTE_BYTES = 1_000;

const USAGE = `logseam [serve] [settings]
      run the service
  logseam key create --write --name NAME [--quota-mb N | --quota-percent N]
  logseam key create --read --name NAME [--filter QUERY]
      make a key in the running service; prints the key, this once
  logseam key list [--write | --read]
  logseam key disable | enable NAME
      switch a write key off or on, at once
  logseam key delete [--write | --read] NAME
      delete a key for ever; all these find the running service by --data
  logseam check
      verify all that is kept below --data, while no service runs there; the exit code is 1 when there is damage
  logseam backup FOLDER
      copy all that is kept below --data as it is now, while the service runs or not; what an earlier backup in FOLDER
      has is not copied again. FOLDER is a data folder: check takes it, and serve
  logseam restore FOLDER
      copy a backup into --data, which must be a new folder
  logseam repair
      make the manifest below --data anew when it is lost or damaged, from the files of the segments
  logseam upgrade
      write what an earlier version of logseam sealed below --data anew, as this one does, while no service runs there;
      stop it when you like, and go on later
  logseam serve --print-config
      print the settings in force as TOML
  logseam --help | --version`;

/** Runs a command line (without the name of the program); the exit code. */
export async function runCommand(
  args: readonly string[],
  world: CommandWorld,
  environment?: NodeJS.ProcessEnv,
): Promise<number> {
  try {
    return await dispatch(readInvocation(args), world, environment);
  } catch (error) {
    if (error instanceof AdminFailure || error instanceof ServeFailure) {
      world.complain(`logseam: ${error.message}\n`);
      return EXIT_FAILED;
    }
    if (!(error instanceof EngineError)) throw error;
    const isUsage = error.code === 'USAGE';
    world.complain(`logseam: ${error.message}\n`);
    if (isUsage) world.complain('logseam --help tells what there is\n');
    return isUsage ? EXIT_USAGE : EXIT_FAILED;
  }
}

async function dispatch(
  invocation: Invocation,
  world: CommandWorld,
  environment: NodeJS.ProcessEnv | undefined,
): Promise<number> {
  const { words, switches } = invocation;
  const command = words[0] ?? 'serve';
  if (!COMMANDS.includes(command)) throw usage(unknownName('command', command, COMMANDS));
  if (switches.has('help') || command === 'help') {
    world.print(helpText(wantsColor(process.stdout, environment)));
    return EXIT_OK;
  }
  if (switches.has('version')) {
    world.print(`logseam ${version()}\n`);
    return EXIT_OK;
  }
  if (command === 'key') return await keyCommand(invocation, world, environment);
  if (command === 'check') return await checkCommand(invocation, world, environment);
  if (['backup', 'restore', 'repair', 'upgrade'].includes(command)) {
    return await copyCommand(command, invocation, world, environment);
  }
  if (words.length > 1) throw usage(`serve takes flags only, not ${words[1]}`);
  allowFlags(invocation, SETTING_FLAGS, SERVE_SWITCHES);
  const loaded = loadConfig(invocation.values, environment);
  if (switches.has('print-config')) {
    world.print(printConfig(loaded));
    return EXIT_OK;
  }
  return await serve(world, loaded.config, () => loadConfig(invocation.values, environment).config);
}

async function checkCommand(
  invocation: Invocation,
  world: CommandWorld,
  environment: NodeJS.ProcessEnv | undefined,
): Promise<number> {
  const { words, values } = invocation;
  if (words.length > 1) throw usage(`check takes flags only, not ${words[1]}`);
  allowFlags(invocation, ['data', 'config'], []);
  try {
    return (await world.check(loadConfig(values, environment).config.data)) ? EXIT_OK : EXIT_FAILED;
  } catch (error) {
    if (error instanceof EngineError) throw new ServeFailure(error.message, { cause: error });
    throw error;
  }
}

/** Runs `backup`, `restore`, `repair` or `upgrade`. */
async function copyCommand(
  command: string,
  { words, values }: Invocation,
  world: CommandWorld,
  environment: NodeJS.ProcessEnv | undefined,
): Promise<number> {
  const wanted = ['repair', 'upgrade'].includes(command) ? 1 : 2;
  const [, folder = ''] = words;
  if (words.length > wanted) throw usage(`${command} has no use for ${words[wanted]}`);
  if (words.length < wanted) throw usage(`${command} needs a folder: logseam ${command} FOLDER`);
  allowFlags({ values, words, switches: new Set() }, ['data', 'config'], []);
  const { data } = loadConfig(values, environment).config;
  try {
    if (command === 'upgrade') return (await world.upgrade(data)) ? EXIT_OK : EXIT_FAILED;
    if (command === 'repair') await world.repair(data);
    else if (command === 'restore') await world.restore(folder, data);
    else {
      const client = new AdminClient(world.askHolder, data);
      const isRunning = async (): Promise<boolean> => (await world.askHolder(data)) !== undefined;
      const ask: Holder['ask'] = (...request) => client.ask(...request);
      await world.backup(data, folder, { isRunning, ask });
    }
    return EXIT_OK;
  } catch (error) {
    if (error instanceof EngineError) throw new ServeFailure(error.message, { cause: error });
    throw error;
  }
}

async function serve(world: CommandWorld, config: Config, reload: () => Config): Promise<number> {
  try {
    return await world.serve(config, reload);
  } catch (error) {
    if (error instanceof EngineError) throw new ServeFailure(error.message, { cause: error });
    throw error;
  }
}

function helpText(hasColor: boolean): string {
  const bold = (text: string): string => (hasColor ? `\u001b[1m${text}\u001b[0m` : text);
  return `${bold('Logseam')} keeps logs and answers questions about them.

${bold('Usage')}
  ${USAGE}

Settings are flags; without its flag one is read from its variable (LOGSEAM_HTTP for --http), then from the file of
--config (http = "..."), else it has its default [in brackets].

${settingsHelp(bold)}`;
}

function usage(message: string): EngineError {
  return new EngineError('USAGE', message);
}

/** Splits the arguments. Throws USAGE on unknown flags and on missing or needless values. */
function readInvocation(args: readonly string[]): Invocation {
  const valued = [...SETTING_FLAGS, ...KEY_VALUES];
  const bare = [...GENERAL_SWITCHES, ...SERVE_SWITCHES, ...KEY_SWITCHES];
  const options = new Map<string, { type: 'string' | 'boolean'; short?: string }>();
  for (const name of valued) options.set(name, { type: 'string' });
  for (const name of bare) options.set(name, { type: 'boolean' });
  options.set('help', { type: 'boolean', short: 'h' });
  const { tokens, positionals } = parseArgs({
    args: [...args],
    options: Object.fromEntries(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string>();
  const switches = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    if (bare.includes(name)) {
      if (value !== undefined) throw usage(`flag ${rawName} takes no value`);
      switches.add(name);
    } else if (valued.includes(name)) {
      if (value === undefined) throw usage(`flag ${rawName} needs a value`);
      values.set(name, value);
    } else {
      throw usage(unknownName('flag', rawName, dashed([...valued, ...bare])));
    }
  }
  return { words: positionals, values, switches };
}

/** Throws USAGE when a flag was given that this command does not have. */
function allowFlags(
  { words, values, switches }: Invocation,
  valued: readonly string[],
  bare: readonly string[],
): void {
  const known = [...valued, ...bare];
  const command = words.slice(0, 2).join(' ') || 'serve';
  for (const flag of [...values.keys(), ...switches]) {
    if (!known.includes(flag)) throw usage(`flag --${flag} does not go with ${command}`);
  }
}

async function keyCommand(
  invocation: Invocation,
  world: CommandWorld,
  environment: NodeJS.ProcessEnv | undefined,
): Promise<number> {
  const { words, values } = invocation;
  const action = words[1];
  if (action === undefined) throw usage(`key needs an action: ${KEY_ACTIONS.join(', ')}`);
  if (!KEY_ACTIONS.includes(action)) throw usage(unknownName('key action', action, KEY_ACTIONS));
  const isCreate = action === 'create';
  const hasKind = isCreate || action === 'list' || action === 'delete';
  allowFlags(
    invocation,
    ['data', 'config', ...(isCreate ? KEY_VALUES : [])],
    hasKind ? KEY_SWITCHES : [],
  );
  const wordCount = isCreate || action === 'list' ? 2 : 3;
  if (words.length < wordCount) throw usage(`key ${action} needs the name of a key`);
  if (words.length > wordCount) throw usage(`key ${action} does not take ${words[wordCount]}`);
  const settings = new Map([...values].filter(([flag]) => SETTING_FLAGS.includes(flag)));
  const admin = new AdminClient(world.askHolder, loadConfig(settings, environment).config.data);
  if (isCreate) return await createKey(invocation, admin, world);
  if (action === 'list') return await listKeys(invocation, admin, world);
  if (action === 'delete') {
    const key = await findKey(admin, kindsOf(invocation), words[2]);
    await admin.ask('DELETE', `${key.kind}_keys/${key.id}`);
    world.print(`${key.kind} key ${key.name} is deleted\n`);
    return EXIT_OK;
  }
  const key = await findKey(admin, ['write'], words[2]);
  await admin.ask('PATCH', `write_keys/${key.id}`, { enabled: action === 'enable' });
  world.print(`write key ${key.name} is ${action}d\n`);
  return EXIT_OK;
}

function kindsOf({ switches }: Invocation): KeyKind[] {
  const kinds: KeyKind[] = [];
  if (switches.has('write')) kinds.push('write');
  if (switches.has('read')) kinds.push('read');
  return kinds.length === 0 ? ['write', 'read'] : kinds;
}

async function createKey(
  invocation: Invocation,
  admin: AdminClient,
  world: CommandWorld,
): Promise<number> {
  const { values } = invocation;
  const [kind, other] = kindsOf(invocation);
  if (other !== undefined) throw usage('key create needs one of --write and --read');
  const name = values.get('name');
  if (name === undefined) throw usage('key create needs --name');
  const body = new Map<string, unknown>([['name', name]]);
  const filter = values.get('filter');
  const quota = quotaOf(values);
  if (filter !== undefined) body.set('security_filter', filter);
  if (quota !== undefined) body.set('daily_quota', quota);
  if (filter !== undefined && kind === 'write') throw usage('--filter goes with --read only');
  if (quota !== undefined && kind === 'read') throw usage('quotas go with --write only');
  const { key } = (await admin.ask('POST', `${kind}_keys`, Object.fromEntries(body))) as {
    key: string;
  };
  world.print(`${key}\n`);
  return EXIT_OK;
}

function quotaOf(values: ReadonlyMap<string, string>): Quota | undefined {
  const megabytes = values.get('quota-mb');
  const percentage = values.get('quota-percent');
  if (megabytes !== undefined && percentage !== undefined) {
    throw usage('only one of --quota-mb and --quota-percent can be given');
  }
  const text = megabytes ?? percentage;
  if (text === undefined) return undefined;
  const flag = megabytes === undefined ? '--quota-percent' : '--quota-mb';
  if (!/^\d+(\.\d+)?$/.test(text)) {
    throw usage(`${flag} is ${JSON.stringify(text)}; allowed are numbers above 0`);
  }
  return { type: megabytes === undefined ? 'percentage' : 'megabytes', value: Number(text) };
}

async function listKeys(
  invocation: Invocation,
  admin: AdminClient,
  world: CommandWorld,
): Promise<number> {
  const keys = await admin.list(kindsOf(invocation));
  const rows = [['NAME', 'KIND', 'STATE', 'TODAY', 'LIMIT', 'ID'], ...keys.map(rowOf)];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows) {
    world.print(
      `${row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
  return EXIT_OK;
}

function rowOf(key: ListedKey): string[] {
  if (key.kind === 'read') {
    return [key.name, key.kind, 'enabled', '-', key.security_filter ?? '-', key.id];
  }
  const state = key.enabled === true ? 'enabled' : 'disabled';
  const today = bytesText(key.daily_usage ?? 0);
  const unit = key.daily_quota?.type === 'percentage' ? '%' : 'MB a day';
  const limit = key.daily_quota ? `${key.daily_quota.value} ${unit}` : '-';
  return [key.name, key.kind, key.quota_reached ? 'quota spent' : state, today, limit, key.id];
}

function bytesText(bytes: number): string {
  if (bytes < KILOBYTE_BYTES) return `${bytes} B`;
  if (bytes < MEGABYTE_BYTES) return `${(bytes / KILOBYTE_BYTES).toFixed(1)} kB`;
  return `${(bytes / MEGABYTE_BYTES).toFixed(1)} MB`;
}

async function findKey(
  admin: AdminClient,
  kinds: readonly KeyKind[],
  name: string,
): Promise<ListedKey> {
  const keys = await admin.list(kinds);
  const found = keys.filter((key) => key.id === name || key.name === name);
  if (found.length > 1) {
    throw usage(`there is a write key and a read key ${name}; say --write or --read`);
  }
  if (found.length === 1) return found[0];
  const close = nearest(
    name,
    keys.map((key) => key.name),
  );
  const hint = close === undefined ? '' : `; did you mean ${close}?`;
  throw new AdminFailure(`there is no ${kinds.join(' or ')} key ${name}${hint}`);
}
