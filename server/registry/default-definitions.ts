import { CORE_METRIC_ID, type Definition, type DefinitionKind } from './definition.ts';

const SYSLOG: readonly [name: string, description: string][] = [
  ['appname', 'The program that wrote the event'],
  ['hostname', 'The machine that the event is from'],
  ['severity', 'How bad it is, from 0 (emergency) to 7 (debug)'],
  ['facility', 'The part of the system'],
  ['prival', 'Facility and severity in one number'],
  ['version', 'The version of the syslog protocol'],
  ['timestamp', 'The date that the syslog header tells'],
  ['procid', 'The process'],
  ['msgid', 'The type of message'],
];

/** Attributes in which applications write how bad an event is, as a word or as a number. */
const LEVELS = ['level', 'severity', 'levelname', 'lvl', 'log.level', 'log_level', 'loglevel'];
/** Attributes that have the status of an HTTP answer. */
const HTTP_STATUSES = ['http.status_code', 'status_code', 'status', 'http.response.status_code'];

/** One that an event gets by a word, the number of a level, a severity of syslog or a status of HTTP. */
interface StatusTag {
  id: string;
  name: string;
  color: string;
  words: string;
  /** Levels of pino and bunyan, and of GELF, which has the severities of syslog. */
  levels: string[];
  severities: string;
  statuses?: string;
}

const STATUS_TAGS: readonly StatusTag[] = [
  {
    ...{ id: 'critical', name: 'Critical', color: '#b3115b' },
    ...{
      words: 'crit|critical|fatal|emerg|emergency|alert|panic|dpanic',
      levels: ['60', '[0 TO 2]'],
    },
    severities: '[0 TO 2]',
  },
  {
    ...{ id: 'error', name: 'Error', color: '#c0322a' },
    ...{ words: 'e|err|error|severe|failure', levels: ['50', '3'] },
    ...{ severities: '3', statuses: '[500 TO 599]' },
  },
  {
    ...{ id: 'warn', name: 'Warning', color: '#9a6a00' },
    ...{ words: 'w|warn|warning', levels: ['40', '4'] },
    ...{ severities: '4', statuses: '[400 TO 499]' },
  },
  {
    ...{ id: 'ok', name: 'OK', color: '#2b7a4b' },
    ...{ words: 'ok|success', levels: [], severities: '', statuses: '[200 TO 399]' },
  },
];

/** The search that finds the events of a tag. */
function statusQuery({ words, levels, severities, statuses }: StatusTag): string {
  const terms = LEVELS.flatMap((name) => [
    `${name}:/(?i)(${words})/`,
    ...levels.map((level) => `${name}:${level}`),
  ]);
  if (severities !== '') terms.push(`syslog.severity:${severities}`);
  if (statuses !== undefined) terms.push(...HTTP_STATUSES.map((name) => `${name}:${statuses}`));
  return terms.join(' OR ');
}

/** The tagset by which the console colours events: level, severity and HTTP status as five tags, the worst first. */
function statusTagset(): Definition {
  return {
    ...{ id: 'log_status', name: 'Status', type: 'tagset' },
    description: 'Level, severity and HTTP status in five steps',
    tags: [
      ...STATUS_TAGS.map((tag) => ({
        ...{ id: tag.id, name: tag.name, color: tag.color, query: statusQuery(tag) },
      })),
      { id: 'info', name: 'Info', color: '#2f6db3', query: '*' },
    ],
  };
}

/**
 * Definitions of a fresh service: the event count, a field for each syslog attribute, a group of them, and a tagset of
 * statuses. The fields' ids are their paths, and the tagset's is nobody's attribute, so that no name of the search bar
 * changes its meaning. Source: INTERFACE.md 2.4.
 */
export function defaultDefinitions(): [DefinitionKind, Definition][] {
  const fields: [DefinitionKind, Definition][] = SYSLOG.map(([name, description]) => [
    'fields',
    { id: `syslog.${name}`, name, description, type: 'attribute', attribute: `syslog.${name}` },
  ]);
  return [
    ...fields,
    [
      'metrics',
      {
        id: CORE_METRIC_ID,
        name: 'Count',
        description: 'The number of events',
        type: 'core',
      },
    ],
    [
      'groups',
      {
        id: 'default',
        name: 'Default',
        description: 'What every service has',
        fields: fields.map(([, { id }]) => id),
        metrics: [CORE_METRIC_ID],
      },
    ],
    ['tagsets', statusTagset()],
  ];
}
