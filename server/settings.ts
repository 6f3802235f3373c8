import { NAMES_PER_KEY_DAY } from '../engine/base/limits.ts';
import { type Address, readAddress, readIp } from './address.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';

/** Larger bodies would not fit into the memory of an ingest worker while they arrive. */
const BODY_MB_MAX = 100;

/** Stands for a value that a setting does not take. */
export const WRONG = Symbol('wrong value');

/** Reader of the text of a setting. `allowed` ends the sentence "allowed are". */
export interface ValueType<Value> {
  placeholder: string;
  allowed: string;
  isList?: boolean;
  read(text: string): Value | typeof WRONG;
}

/** A setting: from its name come flag, variable and TOML key; `initial` is the text of its default. */
export interface Setting<Value> {
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

const HEADER_OR_OFF: ValueType<string | undefined> = {
  placeholder: 'NAME',
  allowed: 'names of headers of letters, digits and -, or off',
  read: (text) => {
    if (text === 'off') return undefined;
    return /^[a-z][a-z\d-]{0,63}$/i.test(text) ? text.toLowerCase() : WRONG;
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
export const SETTINGS = {
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
  proxyUserHeader: setting(
    'Listeners',
    HEADER_OR_OFF,
    'off',
    'header in which trusted_proxies name the user who asks, or off',
  ),
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
