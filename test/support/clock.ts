import { parseZone, type Zone } from '../../server/language/zone.ts';

/** Zones whose clocks change in odd ways, or not at all. */
export const ZONES = [
  'Europe/Paris',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'America/Sao_Paulo',
];

/** The zone of a name that there is. */
export function zone(name: string): Zone {
  const found = parseZone(name);
  if (found === undefined) throw new Error(`no zone ${name}`);
  return found;
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** The time that clocks of a zone show, by another way through Intl: `2021-03-28 03:00:00`. */
export function clock(name: string, ms: number): string {
  let format = formats.get(name);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: name,
      dateStyle: 'short',
      timeStyle: 'medium',
    });
    formats.set(name, format);
  }
  return format.format(ms);
}
