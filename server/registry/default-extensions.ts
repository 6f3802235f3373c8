import type { ExtensionDefinition, ExtensionKind, PlainExtensionKind } from './definition.ts';
import {
  APACHE_ERROR_HELPERS,
  APACHE_ERROR_RULES,
  HAPROXY_HELPERS,
  HAPROXY_RULES,
  KUBERNETES_RULES,
  NGINX_ERROR_HELPERS,
  NGINX_ERROR_RULES,
  POSTGRESQL_HELPERS,
  POSTGRESQL_RULES,
  PYTHON_RULES,
} from './extension-presets.ts';

/** Default sources and target of an extension of a kind. */
export interface ExtensionPlaces {
  /** Empty: they have to be told. */
  sources: readonly string[];
  target?: string;
}

const MESSAGE = ['message'];
const AGENT_DETAILS = 'custom.http.useragent_details';
const REQUEST_DETAILS = 'custom.http.request_details';

/** The places of each kind. Source: INTERFACE.md 1.3 and 11. */
export const EXTENSION_PLACES: Readonly<Record<ExtensionKind, ExtensionPlaces>> = {
  json: { sources: MESSAGE },
  keyvalue: { sources: MESSAGE },
  access_log: { sources: MESSAGE },
  grok: { sources: MESSAGE },
  url: { sources: ['custom.http.request'], target: REQUEST_DETAILS },
  user_agent: { sources: ['custom.http.useragent'], target: AGENT_DETAILS },
  query_string: {
    sources: ['custom.http.query_string', 'custom.query_string'],
    target: `${REQUEST_DETAILS}.queryString`,
  },
  severity: {
    sources: [
      'custom.severity',
      'custom.level',
      'custom.levelname',
      'custom.level_name',
      'custom.Level',
      'custom.@l',
      'custom.PRIORITY',
    ],
    target: 'syslog.severity',
  },
  date: { sources: [] },
  attribute: { sources: [] },
};

/** Where applications put what they say, instead of `message`. */
const TEXT_SOURCES = ['msg', 'MESSAGE', '@m', '@mt', 'short_message', 'event'];
/** Attributes in which programs put the date, besides those that are recognised anyway. */
const DATE_SOURCES = ['time', '@t', '__REALTIME_TIMESTAMP', 'ts', 'timeMillis', 'asctime'];

/** Events that Docker's own log files hold. */
const DOCKER_FILTER = 'log:* stream:(stdout OR stderr)';

/**
 * The extensions that a service has from its first start on, all off, in the order in which they run: one that unwraps
 * a message comes before those that read it, one that finds a part before those that read the part.
 */
export function defaultExtensions(): ExtensionDefinition[] {
  return [
    {
      ...common('docker', 'Docker', 'Makes the log of a line of json-file the message'),
      ...{ kind: 'attribute', sources: ['custom.log'], target: 'message', keeps: false },
      filter: DOCKER_FILTER,
    },
    {
      ...common('docker_date', 'Docker date', 'Makes the time of a line of json-file the date'),
      ...{ kind: 'date', sources: ['custom.time'], formats: [], timezone: 'UTC' },
      filter: 'stream:(stdout OR stderr)',
    },
    grok('kubernetes', 'Kubernetes', 'Log files of containers (CRI)', KUBERNETES_RULES, ''),
    plain(
      'access_log',
      'access_log',
      'Access log',
      'Apache and nginx, common and combined format, extra parts behind it too',
    ),
    grok(
      ...(['nginx_error', 'nginx errors', 'The error log of nginx'] as const),
      ...([NGINX_ERROR_RULES, NGINX_ERROR_HELPERS] as const),
    ),
    grok(
      ...(['apache_error', 'Apache errors', 'The error log of Apache'] as const),
      ...([APACHE_ERROR_RULES, APACHE_ERROR_HELPERS] as const),
    ),
    grok('haproxy', 'HAProxy', 'HTTP, TCP and error log', HAPROXY_RULES, HAPROXY_HELPERS),
    grok(
      ...(['postgresql', 'PostgreSQL', 'Lines of its log'] as const),
      ...([POSTGRESQL_RULES, POSTGRESQL_HELPERS] as const),
    ),
    grok('python', 'Python', 'Lines of Python’s logging', PYTHON_RULES, ''),
    plain('json', 'embedded_json', 'Embedded JSON', 'Reads the JSON object in a message'),
    plain('keyvalue', 'key_value', 'Key=value', 'Reads the pairs name=value in a message'),
    {
      ...common('message_from', 'Message', 'Finds the message of pino, slog, structlog, journald'),
      ...{ kind: 'attribute', sources: TEXT_SOURCES.map(inCustom) },
      ...{ target: 'message', keeps: false, filter: '-message:* OR message:\\{*' },
    },
    {
      ...common('date_from', 'Date', 'Finds the date of pino, slog, Serilog, journald'),
      ...{ kind: 'date', sources: DATE_SOURCES.map(inCustom), formats: [], timezone: 'UTC' },
      filter: '-timestamp:* -date:* -custom.@timestamp:*',
    },
    plain('url', 'url', 'URL', 'Takes the requested URL apart'),
    plain('user_agent', 'user_agent', 'User agent', 'Tells browser, system and device'),
    plain('query_string', 'query_string', 'Query string', 'Reads the parameters of a query string'),
    plain('severity', 'severity', 'Severity', 'Maps the names of levels to 0 (emergency) to 7'),
  ];
}

function inCustom(name: string): string {
  return `custom.${name}`;
}

function common(id: string, name: string, description: string) {
  return { id, name, description, enabled: false, filter: '' };
}

function plain(
  kind: PlainExtensionKind,
  id: string,
  name: string,
  description: string,
): ExtensionDefinition {
  return { ...common(id, name, description), kind, ...EXTENSION_PLACES[kind] };
}

function grok(
  id: string,
  name: string,
  description: string,
  rules: string,
  helperRules: string,
): ExtensionDefinition {
  const places = EXTENSION_PLACES.grok;
  return { ...common(id, name, description), kind: 'grok', ...places, rules, helperRules };
}
