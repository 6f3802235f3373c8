import type { ExtensionDefinition, ExtensionKind } from './definition.ts';
import type { DefinitionSet } from './definition-set.ts';

/** Definitions that turning an extension on can make; `undefined` when nothing stands ready for it. */
export function definitionSetOf({ id, kind }: ExtensionDefinition): DefinitionSet | undefined {
  return SETS_BY_KIND.get(kind) ?? SETS_BY_ID.get(id);
}

const URL_FIELDS = [
  field('http.request_details.host', 'URL host', 'The host in the URL'),
  field('http.request_details.path', 'URL path', 'The path in the URL'),
];

const SETS_BY_KIND: ReadonlyMap<ExtensionKind, DefinitionSet> = new Map([
  [
    'access_log',
    {
      fields: [
        field('http.request_details.path', 'URL path', 'The path in the URL'),
        field('http.status_code', 'Status code', 'The HTTP status of the answer'),
        field('http.verb', 'Verb', 'The HTTP method'),
        field('network.client_ip', 'Client address', 'Where the request came from'),
        field('http.useragent', 'User agent', 'The program that asked'),
        field('http.referer', 'Referer', 'The page that linked there'),
      ],
      metrics: [
        metric('response_time_avg', 'Average response time', 'http.response_time', 'avg'),
        metric(
          'response_time_pc95',
          '95th percentile of the response time',
          'http.response_time',
          'pc95',
        ),
        metric('received_bytes', 'Received bytes', 'network.bytes_write', 'sum', 'B'),
      ],
      group: group('web_access', 'Web access', 'Requests to web servers'),
    },
  ],
  ['url', { fields: URL_FIELDS, metrics: [], group: group('urls', 'URLs', 'The parts of URLs') }],
  [
    'user_agent',
    {
      fields: [
        field('http.useragent_details.browser.family', 'Browser', 'The browser'),
        field('http.useragent_details.os.family', 'Operating system', 'The system it runs on'),
        field('http.useragent_details.device.family', 'Device', 'The device it runs on'),
      ],
      metrics: [],
      group: group('user_agents', 'User agents', 'Browsers, systems and devices'),
    },
  ],
  [
    'severity',
    {
      fields: [
        {
          ...{ id: 'syslog.severity', name: 'severity', type: 'attribute' },
          description: 'How bad it is, from 0 (emergency) to 7 (debug)',
          attribute: 'syslog.severity',
        },
      ],
      metrics: [],
    },
  ],
]);

const LEVEL = field('level', 'Level', 'How bad it is, as it was written');
const CLIENT = field('network.client_ip', 'Client address', 'Where the request came from');
const STREAM = field('stream', 'Stream', 'stdout or stderr');
const DURATIONS = [
  metric('duration_avg', 'Average duration', 'duration', 'avg', 'ms'),
  metric('duration_pc95', '95th percentile of the duration', 'duration', 'pc95', 'ms'),
];

/** Sets of ready-made extensions. */
const SETS_BY_ID: ReadonlyMap<string, DefinitionSet> = new Map([
  ['docker', { fields: [STREAM], metrics: [] }],
  ['kubernetes', { fields: [STREAM], metrics: [] }],
  [
    'nginx_error',
    {
      fields: [LEVEL, CLIENT, field('http.server_name', 'Server', 'The virtual host')],
      metrics: [],
      group: group('nginx_errors', 'nginx errors', 'What nginx complains about'),
    },
  ],
  [
    'apache_error',
    {
      fields: [
        ...[LEVEL, CLIENT],
        field('logger.name', 'Logger', 'The module that wrote the event'),
        field('error.kind', 'Error', 'The type of error'),
      ],
      metrics: [],
      group: group('apache_errors', 'Apache errors', 'What Apache complains about'),
    },
  ],
  [
    'haproxy',
    {
      fields: [
        field('haproxy.frontend', 'Frontend', 'Where HAProxy took the connection'),
        field('haproxy.backend', 'Backend', 'Where HAProxy handed it on'),
        field('haproxy.server', 'Server', 'The server of the backend'),
        field('haproxy.termination_state', 'Termination', 'How the session ended'),
        field('http.status_code', 'Status code', 'The HTTP status of the answer'),
        field('http.verb', 'Verb', 'The HTTP method'),
        CLIENT,
      ],
      metrics: [
        ...DURATIONS,
        metric('received_bytes', 'Received bytes', 'network.bytes_write', 'sum', 'B'),
      ],
      group: group('haproxy', 'HAProxy', 'Sessions of HAProxy'),
    },
  ],
  [
    'postgresql',
    {
      fields: [
        LEVEL,
        field('db.instance', 'Database', 'The database'),
        field('db.user', 'Database user', 'Who was connected'),
        field('error.code', 'Error code', 'The SQLSTATE of the error'),
      ],
      metrics: DURATIONS,
      group: group('postgresql', 'PostgreSQL', 'Statements and errors of PostgreSQL'),
    },
  ],
]);

/** The id is the attribute's name in the search bar, so that no search changes its meaning. */
function field(id: string, name: string, description: string): DefinitionSet['fields'][number] {
  return { id, name, description, type: 'attribute', attribute: `custom.${id}` };
}

function metric(
  id: string,
  name: string,
  attribute: string,
  aggregation: string,
  unit?: string,
): DefinitionSet['metrics'][number] {
  return {
    ...{ id, name, description: '', type: 'attribute' },
    ...{ attribute: `custom.${attribute}`, aggregation },
    ...(unit === undefined ? {} : { unit }),
  };
}

function group(id: string, name: string, description: string): DefinitionSet['group'] & object {
  return { id, name, description };
}
