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
