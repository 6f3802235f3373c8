/** The tags of the tagset by which events are coloured, the worst first. */
export const STATUS_NAMES: Readonly<Record<string, { name: string; short: string }>> = {
  critical: { name: 'Critical', short: 'CRIT' },
  error: { name: 'Error', short: 'ERR' },
  warn: { name: 'Warning', short: 'WARN' },
  info: { name: 'Info', short: 'INFO' },
  ok: { name: 'OK', short: 'OK' },
};

/** Their ids. */
export const STATUS_IDS = Object.keys(STATUS_NAMES);
