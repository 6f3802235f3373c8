import { BLANK, DELETE } from '../../../engine/base/ascii.ts';
import { Pairs } from '../pairs.ts';
import { BsdDate } from './bsd-date.ts';

/** Parts of a syslog header, in the order in which they become attributes of `syslog`. */
export const Part = {
  PRIVAL: 0,
  SEVERITY: 1,
  FACILITY: 2,
  VERSION: 3,
  /** The number that devices give to their lines. */
  SEQUENCE: 4,
  TIMESTAMP: 5,
  HOSTNAME: 6,
  APPNAME: 7,
  PROCID: 8,
  MSGID: 9,
} as const;

/** One of the values of `Part`. */
export type Part = (typeof Part)[keyof typeof Part];

/** The attributes that the parts become. Source: INTERFACE.md 1.2. */
export const PART_NAMES: readonly string[] = [
  'prival',
  'severity',
  'facility',
  'version',
  'sequence',
  'timestamp',
  'hostname',
  'appname',
  'procid',
  'msgid',
];

/** Parts up to this one are numbers. */
export const NUMBER_PART_MAX: Part = Part.SEQUENCE;

/** Parts of a syslog header. A reader has one and uses it again for each line. */
export class SyslogHeader {
  /** Text of each part as `start` and `length` of a row entry; a length of -1 when the line has no such part. */
  readonly start = new Int32Array(PART_NAMES.length);
  readonly length = new Int32Array(PART_NAMES.length);
  /** The number behind PRIVAL; -1 when there is none. */
  prival = -1;
  /** A date that is to become the TIMESTAMP, when the line `hasDate` of that kind. */
  readonly date = new BsdDate();
  hasDate = false;
  /** Structured data. */
  readonly elements = new Pairs();
  #inSide = false;

  /** Begins a line that lies in the rows' source or, `inSide`, in their side buffer. */
  begin(inSide: boolean): void {
    this.length.fill(-1);
    this.prival = -1;
    this.hasDate = false;
    this.elements.count = 0;
    this.#inSide = inSide;
  }

  /** Is set when a colon ends the date. */
  get isDateClosed(): boolean {
    return this.hasDate && this.date.isClosed;
  }

  /** Forgets what was found of the part `first` and those behind it. */
  dropParts(first: Part): void {
    this.length.fill(-1, first);
    this.hasDate = false;
    this.elements.count = 0;
  }

  /** Gives a part its text `[start, end)` of the line. */
  set(part: Part, start: number, end: number): void {
    this.start[part] = this.#inSide ? ~start : start;
    this.length[part] = end - start;
  }
}

/** Offset of the first byte from `start` on that no part of a header may have: a blank or a control byte. */
export function tokenEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] > BLANK && bytes[at] !== DELETE) at++;
  return at;
}
