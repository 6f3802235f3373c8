/** Where events of the demonstration come from; each has a write key of its own. */
export const SOURCES = ['web', 'shop', 'system', 'cluster'] as const;
/** One of `SOURCES`. */
export type Source = (typeof SOURCES)[number];

/** An event as it is sent: JSON text, or a syslog line of `system`. */
export interface DemoEvent {
  source: Source;
  timeMs: number;
  text: string;
}

/** An event of JSON, whose date stands first. */
export function jsonEvent(source: Source, timeMs: number, content: object): DemoEvent {
  const text = JSON.stringify({ timestamp: new Date(timeMs).toISOString(), ...content });
  return { source, timeMs, text };
}

/** A line of RFC 5424. `facility` 3 are daemons, 10 is security. */
export function syslogEvent(
  timeMs: number,
  { facility = 3, severity, host, program, text }: SyslogFacts,
): DemoEvent {
  const head = `<${8 * facility + severity}>1 ${new Date(timeMs).toISOString()} ${host} ${program}`;
  return { source: 'system', timeMs, text: `${head} - - - ${text}` };
}

/** Parts of a line of syslog. */
export interface SyslogFacts {
  facility?: number;
  severity: number;
  host: string;
  program: string;
  text: string;
}
