import type { Maker, Source } from './content.ts';
import type { Ledger, Stretch } from './ledger.ts';

/** Faults are counted all and told in words up to this number of each sort. */
const TOLD_MAX = 5;

/** Sorts of faults. */
export type FaultSort =
  | 'lost'
  | 'twice'
  | 'changed'
  | 'disordered'
  | 'unsent'
  | 'partial'
  | 'service';

/** Faults of a soak, counted by sort. */
export class Faults {
  readonly counts = new Map<FaultSort, number>();
  readonly told: string[] = [];

  add(sort: FaultSort, text: string): void {
    const count = (this.counts.get(sort) ?? 0) + 1;
    this.counts.set(sort, count);
    if (count <= TOLD_MAX) this.told.push(`${sort}: ${text}`);
  }

  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  toString(): string {
    if (this.total === 0) return 'no faults';
    return [...this.counts].map(([sort, count]) => `${count} ${sort}`).join(', ');
  }
}

/** A source with what it has sent. */
export interface Sent {
  source: Source;
  ledger: Ledger;
}

/** The event that a line of an export is of; undefined when the line is not as it was sent, which is a fault then. */
export function recognise(
  line: string,
  maker: Maker,
  sources: ReadonlyMap<string, Sent>,
  faults: Faults,
): { sent: Sent; number: number; date: string } | undefined {
  const head = HEAD.exec(line.slice(0, HEAD_BYTES_MAX));
  if (head === null) {
    const sort =
      line.startsWith('{"damaged"') || line.startsWith('{"bound"') ? 'partial' : 'changed';
    faults.add(sort, `no event that was sent: ${line.slice(0, 200)}`);
    return undefined;
  }
  const [whole, date, name, digits] = head;
  const sent = sources.get(name);
  const number = Number(digits);
  if (sent === undefined || number >= sent.ledger.sent) {
    faults.add('unsent', `${name} ${number} was never sent`);
    return undefined;
  }
  const made = maker.make(sent.source, number);
  const start = whole.indexOf('"event":') + '"event":'.length;
  if (line.slice(start, -1) !== made.stored || date !== made.date) {
    faults.add('changed', `${name} ${number}: ${difference(line.slice(start, -1), made.stored)}`);
    return undefined;
  }
  return { sent, number, date };
}

const HEAD =
  /^\{"id":"[\w-]+","date":"([^"]+)","event":\{"custom":\{"timestamp":-?\d+,"source":"([\w-]+)","number":(\d+)/;
const HEAD_BYTES_MAX = 400;

function difference(is: string, was: string): string {
  let at = 0;
  while (at < is.length && is[at] === was[at]) at++;
  const part = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 20), at + 40));
  return `at ${at} of ${was.length}: ${part(was)} came back as ${part(is)}`;
}

/** A judge's knowledge of a source: which numbers came, and the last one of the date it is at. */
interface Seen {
  numbers: Uint8Array;
  date: string;
  last: number;
}

/**
 * Judges a whole export, oldest first: every acknowledged event is there, once, as it was sent; none is that was
 * refused or never sent; a request without an answer is there whole or not at all; events of a source with equal dates
 * come in the order in which they were sent.
 */
export class Judge {
  readonly #maker: Maker;
  readonly #sources: ReadonlyMap<string, Sent>;
  readonly #faults: Faults;
  readonly #seen = new Map<string, Seen>();
  #date = '';
  /** Events that were read so far. */
  count = 0;

  constructor(maker: Maker, sources: ReadonlyMap<string, Sent>, faults: Faults) {
    this.#maker = maker;
    this.#sources = sources;
    this.#faults = faults;
    for (const [name, { ledger }] of sources)
      this.#seen.set(name, { numbers: new Uint8Array(ledger.sent), date: '', last: -1 });
  }

  /** Takes a line of the export. */
  take(line: string): void {
    const found = recognise(line, this.#maker, this.#sources, this.#faults);
    if (found === undefined) return;
    this.count++;
    const { date, number } = found;
    const { name } = found.sent.source;
    const seen = this.#seen.get(name);
    if (seen === undefined) throw new Error('a judge knows all sources');
    if (seen.numbers[number]++ > 0) this.#faults.add('twice', `${name} ${number}`);
    if (date < this.#date)
      this.#faults.add('disordered', `${name} ${number} of ${date} is behind ${this.#date}`);
    else if (date === seen.date && number < seen.last)
      this.#faults.add('disordered', `${name} ${number} is behind ${seen.last}, both of ${date}`);
    this.#date = date;
    seen.date = date;
    seen.last = number;
  }

  /** Ends the export. */
  finish(): void {
    for (const [name, { ledger }] of this.#sources) {
      const numbers = this.#seen.get(name)?.numbers ?? new Uint8Array(0);
      const isThere = (number: number): boolean => numbers[number] > 0;
      const open = new Uint8Array(ledger.sent);
      for (const { first, count } of [...ledger.unknown, ...ledger.refused])
        open.fill(1, first, first + count);
      for (let number = 0; number < ledger.sent; number++)
        if (open[number] === 0 && !isThere(number)) this.#faults.add('lost', `${name} ${number}`);
      for (const { first, count } of ledger.refused)
        if (present(first, count, isThere) > 0)
          this.#faults.add('unsent', `${name} ${first} was refused, and is there`);
      for (const stretch of ledger.unknown) this.#judgeWhole(name, stretch, isThere);
    }
  }

  #judgeWhole(name: string, stretch: Stretch, isThere: (number: number) => boolean): void {
    const there = present(stretch.first, stretch.count, isThere);
    if (stretch.whole && there > 0 && there < stretch.count)
      this.#faults.add(
        'lost',
        `${there} of ${stretch.count} of the request of ${name} ${stretch.first}`,
      );
  }
}

function present(first: number, count: number, isThere: (number: number) => boolean): number {
  let there = 0;
  for (let number = first; number < first + count; number++) if (isThere(number)) there++;
  return there;
}
