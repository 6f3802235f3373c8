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

/**
 * Definitions of a fresh service: the event count, a field for each syslog attribute, and a group of them. The
 * fields' ids are their paths, so that no name of the search bar changes its meaning. Source: INTERFACE.md 2.4.
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
  ];
}
