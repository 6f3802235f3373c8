import fc from 'fast-check';
import t from 'tap';
import { Decoding, RECEIVED_MS } from '../support/decoding.ts';
import { seedOf } from '../support/seed.ts';

seedOf(t);

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const ZONES: [string, number][] = [
  ['UTC', 0],
  ['EST', -300],
  ['CEST', 120],
  ['JST', 540],
];

const characters = (from: string): fc.Arbitrary<string> => fc.constantFrom(...from);

/** Parts that a line is written from. `prefix` and `zone` are of devices, whose dates end with a colon. */
const parts = fc.record({
  prival: fc.nat(191),
  date: fc.date({ min: new Date('1971-01-01'), max: new Date('2099-01-01'), noInvalidDate: true }),
  digits: fc.constantFrom(0, 1, 3, 6),
  year: fc.constantFrom('nearest', 'behind the day', 'first', 'last'),
  device: fc.option(
    fc.record({
      sequence: fc.option(fc.nat(99_999), { nil: undefined }),
      mark: fc.constantFrom('', '*', '.'),
      zone: fc.option(fc.constantFrom(...ZONES), { nil: undefined }),
    }),
    { nil: undefined },
  ),
  host: fc.string({ unit: characters('abcXYZ09.-_'), minLength: 2, maxLength: 9 }),
  tag: fc.string({ unit: characters('abcXYZ09.-_/%'), minLength: 1, maxLength: 9 }),
  pid: fc.option(fc.nat(99_999), { nil: undefined }),
  text: fc.string({ unit: characters('ab 09.:([{<é'), maxLength: 12 }),
});

type Parts = typeof parts extends fc.Arbitrary<infer T> ? T : never;

/** Date text of the parts, and the instant and the ISO 8601 text that it means. */
function dateOf({ date, digits, year, device }: Parts): { text: string; ms: number; iso: string } {
  // In the nearest year a date is at most half a year away.
  const near = RECEIVED_MS + ((date.getTime() % 15e9) - 7e9);
  const day = new Date(year === 'nearest' ? near : date.getTime());
  const fraction = day.toISOString().slice(20, 23).padEnd(6, '0').slice(0, digits);
  const time = day.toISOString().slice(11, 19) + (digits === 0 ? '' : `.${fraction}`);
  const monthDay = `${MONTHS[day.getUTCMonth()]} ${String(day.getUTCDate()).padStart(2, ' ')}`;
  const yyyy = day.getUTCFullYear();
  const texts = new Map([
    ['nearest', `${monthDay} ${time}`],
    ['behind the day', `${monthDay} ${yyyy} ${time}`],
    ['first', `${yyyy} ${monthDay} ${time}`],
    ['last', `${monthDay} ${time} ${yyyy}`],
  ]);
  const zone = device?.zone ?? (['UTC', 0] as const);
  const minutes = Math.abs(zone[1]);
  const offset = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
  const iso = `${day.toISOString().slice(0, 10)}T${time}${zone[1] === 0 ? 'Z' : (zone[1] < 0 ? '-' : '+') + offset}`;
  return { text: texts.get(year) ?? '', ms: Date.parse(iso), iso };
}

function lineOf(its: Parts, date: string): string {
  const { prival, device, host, tag, pid, text } = its;
  const program = pid === undefined ? `${tag}:` : `${tag}[${pid}]:`;
  if (device === undefined) return `<${prival}>${date} ${host} ${program} ${text}`;
  const { sequence, mark, zone } = device;
  const origin = sequence === undefined ? '' : `${sequence}: ${host}: `;
  const behind = zone === undefined ? ':' : ` ${zone[0]}:`;
  return `<${prival}>${origin}${mark}${date}${behind} ${program} ${text}`;
}

t.test('a line that was written from parts comes back as these parts', async () => {
  const decoding = new Decoding();
  fc.assert(
    fc.property(parts, (its) => {
      const { prival, device, host, tag, pid } = its;
      const date = dateOf(its);
      const line = lineOf(its, date.text);
      const text = its.text.replace(/^ +/, '');
      const hasHost = device === undefined || device.sequence !== undefined;
      const want = {
        custom: {},
        syslog: {
          prival,
          severity: prival % 8,
          facility: Math.floor(prival / 8),
          ...(device?.sequence === undefined ? {} : { sequence: device.sequence }),
          timestamp: date.iso,
          ...(hasHost ? { hostname: host } : {}),
          appname: tag,
          ...(pid === undefined ? {} : { procid: String(pid) }),
        },
        ...(text === '' ? {} : { message: text }),
      };
      const [event] = decoding.lines(line);
      if (event !== JSON.stringify(want)) throw new Error(`${line}\n${event}`);
      const [found] = decoding.dates();
      if (Date.parse(found) !== date.ms) throw new Error(`${line} is at ${found}`);
    }),
    { numRuns: 3000 },
  );
});

t.test('no cut of a line loses its text', async (t) => {
  const decoding = new Decoding();
  const line = '<189>42: router1: *Mar  1 2026 18:46:11.123 EST: %SYS-5-CONFIG_I: Configured';
  for (let end = 1; end <= line.length; end++) {
    const cut = line.slice(0, end);
    const { syslog, message } = JSON.parse(decoding.line(cut)[0] ?? '');
    t.ok(syslog === undefined ? message === cut : cut.endsWith(message ?? ''), cut);
  }
});
