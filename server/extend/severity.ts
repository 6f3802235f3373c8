const INFO = 6;

/** Beginnings of names, in lower case, and the levels that they mean. The first one that fits counts. */
const BEGINNINGS: readonly (readonly [string, number])[] = [
  ['emerg', 0],
  ['f', 0],
  ['panic', 0],
  ['a', 1],
  ['c', 2],
  ['err', 3],
  ['w', 4],
  ['n', 5],
  ['i', 6],
  ['d', 7],
  ['trace', 7],
  ['verbose', 7],
  ['silly', 7],
];

/** Levels of 10, 20 and so on to 60. Source: pino and bunyan, "Levels". */
const TENS = [7, 7, 6, 4, 3, 0];

/**
 * The level of syslog, 0 (emergency) to 7 (debug), that a name such as `WARN`, a digit or a number of pino such as `50`
 * means; 6 for any other text, `undefined` for one that is empty or blank. Source: RFC 5424 section 6.2.1.
 */
export function severityOf(text: string): number | undefined {
  // No name needs more, and a long text is not to be copied.
  const name = text.slice(0, 64).trim().toLowerCase();
  if (name === '') return text.trim() === '' ? undefined : INFO;
  if (name.length === 1 && name >= '0' && name <= '7') return Number(name);
  if (/^[1-6]0$/.test(name)) return TENS[Number(name[0]) - 1];
  for (const [beginning, level] of BEGINNINGS) if (name.startsWith(beginning)) return level;
  return INFO;
}
