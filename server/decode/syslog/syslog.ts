import { BLANK, GREATER, LESS } from '../../../engine/base/ascii.ts';
import { assert } from '../../../engine/base/assert.ts';
import { Kind } from '../../../engine/column/kind.ts';
import { PATH_CUSTOM, PATH_MESSAGE, PATH_SYSLOG } from '../../../engine/column/path.ts';
import type { Rows } from '../../../engine/column/rows.ts';
import type { AddedAttribute } from '../added.ts';
import type { KeyTable } from '../key.ts';
import { PairScanner } from '../keyvalue.ts';
import type { LeafReader } from '../leaf.ts';
import type { Member, PlainText } from '../member.ts';
import { BROKEN, type ObjectReader } from '../object.ts';
import { Note, Pairs, unescapePair } from '../pairs.ts';
import { CLOSE_BRACKET, latin1, QUOTE, ZERO } from '../text.ts';
import { nextObject, OBJECTS_TRIED_MAX, type TextAround, textAround } from '../text-object.ts';
import type { EventTree } from '../tree.ts';
import { scanRfc3164 } from './rfc3164.ts';
import { scanRfc5424 } from './rfc5424.ts';
import { NUMBER_PART_MAX, PART_NAMES, Part, SyslogHeader } from './syslog-header.ts';

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const NO_TEXT = new Uint8Array(0);
const PRIVAL_DIGITS_MAX = 3;
const PRIVAL_MAX = 191;
/**
 * Reads lines with a syslog header (RFC 5424, RFC 3164) as events: the header's parts and its structured data as
 * attributes of `syslog`, the text behind it as the message, and from that text the members of a JSON object, or else
 * its pairs `name=value`. The line is scanned once into offsets; these go straight into the rows or, where names
 * repeat or collide or limits are reached, into the tree. Source: INTERFACE.md 1.2.
 */
export class SyslogReader {
  /** Path of each part of a header. */
  readonly paths: Uint32Array;
  /** Pairs of the text of the last line. */
  readonly pairs = new Pairs();
  /** Set when the last line had no JSON object, and went straight into the rows. */
  isFlat = false;
  readonly #rows: Rows;
  readonly #keys: KeyTable;
  readonly #leaves: LeafReader;
  readonly #objects: ObjectReader;
  readonly #tree: EventTree;
  readonly #header = new SyslogHeader();
  readonly #scanner = new PairScanner();
  /** The last value of a pair, as `start` and `length` of a row entry. */
  #valueStart = 0;
  #valueLength = 0;

  constructor(
    rows: Rows,
    keys: KeyTable,
    leaves: LeafReader,
    objects: ObjectReader,
    tree: EventTree,
  ) {
    this.#rows = rows;
    this.#keys = keys;
    this.#leaves = leaves;
    this.#objects = objects;
    this.#tree = tree;
    this.paths = Uint32Array.from(PART_NAMES, (name) => {
      const path = keys.child(PATH_SYSLOG, Buffer.from(name), 0, name.length);
      assert(path >= 0, 'there is a path for each part of a header');
      return path;
    });
  }

  /** Structured data of the last line. */
  get elements(): Pairs {
    return this.#header.elements;
  }

  /**
   * Adds the leaves of the line, which begins at `at` and ends where the leaf reader does, and of the enrichment to the
   * row that is being written. False, and then nothing is added, when it has no syslog header.
   */
  read(at: number, added: readonly AddedAttribute[]): boolean {
    const { bytes, end, inSide } = this.#leaves;
    this.isFlat = false;
    this.#header.begin(inSide);
    const behind = this.#scanHeader(bytes, at, end);
    if (behind < 0) return false;
    this.#deriveParts(bytes);
    const text = textStart(bytes, behind, end);
    let object = nextObject(bytes, text, text, end);
    for (let tried = 0; object >= 0 && tried < OBJECTS_TRIED_MAX; tried++) {
      if (this.#readObject(text, object, added)) return true;
      // What is in an object that is broken is none of its own.
      object = nextObject(bytes, text, Math.max(object + 1, this.#leaves.errorAt), end);
    }
    this.pairs.count = 0;
    this.#scanner.scan(bytes, text, end, this.pairs);
    this.isFlat =
      this.#addHeader() && this.#addMessage(text) && this.#addPairs() && this.#isDone(added);
    if (this.isFlat) return true;
    this.#rows.dropRow();
    this.#beginTree();
    this.#placeMessage(text);
    this.#placePairs();
    this.#writeTree(added);
    return true;
  }

  /** Offset behind the header at `start`, -1 when there is none. */
  #scanHeader(bytes: Uint8Array, start: number, end: number): number {
    const nowMs = this.#rows.receivedMs;
    if (bytes[start] !== LESS) return scanRfc3164(bytes, start, end, this.#header, nowMs);
    let at = start + 1;
    let prival = 0;
    while (at < end && at - start <= PRIVAL_DIGITS_MAX) {
      const digit = bytes[at] - ZERO;
      if (digit < 0 || digit > 9) break;
      prival = prival * 10 + digit;
      at++;
    }
    if (at === start + 1 || at === end || bytes[at] !== GREATER || prival > PRIVAL_MAX) return -1;
    if (bytes[start + 1] === ZERO && at > start + 2) return -1;
    this.#header.prival = prival;
    this.#header.set(Part.PRIVAL, start + 1, at);
    const behind = scanRfc5424(bytes, at + 1, end, this.#header);
    return behind >= 0 ? behind : this.#scanOld(bytes, at, end);
  }

  /**
   * Scans as `#scanHeader` does, for the older form, behind the PRI that ends at `at`. Without a date everything
   * behind the PRI is text.
   */
  #scanOld(bytes: Uint8Array, at: number, end: number): number {
    const header = this.#header;
    header.dropParts(Part.VERSION);
    const behind = scanRfc3164(bytes, at + 1, end, header, this.#rows.receivedMs);
    if (behind >= 0 || at + 1 === end) return behind;
    header.dropParts(Part.VERSION);
    return at + 1;
  }

  /** Makes the parts that do not stand in the line, in the side buffer. */
  #deriveParts(bytes: Uint8Array): void {
    const header = this.#header;
    const { prival, date, hasDate } = header;
    if (prival >= 0) {
      this.#setNumber(Part.SEVERITY, prival & 7);
      this.#setNumber(Part.FACILITY, prival >> 3);
    }
    if (!hasDate) return;
    const rows = this.#rows;
    const length = date.isoBytes;
    const at = rows.reserveSide(length);
    date.writeIso(bytes, rows.side, at);
    header.start[Part.TIMESTAMP] = ~at;
    header.length[Part.TIMESTAMP] = length;
  }

  /** Gives a part the text of a number of one or two digits. */
  #setNumber(part: Part, value: number): void {
    const rows = this.#rows;
    const length = value < 10 ? 1 : 2;
    const at = rows.reserveSide(length);
    if (length === 2) rows.side[at] = ZERO + Math.floor(value / 10);
    rows.side[at + length - 1] = ZERO + (value % 10);
    this.#header.start[part] = ~at;
    this.#header.length[part] = length;
  }

  /**
   * Adds the event whose text, which begins at `text`, has the JSON object at `object`; false, and then nothing, when
   * it is none.
   */
  #readObject(text: number, object: number, added: readonly AddedAttribute[]): boolean {
    const { bytes, end } = this.#leaves;
    const rows = this.#rows;
    if (this.#addHeader()) {
      const behind = this.#objects.readText(object);
      if (behind === BROKEN) {
        rows.dropRow();
        return false;
      }
      if (behind >= 0) {
        const around = textAround(bytes, text, end, object, behind);
        if (this.#addAround(text, around) && this.#isDone(added)) return true;
      }
    }
    rows.dropRow();
    this.#beginTree();
    const behind = this.#tree.readMore(object);
    if (behind < 0) return false;
    const around = textAround(bytes, text, end, object, behind);
    const hasMessage = this.#tree.hasMessage;
    if (!hasMessage && around === undefined) this.#placeMessage(text);
    if (!hasMessage && around !== undefined) {
      const { start, length } = around.join(rows, NO_TEXT);
      this.#tree.placeMessage(start, length);
    }
    this.#writeTree(added);
    if (hasMessage) around?.joinMessage(rows);
    return true;
  }

  /** Makes the message of what stands around an object and the object's own; the whole text when there is neither. */
  #addAround(text: number, around: TextAround | undefined): boolean {
    if (around === undefined) return this.#addMessage(text);
    const rows = this.#rows;
    if (this.#objects.isUsed(PATH_MESSAGE)) {
      around.joinMessage(rows);
      return true;
    }
    if (!this.#objects.claim(PATH_MESSAGE)) return false;
    const { start, length } = around.join(rows, NO_TEXT);
    rows.add(PATH_MESSAGE, Kind.STRING, start, length, 0, 0);
    return true;
  }

  /** Begins an event with the header's parts; false when that is for the tree. */
  #addHeader(): boolean {
    const header = this.#header;
    this.#leaves.beginEvent();
    this.#objects.begin();
    for (let part = 0; part < PART_NAMES.length; part++) {
      const length = header.length[part];
      if (length < 0) continue;
      const path = this.paths[part];
      if (!this.#objects.claim(path)) return false;
      this.#leaves.addPlain(path, header.start[part], length, part <= NUMBER_PART_MAX);
    }
    return header.elements.count === 0 || this.#addElements();
  }

  #addElements(): boolean {
    const { bytes } = this.#leaves;
    const { elements } = this.#header;
    let container = PATH_SYSLOG as number;
    for (let place = 0; place < elements.count; place++) {
      const start = elements.nameStart[place];
      const end = elements.nameEnd[place];
      if (elements.note[place] !== Note.ELEMENT) {
        if (!this.#addPair(container, elements, place, CLOSE_BRACKET)) return false;
        continue;
      }
      // The name of an element is one name, whatever dots its owner's number has.
      container = this.#keys.child(PATH_SYSLOG, bytes, start, end);
      if (container < 0) return false;
      if (isEmptyElement(elements, place)) {
        if (!this.#objects.claim(container)) return false;
        this.#rows.add(container, Kind.OBJECT, 0, 0, 0, 0);
      }
    }
    return true;
  }

  #addPairs(): boolean {
    const { pairs } = this;
    for (let place = 0; place < pairs.count; place++) {
      if (!this.#addPair(PATH_CUSTOM, pairs, place, QUOTE)) return false;
    }
    return true;
  }

  /** Adds a pair as an attribute of the object at `container`; false when that is for the tree. */
  #addPair(container: number, pairs: Pairs, place: number, escaped: number): boolean {
    const { bytes } = this.#leaves;
    const start = pairs.nameStart[place];
    const end = pairs.nameEnd[place];
    const key = this.#keys.find(container, bytes, start, end);
    const path = key >= 0 ? this.#keys.path[key] : this.#keys.resolve(container, bytes, start, end);
    if (path < 0 || (container === PATH_CUSTOM && this.#objects.isOfHeader(path))) return false;
    if (!this.#objects.claim(path)) return false;
    this.#takeValue(pairs, place, escaped);
    const mayBeNumber = pairs.note[place] === Note.PLAIN;
    this.#leaves.addPlain(path, this.#valueStart, this.#valueLength, mayBeNumber);
    return true;
  }

  /** Makes the text from `text` on the message, unless the event has one or the text is empty. */
  #addMessage(text: number): boolean {
    const { end, inSide } = this.#leaves;
    if (text === end || this.#objects.isUsed(PATH_MESSAGE)) return true;
    if (!this.#objects.claim(PATH_MESSAGE)) return false;
    this.#rows.add(PATH_MESSAGE, Kind.STRING, inSide ? ~text : text, end - text, 0, 0);
    return true;
  }

  /** Adds the enrichment; false when the event is for the tree. */
  #isDone(added: readonly AddedAttribute[]): boolean {
    return !this.#objects.isWide() && this.#objects.enrich(added);
  }

  #beginTree(): void {
    const { bytes } = this.#leaves;
    const { start, length, elements } = this.#header;
    const tree = this.#tree;
    tree.begin();
    for (const [part, name] of PART_NAMES.entries()) {
      if (length[part] < 0) continue;
      const plain: PlainText = {
        start: start[part],
        length: length[part],
        mayBeNumber: part <= NUMBER_PART_MAX,
      };
      tree.placeSyslog(name, plain);
    }
    for (let place = 0; place < elements.count; ) {
      const name = latin1(bytes, elements.nameStart[place], elements.nameEnd[place]);
      const members: Member[] = [];
      while (++place < elements.count && elements.note[place] !== Note.ELEMENT) {
        members.push(this.#member(elements, place, CLOSE_BRACKET));
      }
      tree.placeElement(name, members);
    }
  }

  /** Makes the text from `text` on the message of the tree's event, unless it is empty. */
  #placeMessage(text: number): void {
    const { end, inSide } = this.#leaves;
    if (text < end) this.#tree.placeMessage(inSide ? ~text : text, end - text);
  }

  #placePairs(): void {
    const { pairs } = this;
    for (let place = 0; place < pairs.count; place++) {
      this.#tree.placePair(this.#member(pairs, place, QUOTE));
    }
  }

  #writeTree(added: readonly AddedAttribute[]): void {
    this.#leaves.beginEvent();
    this.#tree.enrich(added);
    this.#tree.write();
  }

  /** A pair as a member of an object. */
  #member(pairs: Pairs, place: number, escaped: number): Member {
    const name = latin1(this.#leaves.bytes, pairs.nameStart[place], pairs.nameEnd[place]);
    this.#takeValue(pairs, place, escaped);
    const mayBeNumber = pairs.note[place] === Note.PLAIN;
    const plain = { start: this.#valueStart, length: this.#valueLength, mayBeNumber };
    return { name, start: 0, end: 0, isObject: false, members: undefined, plain };
  }

  /** Finds the value of a pair; where a backslash stands before a quote, a backslash or `escaped`, it is left out. */
  #takeValue(pairs: Pairs, place: number, escaped: number): void {
    const { bytes, inSide } = this.#leaves;
    const start = pairs.valueStart[place];
    const end = pairs.valueEnd[place];
    if (pairs.note[place] !== Note.ESCAPED) {
      this.#valueStart = inSide ? ~start : start;
      this.#valueLength = end - start;
      return;
    }
    const rows = this.#rows;
    const to = rows.reserveSide(end - start);
    rows.sideBytes = unescapePair(bytes, start, end, rows.side, to, escaped);
    this.#valueStart = ~to;
    this.#valueLength = rows.sideBytes - to;
  }
}

function isEmptyElement(elements: Pairs, place: number): boolean {
  return place + 1 === elements.count || elements.note[place + 1] === Note.ELEMENT;
}

/** Offset of the text behind a header: blanks and a byte order mark are left out. */
function textStart(bytes: Uint8Array, behind: number, end: number): number {
  let at = skipSpaces(bytes, behind, end);
  const hasMark = BYTE_ORDER_MARK.every((byte, index) => bytes[at + index] === byte);
  if (hasMark && at + BYTE_ORDER_MARK.length <= end) {
    at = skipSpaces(bytes, at + BYTE_ORDER_MARK.length, end);
  }
  return at;
}

function skipSpaces(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] === BLANK) at++;
  return at;
}
